#include "keyviz/partition.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/varint.h"

namespace sonde {
namespace {

// The first eight bytes as a number in their order; a shorter text as if zeros followed.
uint64_t HeadOf(std::string_view text) {
  uint64_t head = 0;
  std::memcpy(&head, text.data(), std::min(text.size(), sizeof(head)));
  return ToBigEndian(head);
}

}  // namespace

Partition::Partition(std::vector<std::string> starts, std::vector<uint64_t> keys)
    : starts_(std::move(starts)), keys_(std::move(keys)) {
  if (size() < 2) return;
  const std::string& first = starts_[1];
  const std::string& last = starts_.back();
  const auto differ = std::mismatch(first.begin(), first.end(), last.begin(), last.end());
  shared_.assign(first.begin(), differ.first);
  heads_.reserve(size() - 1);
  for (size_t i = 1; i < size(); ++i)
    heads_.push_back(HeadOf(std::string_view(starts_[i]).substr(shared_.size())));
}

size_t Partition::Find(std::string_view key) const {
  if (heads_.empty()) return 0;
  if (!key.starts_with(shared_)) return key < shared_ ? 0 : size() - 1;
  const uint64_t head = HeadOf(key.substr(shared_.size()));
  const auto low = std::lower_bound(heads_.begin(), heads_.end(), head);
  if (low == heads_.end() || *low != head) return low - heads_.begin();
  // Eight bytes are not enough to tell.
  const auto high = std::upper_bound(low, heads_.end(), head);
  const auto from = starts_.begin() + 1;
  return std::upper_bound(from + (low - heads_.begin()), from + (high - heads_.begin()), key) -
         starts_.begin() - 1;
}

size_t Partition::FirstFrom(std::string_view key) const {
  return std::lower_bound(starts_.begin(), starts_.end(), key) - starts_.begin();
}

void Project(const Partition& from, const std::vector<AccessCounts>& counts, const Partition& to,
             std::vector<AccessCounts>* sums) {
  for (size_t i = 0; i < counts.size(); ++i) {
    if (counts[i].IsZero()) continue;
    const size_t first = to.Find(from.start(i));
    const size_t last =
        i + 1 == from.size() ? to.size() : std::max(to.FirstFrom(from.start(i + 1)), first + 1);
    for (size_t j = first; j < last; ++j) (*sums)[j].Add(counts[i].Part(j - first, last - first));
  }
}

}  // namespace sonde
