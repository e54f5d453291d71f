#include "server/memory_shares.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <utility>

#include "absl/time/time.h"

// jemalloc's, which sanitizers do without.
extern "C" int mallctl(const char* name, void* old, size_t* old_bytes, void* made, size_t made_bytes)
    __attribute__((weak));

namespace sonde {
namespace {

// Requests that come in within this time are part of the constant.
constexpr absl::Duration kLook = absl::Milliseconds(20);

// Parts of the memory, one part in this many: for opened pages that nobody holds, which the engine keeps
// beside the rest; for requests that come in between two looks; and the least and the most that the cache
// has.
constexpr int64_t kOpenedPagesShare = 8;
constexpr int64_t kMarginShare = 16;
constexpr int64_t kCacheShareMin = 16;
constexpr int64_t kCacheShareMax = 2;

// Pages that the allocator keeps are worth a call of the system.
constexpr int64_t kReleaseBytes = int64_t{32} << 20;

int64_t ReadStatistic(const char* name) {
  size_t value = 0, size = sizeof(value);
  return mallctl(name, &value, &size, nullptr, 0) == 0 ? static_cast<int64_t>(value) : 0;
}

}  // namespace

void ReleaseFreedMemory() {
  // 4096 stands for all arenas.
  if (mallctl != nullptr) mallctl("arena.4096.purge", nullptr, nullptr, nullptr, 0);
}

std::optional<AllocatorBytes> ReadAllocatorBytes() {
  if (mallctl == nullptr) return std::nullopt;
  uint64_t epoch = 1;
  size_t size = sizeof(epoch);
  mallctl("epoch", &epoch, &size, &epoch, size);  // the figures are of this moment
  return AllocatorBytes{.allocated = ReadStatistic("stats.allocated"),
                        .resident = ReadStatistic("stats.resident")};
}

int64_t CacheShare(int64_t memory_bytes, int64_t accounted_bytes, int64_t taken_bytes) {
  const int64_t left = memory_bytes - memory_bytes / kMarginShare -
                       std::max(accounted_bytes + memory_bytes / kOpenedPagesShare, taken_bytes);
  return std::clamp(left, memory_bytes / kCacheShareMin, memory_bytes / kCacheShareMax);
}

MemoryKeeper::MemoryKeeper(uint64_t memory_bytes)
    : memory_bytes_(static_cast<int64_t>(memory_bytes)),
      left_bytes_(memory_bytes_),
      room_({.bytes_max = memory_bytes_, .reserve_bytes = memory_bytes_ / 8}) {
  room_.set_taken_by_others([this] { return small_bytes_.load(std::memory_order_relaxed); });
  room_.set_release(ReleaseFreedMemory);
  room_.set_left([this](int64_t bytes) {
    const absl::MutexLock lock(&cache_mutex_);
    left_bytes_ = bytes;
    SetCache();
  });
}

MemoryKeeper::~MemoryKeeper() { Stop(); }

void MemoryKeeper::Start(Others others) {
  others_ = std::move(others);
  {
    const absl::MutexLock lock(&cache_mutex_);
    set_cache_max_ = others_.set_cache_max;
    SetCache();
  }
  thread_ = std::thread([this] { Run(); });
}

void MemoryKeeper::Stop() {
  {
    const absl::MutexLock lock(&mutex_);
    stopping_ = true;
  }
  if (thread_.joinable()) thread_.join();
  const absl::MutexLock lock(&cache_mutex_);
  set_cache_max_ = nullptr;
}

void MemoryKeeper::Run() {
  const absl::MutexLock lock(&mutex_);
  while (!stopping_) {
    Look();
    mutex_.AwaitWithTimeout(absl::Condition(&stopping_), kLook);
  }
}

void MemoryKeeper::Look() {
  small_bytes_.store(others_.small_bytes(), std::memory_order_relaxed);
  room_.Adjust();
  const std::optional<AllocatorBytes> allocator = others_.allocator_bytes();
  if (!allocator.has_value()) return;
  const int64_t cache_bytes = others_.cache_bytes();
  {
    const absl::MutexLock lock(&cache_mutex_);
    taken_bytes_ = std::max<int64_t>(0, allocator->allocated - cache_bytes);
    SetCache();
  }
  const int64_t much = memory_bytes_ - memory_bytes_ / kMarginShare;
  if (allocator->resident > much && allocator->resident - allocator->allocated > kReleaseBytes)
    ReleaseFreedMemory();
}

void MemoryKeeper::SetCache() {
  if (!set_cache_max_) return;
  const int64_t bytes = CacheShare(memory_bytes_, memory_bytes_ - left_bytes_, taken_bytes_);
  // A cache that is told the same again and again has better things to do.
  constexpr int64_t kStep = int64_t{1} << 20;
  if (cache_max_ >= 0 && std::abs(bytes - cache_max_) < kStep) return;
  cache_max_ = bytes;
  set_cache_max_(bytes);
}

}  // namespace sonde
