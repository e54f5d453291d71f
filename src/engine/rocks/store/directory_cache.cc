#include "engine/rocks/store/directory_cache.h"

#include <iterator>
#include <utility>

namespace sonde {
namespace {

size_t BytesOf(const DirectoryEntry& entry) {
  return sizeof(DirectoryEntry) + sizeof(std::pair<std::string_view, DirectoryCache::Neighbors>) +
         entry.key.capacity() + entry.first.row_key.capacity() + entry.first.qualifier.capacity() +
         entry.header.first_row_key.capacity() + entry.header.last_row_key.capacity();
}

}  // namespace

bool DirectoryCache::GoTo(uint64_t version) {
  if (version > version_) {
    Clear();
    version_ = version;
  }
  return version == version_;
}

void DirectoryCache::Clear() {
  by_key_.clear();
  bytes_ = 0;
}

template <typename Find>
DirectoryCache::Neighbors DirectoryCache::FindIn(uint64_t version, const Find& find) {
  {
    const absl::ReaderMutexLock lock(&mutex_);
    if (version == version_) return find(by_key_);
    if (version < version_) return {};
  }
  const absl::MutexLock lock(&mutex_);
  GoTo(version);
  return {};
}

DirectoryCache::Neighbors DirectoryCache::FindBefore(uint64_t version, TableId table, FamilyId family,
                                                     std::string_view key) {
  return FindIn(version, [&](const ByKey& by_key) -> Neighbors {
    const auto not_before = by_key.lower_bound(key);
    if (not_before == by_key.begin()) return {};
    const Neighbors& found = std::prev(not_before)->second;
    if (found.before->first.table != table || found.before->first.family != family) return {};
    if (found.after != nullptr && found.after->key < key) return {};
    return found;
  });
}

DirectoryCache::Neighbors DirectoryCache::FindAt(uint64_t version, std::string_view key) {
  return FindIn(version, [&](const ByKey& by_key) {
    const auto found = by_key.find(key);
    return found == by_key.end() ? Neighbors() : found->second;
  });
}

void DirectoryCache::Put(uint64_t version, Neighbors neighbors) {
  const size_t bytes = BytesOf(*neighbors.before);
  const absl::MutexLock lock(&mutex_);
  if (!GoTo(version) || bytes > bytes_max_) return;
  if (bytes_ + bytes > bytes_max_) Clear();
  const std::string_view key = neighbors.before->key;
  if (by_key_.try_emplace(key, std::move(neighbors)).second) bytes_ += bytes;
}

}  // namespace sonde
