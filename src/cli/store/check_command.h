// The work of `sonde check`: it opens a data directory, reads every table in it, and compares checksums with
// those from when the tables were written.
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

// Damage that opening finds (a MANIFEST, a log, a file that is missing) counts, too, and ends the check.
// Errors: as RocksEngine::Open, but for DATA_LOSS; those of the disk.
absl::StatusOr<CheckReport> CheckDirectory(RocksOptions options);

}  // namespace sonde
