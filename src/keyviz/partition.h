// How the keys of a table are divided into buckets, each of which is counted as one.
//
// Immutable, so that threads may share it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "keyviz/access_counts.h"

namespace sonde {

class Partition {
 public:
  // `starts`: ascending, unique, the first "": bucket i holds the keys in [starts[i], starts[i + 1]).
  // `keys`: about how many keys in use each bucket had when the division was made; empty: that is not known.
  explicit Partition(std::vector<std::string> starts, std::vector<uint64_t> keys = {});

  size_t size() const { return starts_.size(); }
  const std::vector<std::string>& starts() const { return starts_; }
  const std::string& start(size_t bucket) const { return starts_[bucket]; }
  const std::vector<uint64_t>& keys() const { return keys_; }
  // Exclusive; empty for the last one: no end.
  std::string end(size_t bucket) const { return bucket + 1 < size() ? starts_[bucket + 1] : ""; }

  // The bucket that holds the key.  Some 20 ns among 1,000: the bytes that all starts share are looked at
  // once, and the eight bytes after them decide most comparisons.
  size_t Find(std::string_view key) const;
  // The first bucket that starts at or after `key`; size() when there is none.
  size_t FirstFrom(std::string_view key) const;

 private:
  std::vector<std::string> starts_;
  std::vector<uint64_t> keys_;
  std::string shared_;           // prefix of starts_[1..]
  std::vector<uint64_t> heads_;  // of starts_[1..]: the bytes after it
};

using PartitionRef = std::shared_ptr<const Partition>;

// Adds the counts of the buckets of `from` to those of `to`.  Counts of a bucket that lies in several buckets
// of `to` are divided evenly, as nothing better is known.
void Project(const Partition& from, const std::vector<AccessCounts>& counts, const Partition& to,
             std::vector<AccessCounts>* sums);

}  // namespace sonde
