// The data directory around the databases: its lock, and the format that it is of
// (docs/formats/data-directory.md).
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rocksdb/env.h"

namespace sonde {

// Makes the directory if it is not there, takes its lock (only one process at a time), and checks that it is
// ours and of a format that we know; writes the format and an empty inventory into a new one.  Returns the
// format. Errors as RocksEngine::Open.
absl::StatusOr<int> PrepareDataDirectory(rocksdb::Env* env, const std::string& path,
                                         rocksdb::FileLock** lock);

// The format that this version writes: from kInventoryFormat on a directory has an inventory, from 3 on there
// are pages.
constexpr int kFormat = 3;
constexpr int kInventoryFormat = 2;

// Says that the directory is of kFormat now.
absl::Status WriteFormat(rocksdb::Env* env, const std::string& path);

}  // namespace sonde
