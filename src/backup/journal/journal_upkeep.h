// The care for the journals of a repository: are they as they were written, which segments may go, which become one.
//
// Threads: all functions may be called at once.  Errors: those of the files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backup/repository/repository.h"
#include "backup/repository/verify_repository.h"

namespace sonde {

// Adds to the report what is damaged: a segment that is not whole, that is not the one its name says, or that is missing between others.
// Without options.reads_data only the heads are read.
absl::Status VerifyJournals(const Repository& repository, const VerifyOptions& options, VerifyReport* report);

struct PrunedSegments {
  uint64_t count = 0;
  uint64_t bytes = 0;
};
// Removes the segments that none of the backups `kept` (ids) needs.  Segments of a journal that no kept backup has, and files that are
// not done, go when they are older than kUnnamedKept.  FAILED_PRECONDITION: another process has the repository's lock.
absl::StatusOr<PrunedSegments> PruneJournals(const Repository& repository,
                                             const std::vector<std::string>& kept, bool is_dry_run);

// So many small segments that follow each other become one, of kMergedBytesMax at most.
constexpr size_t kMergeCount = 60;
constexpr uint64_t kMergedBytesMax = uint64_t{16} << 20;
// Merges the first such run of a journal; returns whether there was one.  The new segment is there before the others go.
absl::StatusOr<bool> MergeSegments(const Repository& repository, std::string_view journal);

}  // namespace sonde
