// The segments of a journal in a repository, and which moments they reach.
//
//   changes/<journal id>/<first>-<last>.log    a segment; positions in 20 digits
//
// Segments that follow each other make a chain: the next one begins at the latest behind the last position of the one before.  They may
// overlap, since several small ones are merged into one, and two followers may write at once; what overlaps is the same.
//
// Threads: all functions may be called at once.  Errors: those of the files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "backup/journal/segment.h"
#include "backup/repository/manifest.h"
#include "backup/repository/repository.h"

namespace sonde {

struct SegmentFile {
  SegmentPlace place;
  std::string path;
  uint64_t bytes = 0;
  absl::Time modified;
};

std::string JournalsPath(const Repository& repository);
std::string JournalPath(const Repository& repository, std::string_view journal);
std::string SegmentName(int64_t first, int64_t last);

// The ids of all journals; none if there is no directory of them.
absl::StatusOr<std::vector<std::string>> ListJournals(const Repository& repository);
// The segments of a journal, by first position, and longer ones in front of shorter ones; none if there is no such journal.
absl::StatusOr<std::vector<SegmentFile>> ListSegments(const Repository& repository, std::string_view journal);
// The paths of segments of a journal that are not done, with their facts.
absl::StatusOr<std::vector<std::pair<std::string, FileFacts>>> ListSegmentParts(const Repository& repository,
                                                                                std::string_view journal);

// A chain that has all positions in (after, through].
struct SegmentChain {
  std::vector<SegmentFile> segments;
  int64_t after = 0;
  int64_t through = 0;                // `after` if there is no segment
  std::optional<int64_t> next_first;  // where segments go on that it cannot reach
};
// The chain behind `after`.  `segments` as ListSegments gives them.
SegmentChain ChainFrom(const std::vector<SegmentFile>& segments, int64_t after);

// The moments that a backup and its journal reach, both inclusive.
struct RestorableRange {
  Manifest manifest;
  absl::Time earliest, latest;
};
// Of a backup that has a journal; nullopt: it has none.
absl::StatusOr<std::optional<RestorableRange>> FindRestorable(const Repository& repository,
                                                              Manifest manifest);
// Returns the newest backup by which the moment is reached.  `only`: the id of the only backup that may be taken; empty: any.
// NOT_FOUND: no backup has a journal.  OUT_OF_RANGE: the moment is before the earliest one, after the latest one, or in a hole; the text
// says which moments can be restored.  DATA_LOSS: a manifest is damaged.
absl::StatusOr<RestorableRange> FindBase(const Repository& repository, absl::Time moment,
                                         std::string_view only);

// RFC 3339 in UTC, to the microsecond.
std::string MomentText(absl::Time moment);

}  // namespace sonde
