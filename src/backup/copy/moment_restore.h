// Brings restored files of a backup to a later moment.
//
// Threads: all functions may be called at once.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "backup/repository/manifest.h"
#include "backup/repository/repository.h"
#include "journal/replay.h"

namespace sonde {

// Applies the journal behind a backup up to `to_micros` to the backup's files in `directory`, and reads all files that came.  `place` is
// the backup's in its journal.  The changes are on the disk when this returns.  A follower may work in the repository meanwhile.
// Errors: those of RocksEngine::Open and JournalReplay::Run.
absl::StatusOr<ReplayReport> ReplayInto(const Repository& repository, const JournalPlace& place,
                                        const std::string& directory, int64_t to_micros);

}  // namespace sonde
