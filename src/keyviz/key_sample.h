// A sample of the keys of a table, in which each key that is in use has the same chance to be, however often
// it is used: the keys of the least hashes (Bar-Yossef et al., "Counting distinct elements in a data stream",
// 2002).  It says where the keys are, as opposed to where the load is, and how many there are.
//
// Not for several threads.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"

namespace sonde {

class KeySample {
 public:
  // Once there are more, as many of the least hashes stay; then a quarter as many again may come before the
  // next choice, so that a key costs about the same, however many there are.
  static constexpr size_t kKeysKept = 8192;
  static constexpr size_t kKeysMax = kKeysKept * 5 / 4;
  // Longer keys are cut in the sample: as boundaries they are as good.
  static constexpr size_t kKeyBytesMax = 128;
  // For so long a key that was used counts as one in use.
  static constexpr int64_t kForgottenAfterSeconds = 24 * 3600;

  static uint64_t HashOf(std::string_view key);

  // Only keys whose hash is at most this are of interest.
  uint64_t hash_max() const { return hash_max_; }
  void Add(uint64_t hash, std::string_view key, int64_t now_seconds);
  // Forgets keys that were last seen before then.
  void Forget(int64_t seen_before_seconds);

  size_t size() const { return by_hash_.size(); }
  // About how many distinct keys there are.
  double KeyCount() const;
  // Ascending; a copy.
  std::vector<std::string> SortedKeys() const;

  struct Entry {
    std::string key;
    int64_t seen_seconds = 0;
  };
  const absl::flat_hash_map<uint64_t, Entry>& entries() const { return by_hash_; }

 private:
  void Choose();

  absl::flat_hash_map<uint64_t, Entry> by_hash_;
  uint64_t hash_max_ = UINT64_MAX;
};

}  // namespace sonde
