// RocksDB's statuses as Sonde's: the only place where they are converted.
#pragma once

#include <string_view>

#include "absl/status/status.h"
#include "rocksdb/status.h"

namespace sonde {

// `doing` says what was asked for: "writing 3 rows".
absl::Status FromRocks(const rocksdb::Status& status, std::string_view doing);

}  // namespace sonde
