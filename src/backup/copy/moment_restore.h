// Brings restored files of a backup to a later moment.
//
// Threads: all functions may be called at once.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "backup/journal/journal_chain.h"
#include "backup/repository/repository.h"
#include "journal/replay.h"

namespace sonde {

// Applies the journal behind the backup of `base` up to `to_micros` to its files in `directory`, and reads all files that came.  What it
// has done is on the disk.  Errors: those of RocksEngine::Open and JournalReplay::Run.
absl::StatusOr<ReplayReport> ReplayInto(const Repository& repository, const RestorableRange& base,
                                        const std::string& directory, int64_t to_micros);

}  // namespace sonde
