#include "keyviz/key_sample.h"

#include <xxhash.h>

#include <algorithm>

namespace sonde {

uint64_t KeySample::HashOf(std::string_view key) { return XXH3_64bits(key.data(), key.size()); }

void KeySample::Add(uint64_t hash, std::string_view key, int64_t now_seconds) {
  if (hash > hash_max_) return;
  Entry& entry = by_hash_[hash];
  if (entry.key.empty()) entry.key = key.substr(0, kKeyBytesMax);
  entry.seen_seconds = std::max(entry.seen_seconds, now_seconds);
  if (by_hash_.size() > (hash_max_ == UINT64_MAX ? kKeysKept : kKeysMax)) Choose();
}

void KeySample::Choose() {
  std::vector<uint64_t> hashes;
  hashes.reserve(by_hash_.size());
  for (const auto& [hash, entry] : by_hash_) hashes.push_back(hash);
  const auto last = hashes.begin() + kKeysKept - 1;
  std::nth_element(hashes.begin(), last, hashes.end());
  hash_max_ = *last;
  absl::erase_if(by_hash_, [&](const auto& item) { return item.first > hash_max_; });
}

void KeySample::Forget(int64_t seen_before_seconds) {
  absl::erase_if(by_hash_, [&](const auto& item) { return item.second.seen_seconds < seen_before_seconds; });
  // Those of greater hashes come in again as they are used.
  if (by_hash_.size() < kKeysKept / 2) hash_max_ = UINT64_MAX;
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
