// An environment in which a file that cannot be opened, because the process or the machine has too many open,
// is no lasting error: RocksDB tries again by itself, and goes on when there are descriptors again.
//
// The database shares its descriptors with connections, which come and go.  Nothing was lost or half written
// when a file was not opened at all.
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

// How many tables RocksDB may keep open: half of what the process may have, and no more than it needs.
int OpenTablesMax();

// Of an error that RocksDB tells: it is of that kind.
bool IsForWantOfDescriptors(const rocksdb::Status& status);

}  // namespace sonde
