// What `sonde check` does: opens a data directory, reads every table of it, and compares what it reads with
// the checksums of what was written.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/rocks/rocks_engine.h"

namespace sonde {

struct CheckReport {
  uint64_t tables_count = 0;
  uint64_t bytes = 0;
  std::vector<std::string> damage;  // a line each, with the file's name; none: all is as it was written
};

// What opening finds (a MANIFEST, a log, a file that is missing) is damage, too, and ends it.  Errors: as
// RocksEngine::Open, but for DATA_LOSS; those of the disk.
absl::StatusOr<CheckReport> CheckDirectory(RocksOptions options);

}  // namespace sonde
