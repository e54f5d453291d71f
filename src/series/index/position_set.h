// A set of positions in a block of entities (entity_block.h), and its bytes in a cell.
//
// The bytes are, all numbers as varints:
//   version    1 byte: 1
//   form       1 byte: 0: the positions below COUNT; 1: COUNT positions, each as the distance from the one before, of
//              which the first counts from -1; 2: COUNT words of 64 bits, the lowest position in the lowest bit of the
//              first word, little-endian
//   COUNT
//   positions  by form
//   CRC-32C    4 bytes, little-endian, of all before
// Threads: as a value.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sonde::series {

// Positions are below this.
constexpr size_t kBlockEntitiesMax = 65'535;

class PositionSet {
 public:
  PositionSet() = default;
  // The positions below `count`.
  static PositionSet Below(size_t count);
  // The positions [begin, end).
  static PositionSet Between(size_t begin, size_t end);

  void Add(size_t position) {
    const size_t word = position / kWordBits;
    if (word >= words_.size()) words_.resize(word + 1);
    words_[word] |= uint64_t{1} << position % kWordBits;
  }
  // Adds `position` + i for each bit i of `bits`.
  void AddBits(size_t position, uint64_t bits) {
    if (bits == 0) return;
    const size_t word = position / kWordBits, shift = position % kWordBits;
    const uint64_t above = shift == 0 ? 0 : bits >> (kWordBits - shift);
    const size_t end = word + (above == 0 ? 1 : 2);
    if (end > words_.size()) words_.resize(end);
    words_[word] |= bits << shift;
    if (above != 0) words_[word + 1] |= above;
  }
  bool Contains(size_t position) const {
    const size_t word = position / kWordBits;
    return word < words_.size() && (words_[word] >> position % kWordBits & 1) != 0;
  }
  void And(const PositionSet& other);
  void Or(const PositionSet& other);
  bool IsEmpty() const;
  size_t Count() const;
  size_t bytes() const { return words_.capacity() * sizeof(uint64_t); }
  // Calls `take` with each position, ascending.
  template <typename Take>
  void ForEach(Take take) const {
    for (size_t word = 0; word < words_.size(); ++word) {
      for (uint64_t bits = words_[word]; bits != 0; bits &= bits - 1) {
        take(word * kWordBits + static_cast<size_t>(std::countr_zero(bits)));
      }
    }
  }
  // The same positions, whatever room they have.
  bool operator==(const PositionSet& other) const;

 private:
  static constexpr size_t kWordBits = 64;

  std::vector<uint64_t> words_;
};

// In the form that takes the fewest bytes.
std::string EncodePositions(const PositionSet& positions);
// Adds the positions that `bytes` hold.  False: these are not bytes of EncodePositions; *positions has what it had.
[[nodiscard]] bool AddPositions(std::string_view bytes, PositionSet* positions);

}  // namespace sonde::series
