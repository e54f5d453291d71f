#include "engine/rocks/files/sync_directory.h"

#include <fmt/format.h>

#include <memory>

#include "engine/rocks/files/rocks_status.h"

namespace sonde {

absl::Status SyncDirectory(rocksdb::Env* env, const std::string& path) {
  std::unique_ptr<rocksdb::Directory> directory;
  rocksdb::Status status = env->NewDirectory(path, &directory);
  if (status.ok()) status = directory->Fsync();
  return FromRocks(status, fmt::format("Syncing the directory {}", path));
}

}  // namespace sonde
