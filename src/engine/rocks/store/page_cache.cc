#include "engine/rocks/store/page_cache.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace sonde {
namespace {

// Tables of tokens, once a stream of values was asked for.
constexpr size_t kBytesPerStream = 8192;
// The bytes kept for a column beside its name: where its cells are.
constexpr size_t kBytesPerColumn = 64;
// A shard is to hold many of the largest pages.
constexpr size_t kShardBytesMin = size_t{8} << 20;
constexpr size_t kShardsMax = 16;

}  // namespace

absl::StatusOr<std::unique_ptr<OpenPage>> OpenPage::Open(std::string bytes) {
  auto page = std::make_unique<OpenPage>();
  page->bytes = std::move(bytes);
  absl::StatusOr<std::unique_ptr<PageReader>> reader = PageReader::Open(page->bytes);
  if (!reader.ok()) return reader.status();
  page->reader = *std::move(reader);
  return page;
}

size_t OpenPage::MemoryBytes() const {
  return bytes.capacity() + reader->KeptBytes() + reader->streams_count() * kBytesPerStream +
         reader->header().columns * kBytesPerColumn;
}

PageCache::PageCache(size_t bytes_max)
    : shards_(std::clamp<size_t>(bytes_max / kShardBytesMin, 1, kShardsMax)),
      shard_bytes_max_(bytes_max / shards_.size()) {}

std::unique_ptr<OpenPage> PageCache::Take(uint64_t checksum) { return ShardOf(checksum).Take(checksum); }

void PageCache::Give(std::unique_ptr<OpenPage> page) {
  ShardOf(page->Checksum()).Give(std::move(page), shard_bytes_max_);
}

size_t PageCache::Bytes() const {
  size_t bytes = 0;
  for (const Shard& shard : shards_) bytes += shard.Bytes();
  return bytes;
}

std::unique_ptr<OpenPage> PageCache::Shard::Take(uint64_t checksum) {
  const absl::MutexLock lock(&mutex_);
  const auto found = by_checksum_.find(checksum);
  if (found == by_checksum_.end()) return nullptr;
  const Order::iterator kept = found->second.back();
  std::unique_ptr<OpenPage> page = std::move(kept->page);
  Forget(kept);
  order_.erase(kept);
  return page;
}

void PageCache::Shard::Give(std::unique_ptr<OpenPage> page, size_t bytes_max) {
  const uint64_t checksum = page->Checksum();
  const size_t bytes = page->MemoryBytes();
  page->loan = {};
  Order dropped;  // ends without the lock
  const absl::MutexLock lock(&mutex_);
  if (bytes > bytes_max) return;
  while (bytes_ + bytes > bytes_max) {
    const auto last = std::prev(order_.end());
    Forget(last);
    dropped.splice(dropped.end(), order_, last);
  }
  order_.push_front({checksum, bytes, std::move(page)});
  by_checksum_[checksum].push_back(order_.begin());
  bytes_ += bytes;
}

void PageCache::Shard::Forget(Order::iterator kept) {
  bytes_ -= kept->bytes;
  const auto found = by_checksum_.find(kept->checksum);
  std::erase(found->second, kept);
  if (found->second.empty()) by_checksum_.erase(found);
}

size_t PageCache::Shard::Bytes() const {
  const absl::MutexLock lock(&mutex_);
  return bytes_;
}

}  // namespace sonde
