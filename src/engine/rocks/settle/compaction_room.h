// Tells RocksDB how much its compactions may write: one that could need more is not begun, and tried again a
// second later.  Without it, compactions on a disk that is nearly full take what writes, flushes and deletes
// need, fail, and try again.
//
// RocksDB compares the sizes of all tables, plus the inputs of compactions, plus a buffer, with a limit on
// the sum; and takes nothing but compactions for part of the buffer.  So the limit here is one that is never
// reached, and the buffer is what lies between it and the room that there is.  As tables come and go, the sum
// follows by itself until Set is called next.
//
// Threads: all functions may be called at once.
#pragma once

#include <cstdint>
#include <memory>

#include "rocksdb/env.h"
#include "rocksdb/sst_file_manager.h"

namespace sonde {

class CompactionRoom {
 public:
  // Until Set is called, there is none.
  explicit CompactionRoom(rocksdb::Env* env);

  // For the settings of one database.
  const std::shared_ptr<rocksdb::SstFileManager>& manager() const { return manager_; }

  // From now on compactions may write so much, those that are under way included. `unknown_bytes`: of tables
  // that the database will find when it is opened.
  void Set(uint64_t bytes, uint64_t unknown_bytes = 0);

 private:
  const std::shared_ptr<rocksdb::SstFileManager> manager_;
};

// Of the tables in a database's directory; 0 when it is not there.
uint64_t BytesOfTables(rocksdb::Env* env, const std::string& directory);

}  // namespace sonde
