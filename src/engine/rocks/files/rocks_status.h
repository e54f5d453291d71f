// Converts RocksDB's statuses to Sonde's.  No other file does so.
#pragma once

#include <string_view>

#include "absl/status/status.h"
#include "rocksdb/status.h"

namespace sonde {

// `doing` says what RocksDB was asked to do: "writing 3 rows".
absl::Status FromRocks(const rocksdb::Status& status, std::string_view doing);

// Converts the status of a write.  If a file could not be written or synced, it is UNKNOWN: the part of the
// write that is in the log may be there when the directory is opened next, so a caller that tries again may
// apply it twice.
absl::Status FromRocksWrite(const rocksdb::Status& status, std::string_view doing);

}  // namespace sonde
