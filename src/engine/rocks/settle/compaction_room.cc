#include "engine/rocks/settle/compaction_room.h"

#include <algorithm>
#include <string>
#include <vector>

namespace sonde {
namespace {

// More than any disk has, and far from where sums overflow.
constexpr uint64_t kLimitBytes = uint64_t{1} << 60;

}  // namespace

CompactionRoom::CompactionRoom(rocksdb::Env* env) : manager_(rocksdb::NewSstFileManager(env)) {
  manager_->SetMaxAllowedSpaceUsage(kLimitBytes);
  manager_->SetCompactionBufferSize(kLimitBytes);
}

void CompactionRoom::Set(uint64_t bytes, uint64_t unknown_bytes) {
  const uint64_t taken_bytes = manager_->GetTotalSize() + unknown_bytes;
  manager_->SetCompactionBufferSize(kLimitBytes - std::min(kLimitBytes, taken_bytes + bytes));
}

uint64_t BytesOfTables(rocksdb::Env* env, const std::string& directory) {
  std::vector<rocksdb::Env::FileAttributes> files;
  if (!env->GetChildrenFileAttributes(directory, &files).ok()) return 0;
  uint64_t bytes = 0;
  for (const rocksdb::Env::FileAttributes& file : files) {
    if (file.name.ends_with(".sst")) bytes += file.size_bytes;
  }
  return bytes;
}

}  // namespace sonde
