// The data directory around the databases: its lock and its format (docs/formats/data-directory.md).
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rocksdb/env.h"

namespace sonde {

// Makes the directory if it does not exist, takes its lock (one process at a time), and checks that it is
// Sonde's and of a known format.  Writes the format and an empty inventory into a new directory.  Returns the
// format.  Errors as RocksEngine::Open.
absl::StatusOr<int> PrepareDataDirectory(rocksdb::Env* env, const std::string& path,
                                         rocksdb::FileLock** lock);

// The format that this version writes.  From kInventoryFormat on a directory has an inventory; from format 3
// on it has pages.
constexpr int kFormat = 3;
constexpr int kInventoryFormat = 2;

// Notes that the directory is of kFormat now.
absl::Status WriteFormat(rocksdb::Env* env, const std::string& path);

}  // namespace sonde
