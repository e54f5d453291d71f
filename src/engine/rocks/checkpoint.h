// Copies of databases, by hard links.
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

// Makes `directory`, which must not be there, and in it a copy of each database in turn, each of one moment.
// What is not in a table yet is flushed.  Reads and writes go on.  Files are hard links where the disk is the
// same.
// FAILED_PRECONDITION: the directory is there, or cannot be made.  Errors of the disk; what was made until
// then stays.
absl::Status CopyDatabases(rocksdb::Env* env, const std::vector<NamedDatabase>& databases,
                           const std::string& directory);

// FAILED_PRECONDITION: the directory is there.
absl::Status CheckIsNew(rocksdb::Env* env, const std::string& directory);

// Deletes a directory and what is in it, as far as it can.
void RemoveTree(rocksdb::Env* env, const std::string& directory);

}  // namespace sonde
