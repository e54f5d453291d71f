// RocksDB's statuses as Sonde's: the only place where they are converted.
#pragma once

#include <string_view>

#include "absl/status/status.h"
#include "rocksdb/status.h"

namespace sonde {

// `doing` says what was asked for: "writing 3 rows".
absl::Status FromRocks(const rocksdb::Status& status, std::string_view doing);

// The same of a write: UNKNOWN where a file could not be written or synced, as what of it is in the log may
// be there again when the directory is opened next.  Who tries again then may apply it twice.
absl::Status FromRocksWrite(const rocksdb::Status& status, std::string_view doing);

}  // namespace sonde
