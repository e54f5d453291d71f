// The shares of --memory.  docs/compatibility.md ("Overload") has the table of shares, and names the constant
// that comes on top: the program itself, and memory that allocators keep.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "base/large_room.h"

namespace sonde {

// The bytes that the allocator holds.
struct AllocatorBytes {
  int64_t allocated = 0;  // by the program
  int64_t resident = 0;   // with pages that it keeps for the next
};
// None where the allocator does not tell.  Takes some microseconds.
std::optional<AllocatorBytes> ReadAllocatorBytes();
// Gives what was freed back to the system.
void ReleaseFreedMemory();

// The share of blocks, write buffers, and opened pages that reads hold.  `accounted_bytes`: promised to
// others, who may not have taken them yet; `taken_bytes`: taken by others, whether accounted for or not.
int64_t CacheShare(int64_t memory_bytes, int64_t accounted_bytes, int64_t taken_bytes);

// The room for what is large, which follows what else is taken of the memory; and the cache, which gives way.
class MemoryKeeper {
 public:
  struct Others {
    std::function<int64_t()> small_bytes;  // what small requests have that are under way
    std::function<int64_t()> cache_bytes;  // what is in the cache
    std::function<std::optional<AllocatorBytes>()> allocator_bytes = ReadAllocatorBytes;
    std::function<void(int64_t bytes)> set_cache_max;  // what may be in it from now on
  };

  explicit MemoryKeeper(uint64_t memory_bytes);
  ~MemoryKeeper();
  MemoryKeeper(const MemoryKeeper&) = delete;
  MemoryKeeper& operator=(const MemoryKeeper&) = delete;

  LargeRoom* room() { return &room_; }
  // Asks and tells others until Stop.
  void Start(Others others);
  void Stop();

 private:
  void Run();
  void Look();
  void SetCache() ABSL_EXCLUSIVE_LOCKS_REQUIRED(cache_mutex_);

  const int64_t memory_bytes_;
  std::atomic<int64_t> small_bytes_ = 0;
  absl::Mutex cache_mutex_;
  std::function<void(int64_t)> set_cache_max_ ABSL_GUARDED_BY(cache_mutex_);
  int64_t left_bytes_ ABSL_GUARDED_BY(cache_mutex_);       // by the room, and by small requests
  int64_t taken_bytes_ ABSL_GUARDED_BY(cache_mutex_) = 0;  // by all but the cache
  int64_t cache_max_ ABSL_GUARDED_BY(cache_mutex_) = -1;   // that was told
  LargeRoom room_;
  Others others_;  // of the thread
  absl::Mutex mutex_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace sonde
