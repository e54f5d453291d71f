#include "identity/check/token_cache.h"

namespace sonde {

std::shared_ptr<const Principal> TokenCache::Find(const Sha256Digest& token, absl::Time now) {
  Shard& shard = ShardOf(token);
  const absl::MutexLock lock(&shard.mutex);
  const auto found = shard.by_token.find(token);
  if (found == shard.by_token.end()) return nullptr;
  const Entries::iterator entry = found->second;
  if (now >= entry->second->until) {
    shard.by_token.erase(found);
    shard.entries.erase(entry);
    return nullptr;
  }
  shard.entries.splice(shard.entries.begin(), shard.entries, entry);
  return entry->second;
}

void TokenCache::Insert(const Sha256Digest& token, std::shared_ptr<const Principal> principal) {
  Shard& shard = ShardOf(token);
  const absl::MutexLock lock(&shard.mutex);
  if (shard.by_token.contains(token)) return;  // another call of the same token came first
  if (shard.entries.size() >= shard_tokens_max_) {
    shard.by_token.erase(shard.entries.back().first);
    shard.entries.pop_back();
  }
  shard.entries.emplace_front(token, std::move(principal));
  shard.by_token.emplace(token, shard.entries.begin());
}

size_t TokenCache::size() const {
  size_t count = 0;
  for (const Shard& shard : shards_) {
    const absl::MutexLock lock(&shard.mutex);
    count += shard.entries.size();
  }
  return count;
}

}  // namespace sonde
