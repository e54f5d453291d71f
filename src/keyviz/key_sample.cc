#include "keyviz/key_sample.h"

#include <xxhash.h>

#include <algorithm>
#include <iterator>

namespace sonde {

uint64_t KeySample::HashOf(std::string_view key) { return XXH3_64bits(key.data(), key.size()); }

void KeySample::Add(uint64_t hash, std::string_view key, int64_t now_seconds) {
  if (hash > hash_max_) return;
  Entry& entry = by_hash_[hash];
  if (entry.key.empty()) entry.key = key.substr(0, kKeyBytesMax);
  entry.seen_seconds = std::max(entry.seen_seconds, now_seconds);
  if (by_hash_.size() <= kKeysMax) return;
  by_hash_.erase(std::prev(by_hash_.end()));
  hash_max_ = std::prev(by_hash_.end())->first;
}

void KeySample::Forget(int64_t seen_before_seconds) {
  std::erase_if(by_hash_, [&](const auto& item) { return item.second.seen_seconds < seen_before_seconds; });
  // Those of greater hashes come in again as they are used.
  if (by_hash_.size() < kKeysMax / 2) hash_max_ = UINT64_MAX;
}

double KeySample::KeyCount() const {
  if (hash_max_ == UINT64_MAX) return static_cast<double>(by_hash_.size());
  return static_cast<double>(by_hash_.size()) / (static_cast<double>(hash_max_) * 0x1.0p-64);
}

std::vector<std::string> KeySample::SortedKeys() const {
  std::vector<std::string> keys;
  keys.reserve(by_hash_.size());
  for (const auto& [hash, entry] : by_hash_) keys.push_back(entry.key);
  std::sort(keys.begin(), keys.end());
  return keys;
}

}  // namespace sonde
