// An environment in which too many open files, of the process or the machine, are no lasting error: RocksDB
// tries again by itself, and goes on when there are descriptors again.
//
// The database shares its descriptors with connections, which come and go.  A file that was not opened at all
// lost nothing.
//
// Threads: all functions may be called at once.
#pragma once

#include <string_view>

#include "rocksdb/env.h"

namespace sonde {

class OpenFilesEnv final : public rocksdb::EnvWrapper {
 public:
  // `base` must outlive it.
  explicit OpenFilesEnv(rocksdb::Env* base);
  const char* Name() const override { return "OpenFilesEnv"; }
};

// How many tables RocksDB may keep open: half of the process' limit, and no more than RocksDB needs.
int OpenTablesMax();

// Whether an error that RocksDB tells is for want of descriptors.
bool IsForWantOfDescriptors(const rocksdb::Status& status);

}  // namespace sonde
