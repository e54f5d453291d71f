// Copies databases by hard links.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "rocksdb/db.h"
#include "rocksdb/env.h"

namespace sonde {

// A database and the name of its directory.
using NamedDatabase = std::pair<rocksdb::DB*, std::string>;

// Makes `directory`, which must not exist, and copies each database into it in turn.  Each copy is of one
// moment.  Writes that are in no table yet are flushed.  Reads and writes go on.  Files are hard links if the
// disk is the same.  FAILED_PRECONDITION: the directory exists, or cannot be made.  Errors of the disk; the
// parts that were made until then stay.
absl::Status CopyDatabases(rocksdb::Env* env, const std::vector<NamedDatabase>& databases,
                           const std::string& directory);

// FAILED_PRECONDITION: the directory exists.
absl::Status CheckIsNew(rocksdb::Env* env, const std::string& directory);

// Deletes a directory and its contents, as far as it can.
void RemoveTree(rocksdb::Env* env, const std::string& directory);

}  // namespace sonde
