#include "series/index/position_set.h"

#include <algorithm>
#include <cstring>

#include "base/varint.h"
#include "series/index/checked_bytes.h"

namespace sonde::series {
namespace {

constexpr char kFormBelow = 0;
constexpr char kFormDistances = 1;
constexpr char kFormWords = 2;
constexpr size_t kPositionsWordBits = 64;
constexpr size_t kPositionWordsMax = (kBlockEntitiesMax + kPositionsWordBits - 1) / kPositionsWordBits;

// Of the positions, if they are the first ones.
bool IsBelow(const PositionSet& positions, size_t count) { return positions == PositionSet::Below(count); }

std::string Distances(const PositionSet& positions) {
  std::string bytes;
  int64_t before = -1;
  positions.ForEach([&](size_t position) {
    PutVarint(&bytes, static_cast<uint64_t>(static_cast<int64_t>(position) - before));
    before = static_cast<int64_t>(position);
  });
  return bytes;
}

bool ReadDistances(std::string_view in, uint64_t count, PositionSet* positions) {
  uint64_t next = 0;  // the lowest position that may come
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t distance = 0;
    if (!GetVarint(&in, &distance) || distance == 0 || distance > kBlockEntitiesMax - next) return false;
    next += distance;
    positions->Add(next - 1);
  }
  return in.empty();
}

bool ReadWords(std::string_view in, uint64_t count, PositionSet* positions) {
  if (count > kPositionWordsMax || in.size() != count * sizeof(uint64_t)) return false;
  for (size_t word = 0; word < count; ++word) {
    const uint64_t bits = ReadFixed64(in.substr(word * sizeof(uint64_t)));
    const size_t first = word * kPositionsWordBits;
    if (bits != 0 && first + static_cast<size_t>(std::bit_width(bits)) > kBlockEntitiesMax) return false;
    positions->AddBits(first, bits);
  }
  return true;
}

}  // namespace

PositionSet PositionSet::Below(size_t count) {
  PositionSet set;
  set.words_.assign((count + kWordBits - 1) / kWordBits, ~uint64_t{0});
  if (count % kWordBits != 0) set.words_.back() >>= kWordBits - count % kWordBits;
  return set;
}

PositionSet PositionSet::Between(size_t begin, size_t end) {
  PositionSet set = Below(end);
  const size_t word = std::min(begin / kWordBits, set.words_.size());
  std::fill_n(set.words_.begin(), word, uint64_t{0});
  if (word < set.words_.size()) set.words_[word] &= ~uint64_t{0} << begin % kWordBits;
  return set;
}

void PositionSet::And(const PositionSet& other) {
  if (words_.size() > other.words_.size()) words_.resize(other.words_.size());
  for (size_t i = 0; i < words_.size(); ++i) words_[i] &= other.words_[i];
}

void PositionSet::Or(const PositionSet& other) {
  if (words_.size() < other.words_.size()) words_.resize(other.words_.size());
  for (size_t i = 0; i < other.words_.size(); ++i) words_[i] |= other.words_[i];
}

bool PositionSet::IsEmpty() const {
  return std::all_of(words_.begin(), words_.end(), [](uint64_t word) { return word == 0; });
}

size_t PositionSet::Count() const {
  size_t count = 0;
  for (const uint64_t word : words_) count += static_cast<size_t>(std::popcount(word));
  return count;
}

bool PositionSet::operator==(const PositionSet& other) const {
  const size_t same = std::min(words_.size(), other.words_.size());
  const auto is_zero = [](uint64_t word) { return word == 0; };
  return std::equal(words_.begin(), words_.begin() + static_cast<ptrdiff_t>(same), other.words_.begin()) &&
         std::all_of(words_.begin() + static_cast<ptrdiff_t>(same), words_.end(), is_zero) &&
         std::all_of(other.words_.begin() + static_cast<ptrdiff_t>(same), other.words_.end(), is_zero);
}

std::string EncodePositions(const PositionSet& positions) {
  const size_t count = positions.Count();
  std::string bytes;
  if (IsBelow(positions, count)) {
    bytes += kFormBelow;
    PutVarint(&bytes, count);
    return CheckedBytes(bytes);
  }
  size_t last = 0;
  positions.ForEach([&](size_t position) { last = position; });
  const size_t words = last / kPositionsWordBits + 1;
  const std::string distances = Distances(positions);
  if (distances.size() <= words * sizeof(uint64_t)) {
    bytes += kFormDistances;
    PutVarint(&bytes, count);
    bytes += distances;
    return CheckedBytes(bytes);
  }
  bytes += kFormWords;
  PutVarint(&bytes, words);
  std::vector<uint64_t> bits(words);
  positions.ForEach([&](size_t position) {
    bits[position / kPositionsWordBits] |= uint64_t{1} << position % kPositionsWordBits;
  });
  for (const uint64_t word : bits) PutFixed64(&bytes, word);
  return CheckedBytes(bytes);
}

bool AddPositions(std::string_view bytes, PositionSet* positions) {
  std::string_view in;
  if (!ReadCheckedBytes(bytes, &in) || in.empty()) return false;
  const char form = in.front();
  in.remove_prefix(1);
  uint64_t count = 0;
  if (!GetVarint(&in, &count)) return false;
  PositionSet read;
  bool is_good = false;
  if (form == kFormBelow) {
    is_good = in.empty() && count <= kBlockEntitiesMax;
    if (is_good) read = PositionSet::Below(count);
  } else if (form == kFormDistances) {
    is_good = ReadDistances(in, count, &read);
  } else if (form == kFormWords) {
    is_good = ReadWords(in, count, &read);
  }
  if (is_good) positions->Or(read);
  return is_good;
}

}  // namespace sonde::series
