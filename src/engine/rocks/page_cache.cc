#include "engine/rocks/page_cache.h"

#include <iterator>
#include <utility>

namespace sonde {
namespace {

// What a reader decodes of keys and shape, once.
constexpr size_t kBytesPerRow = 24;
constexpr size_t kBytesPerColumn = 2048;  // with tables of tokens

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
  const PageHeader& header = reader->header();
  return bytes.capacity() + header.rows * kBytesPerRow + header.columns * kBytesPerColumn;
}

std::unique_ptr<OpenPage> PageCache::Take(uint64_t checksum) {
  const absl::MutexLock lock(&mutex_);
  const auto found = by_checksum_.find(checksum);
  if (found == by_checksum_.end()) return nullptr;
  std::unique_ptr<OpenPage> page = std::move(found->second->page);
  Remove(found->second);
  return page;
}

void PageCache::Give(std::unique_ptr<OpenPage> page) {
  const uint64_t checksum = page->Checksum();
  const size_t bytes = page->MemoryBytes();
  Order dropped;  // ends without the lock
  const absl::MutexLock lock(&mutex_);
  if (bytes > bytes_max_ || by_checksum_.contains(checksum)) return;
  while (bytes_ + bytes > bytes_max_) {
    const auto last = std::prev(order_.end());
    by_checksum_.erase(last->checksum);
    bytes_ -= last->bytes;
    dropped.splice(dropped.end(), order_, last);
  }
  order_.push_front({checksum, bytes, std::move(page)});
  by_checksum_[checksum] = order_.begin();
  bytes_ += bytes;
}

void PageCache::Remove(Order::iterator kept) {
  bytes_ -= kept->bytes;
  by_checksum_.erase(kept->checksum);
  order_.erase(kept);
}

size_t PageCache::Bytes() const {
  const absl::MutexLock lock(&mutex_);
  return bytes_;
}

}  // namespace sonde
