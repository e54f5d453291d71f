// A block device with a volatile write cache, as a file of a FUSE file system: put a loop device and ext4 on
// it, and cut its power.
//
//   sonde_volatile_disk MOUNT_POINT MEGABYTES      (in the foreground; ends when it is unmounted)
//
// MOUNT_POINT/disk     the device.  Writes go to a cache; an fsync makes all of them durable.
// MOUNT_POINT/control  read: what has happened so far, as "name number" pairs.  Write:
//   "cut SEED KEEP"  the power is cut: each 512-byte sector in the cache is kept with KEEP percent chance.
//                    All requests are refused with EIO from now on, so that nothing can be acknowledged that
//                    is not on the disk.
//   "thaw"           the power is back: the device is what the cut left.
#define FUSE_USE_VERSION 31
#include <fuse3/fuse.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/random.h"

namespace sonde {
namespace {

constexpr size_t kSectorBytes = 512;
constexpr char kDiskPath[] = "/disk";
constexpr char kControlPath[] = "/control";
constexpr off_t kControlBytes = 4096;

class VolatileDisk {
 public:
  explicit VolatileDisk(size_t bytes) : size_(bytes), durable_(Zeros(bytes)), seen_(Zeros(bytes)) {}

  size_t size() const { return size_; }

  int Read(char* out, size_t bytes, size_t offset) {
    std::lock_guard lock(mutex_);
    if (cut_) return -EIO;
    if (offset >= size_) return 0;
    bytes = std::min(bytes, size_ - offset);
    std::memcpy(out, seen_.get() + offset, bytes);
    return static_cast<int>(bytes);
  }

  int Write(const char* data, size_t bytes, size_t offset) {
    std::lock_guard lock(mutex_);
    if (cut_) return -EIO;
    if (offset >= size_) return -ENOSPC;
    bytes = std::min(bytes, size_ - offset);
    std::memcpy(seen_.get() + offset, data, bytes);
    cache_.push_back({offset, std::string(data, bytes)});
    ++writes_count_;
    return static_cast<int>(bytes);
  }

  int Flush() {
    std::lock_guard lock(mutex_);
    if (cut_) return -EIO;
    for (const Cached& write : cache_)
      std::memcpy(durable_.get() + write.offset, write.data.data(), write.data.size());
    cache_.clear();
    ++flushes_count_;
    return 0;
  }

  void Cut(uint64_t seed, uint64_t keep_percent) {
    std::lock_guard lock(mutex_);
    SeededRandom random(seed);
    for (const Cached& write : cache_) {
      for (size_t at = 0; at < write.data.size(); at += kSectorBytes) {
        if (random.Uniform(100) >= keep_percent) {
          ++sectors_lost_count_;
          continue;
        }
        ++sectors_kept_count_;
        std::memcpy(durable_.get() + write.offset + at, write.data.data() + at,
                    std::min(kSectorBytes, write.data.size() - at));
      }
    }
    for (const Cached& write : cache_) {
      std::memcpy(seen_.get() + write.offset, durable_.get() + write.offset, write.data.size());
    }
    cache_.clear();
    cut_ = true;
    ++cuts_count_;
  }

  void Thaw() {
    std::lock_guard lock(mutex_);
    cut_ = false;
  }

  std::string Describe() {
    std::lock_guard lock(mutex_);
    return "writes " + std::to_string(writes_count_) + " flushes " + std::to_string(flushes_count_) +
           " cuts " + std::to_string(cuts_count_) + " sectors_lost " + std::to_string(sectors_lost_count_) +
           " sectors_kept " + std::to_string(sectors_kept_count_) + "\n";
  }

 private:
  struct Cached {
    size_t offset = 0;
    std::string data;
  };

  struct Free {
    void operator()(char* bytes) const { std::free(bytes); }
  };
  using Bytes = std::unique_ptr<char[], Free>;
  // Memory that is not touched is not taken.
  static Bytes Zeros(size_t bytes) { return Bytes(static_cast<char*>(std::calloc(bytes, 1))); }

  std::mutex mutex_;
  const size_t size_;
  const Bytes durable_, seen_;  // what a cut leaves; what reads see
  std::vector<Cached> cache_;   // since the last flush, oldest first
  bool cut_ = false;
  uint64_t writes_count_ = 0, flushes_count_ = 0, cuts_count_ = 0, sectors_lost_count_ = 0,
           sectors_kept_count_ = 0;
};

VolatileDisk* disk = nullptr;  // FUSE's functions have no other way to it

int GetAttributes(const char* path, struct stat* out, fuse_file_info*) {
  *out = {};
  if (std::strcmp(path, "/") == 0) {
    out->st_mode = S_IFDIR | 0755;
    out->st_nlink = 2;
    return 0;
  }
  const bool is_disk = std::strcmp(path, kDiskPath) == 0;
  if (!is_disk && std::strcmp(path, kControlPath) != 0) return -ENOENT;
  out->st_mode = S_IFREG | 0644;
  out->st_nlink = 1;
  out->st_size = is_disk ? static_cast<off_t>(disk->size()) : kControlBytes;
  return 0;
}

int Open(const char*, fuse_file_info* info) {
  info->direct_io = 1;
  return 0;
}

int Read(const char* path, char* out, size_t bytes, off_t offset, fuse_file_info*) {
  if (std::strcmp(path, kDiskPath) == 0) return disk->Read(out, bytes, static_cast<size_t>(offset));
  const std::string text = disk->Describe();
  if (static_cast<size_t>(offset) >= text.size()) return 0;
  bytes = std::min(bytes, text.size() - static_cast<size_t>(offset));
  std::memcpy(out, text.data() + offset, bytes);
  return static_cast<int>(bytes);
}

int Write(const char* path, const char* data, size_t bytes, off_t offset, fuse_file_info*) {
  if (std::strcmp(path, kDiskPath) == 0) return disk->Write(data, bytes, static_cast<size_t>(offset));
  const std::string command(data, bytes);
  unsigned long long seed = 0, keep_percent = 0;
  if (std::sscanf(command.c_str(), "cut %llu %llu", &seed, &keep_percent) == 2) {
    disk->Cut(seed, keep_percent);
  } else if (command.starts_with("thaw")) {
    disk->Thaw();
  } else {
    return -EINVAL;
  }
  return static_cast<int>(bytes);
}

int Sync(const char* path, int, fuse_file_info*) {
  return std::strcmp(path, kDiskPath) == 0 ? disk->Flush() : 0;
}

int Truncate(const char*, off_t, fuse_file_info*) { return 0; }

int Main(int argc, char** argv) {
  const unsigned long megabytes = argc == 3 ? std::strtoul(argv[2], nullptr, 10) : 0;
  if (megabytes == 0) {
    std::fprintf(stderr, "usage: sonde_volatile_disk MOUNT_POINT MEGABYTES\n");
    return 2;
  }
  VolatileDisk made(megabytes << 20);
  disk = &made;
  fuse_operations operations{};
  operations.getattr = GetAttributes;
  operations.open = Open;
  operations.read = Read;
  operations.write = Write;
  operations.fsync = Sync;
  operations.truncate = Truncate;
  char foreground[] = "-f";
  char* arguments[] = {argv[0], argv[1], foreground, nullptr};
  return fuse_main(3, arguments, &operations, nullptr);
}

}  // namespace
}  // namespace sonde

int main(int argc, char** argv) { return sonde::Main(argc, argv); }
