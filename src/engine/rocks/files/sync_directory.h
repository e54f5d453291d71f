// Makes the entries of a directory durable.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "rocksdb/env.h"

namespace sonde {

// Makes the entries of a directory survive the loss of power.
absl::Status SyncDirectory(rocksdb::Env* env, const std::string& path);

}  // namespace sonde
