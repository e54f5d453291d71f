// Tells RocksDB how much its compactions may write.  A compaction that could need more is not begun, and is
// tried again a second later.  Without this, compactions on a disk that is nearly full would take the room of
// writes, flushes and deletes, fail, and try again.
//
// RocksDB sums up the sizes of all tables, the inputs of compactions and a buffer, and compares the sum with
// a limit. Only compactions are held to the buffer.  So the limit here is never reached, and the buffer is
// the difference between the limit and the room that there is.  As tables come and go, the sum follows by
// itself until the next call of Set.
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
  // There is no room until Set is called.
  explicit CompactionRoom(rocksdb::Env* env);

  // For the settings of one database.
  const std::shared_ptr<rocksdb::SstFileManager>& manager() const { return manager_; }

  // From now on compactions may write `bytes`, current ones included.  `unknown_bytes` is the size of tables
  // that the database will find when it is opened.
  void Set(uint64_t bytes, uint64_t unknown_bytes = 0);

 private:
  const std::shared_ptr<rocksdb::SstFileManager> manager_;
};

// Bytes of the tables in a database's directory; 0 if it does not exist.
uint64_t BytesOfTables(rocksdb::Env* env, const std::string& directory);

}  // namespace sonde
