// Bits in bytes, the least significant bit first.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>

#include "base/check.h"

namespace sonde::codec {

inline uint64_t LoadLittleEndian64(const char* from) {
  static_assert(std::endian::native == std::endian::little, "columns are packed for little-endian machines");
  uint64_t word;
  std::memcpy(&word, from, sizeof(word));
  return word;
}

constexpr uint64_t LowBits(unsigned count) { return count == 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1; }

// Appends bits to *out.  Finish fills the last byte up with zeros.  Not for several threads.
class BitWriter {
 public:
  explicit BitWriter(std::string* out) : out_(out) {}

  // Appends the low `count` bits of `value`; its other bits must be 0; count <= 64.
  void Put(uint64_t value, unsigned count) {
    DCHECK(count <= 64 && (value & ~LowBits(count)) == 0);
    if (used_ + count > 64) {
      const unsigned first = 64 - used_;
      word_ |= value << used_;  // used_ < 64
      Flush();
      value = first == 64 ? 0 : value >> first;
      count -= first;
    }
    if (count == 0) return;
    word_ |= value << used_;
    used_ += count;
    if (used_ == 64) Flush();
  }
  void Finish() {
    out_->append(reinterpret_cast<const char*>(&word_), (used_ + 7) / 8);
    word_ = 0;
    used_ = 0;
  }

 private:
  void Flush() {
    out_->append(reinterpret_cast<const char*>(&word_), sizeof(word_));
    word_ = 0;
    used_ = 0;
  }

  std::string* out_;
  uint64_t word_ = 0;
  unsigned used_ = 0;
};

// Reads bits one after the other.  The bytes must be followed by 8 more readable bytes.  The caller must not
// take more bits than there are.  Not for several threads.
class BitReader {
 public:
  static constexpr unsigned kAtOnceMax = 57;

  explicit BitReader(const char* bytes) : bytes_(bytes) {}

  uint64_t Get(unsigned count) {
    if (count > kAtOnceMax) {
      const uint64_t low = Get(32);
      return low | Get(count - 32) << 32;
    }
    return GetAtOnce(count);
  }
  // As Get, but faster, for count <= kAtOnceMax.
  uint64_t GetAtOnce(unsigned count) {
    DCHECK(count <= kAtOnceMax);
    const uint64_t word = LoadLittleEndian64(bytes_ + position_ / 8) >> (position_ % 8);
    position_ += count;
    return word & ((uint64_t{1} << count) - 1);
  }

 private:
  const char* bytes_;
  size_t position_ = 0;
};

}  // namespace sonde::codec
