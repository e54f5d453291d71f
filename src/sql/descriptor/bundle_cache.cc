#include "sql/descriptor/bundle_cache.h"

#include <algorithm>
#include <utility>

namespace sonde::sql {

absl::StatusOr<BundleTypesRef> BundleCache::Find(std::string_view name, std::string_view id,
                                                 std::string_view etag, std::string_view descriptors) {
  {
    const absl::MutexLock lock(&mutex_);
    const auto found = std::ranges::find(entries_, name, &Entry::name);
    if (found != entries_.end() && found->etag == etag) {
      entries_.splice(entries_.begin(), entries_, found);
      return found->types;
    }
    if (found != entries_.end()) {
      bytes_ -= found->bytes;
      entries_.erase(found);
    }
  }
  absl::StatusOr<BundleTypesRef> types = ParseBundle(std::string(id), descriptors);
  if (!types.ok()) return types;
  const absl::MutexLock lock(&mutex_);
  entries_.push_front({std::string(name), std::string(etag), descriptors.size(), *types});
  bytes_ += descriptors.size();
  while (entries_.size() > 1 && (bytes_ > kDescriptorBytesMax || entries_.size() > kBundlesMax)) {
    bytes_ -= entries_.back().bytes;
    entries_.pop_back();
  }
  return types;
}

}  // namespace sonde::sql
