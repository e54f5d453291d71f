// Columns of integers: differences in time order, then an entropy coder, in blocks that are decoded alone.
//
//   v = (value - base) / divisor        base: the least value; divisor: divides all differences
//   r = v | v - v before | (v - v before) - the same before it        order 0, 1, 2
//   u = r - step as it is (unsigned), or zig-zag (signed)
//
// All arithmetic is modulo 2^64, so any integers can be a column.  A u below 16 is a token of its own; a
// greater one is a token that names its length in bits and the two bits below the highest, followed by the
// rest as raw bits.
//
// Layout (numbers are varints, zig-zag where they have a sign; the count of values is known outside):
//   form      1 byte: 0 constant, 1 line, 2 packed, 3 coded
//   constant  value
//   line      first value, step: value i is first + i * step
//   packed, coded:
//     1 byte: order, + 4 if signed
//     base, divisor, step
//     packed: width in bits, 1 byte: each u has as many
//     coded:  frequencies of tokens (codec/tokens.h)
//     size of the next two parts together
//     blocks, each of kBlockValues (the last of what is left):
//       order 1, 2: its first v, less the first v of the block before (0 for the first)
//       order 2:    its first r of order 1, less the same of the block before
//       size of its bytes
//     the bytes of each block, one after the other: raw bits from the front, tokens from the end.  They hold
//     the u of each value but those that are known already: the first of order 1, the first two of order 2.
//
// A column of n values of one entropy H costs about n * H bits, 20 bytes and 3 more a block.
// Readers return false for damaged bytes; they never read or write outside what they were given.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "base/varint.h"
#include "codec/tokens.h"

namespace sonde::codec {

constexpr size_t kBlockValues = kBlockTokensMax;
constexpr size_t kFewValues = 16;

// How a column is going to be written.
struct IntegerPlan {
  uint64_t base = 0;
  uint64_t divisor = 1;
  int order = 0;
  bool is_signed = false;
  uint64_t step = 0;
  // About how many bits a value takes, without what is written once a column.
  double bits = 0;
};

// Finds a plan from a few of the values; at least one.
IntegerPlan PlanIntegers(absl::Span<const int64_t> values);

// Appends the column; at least one value.
void EncodeIntegers(absl::Span<const int64_t> values, std::string* out);
// Likewise, by a plan that was made of these values.
void EncodeIntegers(absl::Span<const int64_t> values, const IntegerPlan& plan, std::string* out);

// A column that is read.  Views the bytes; not for several threads.
class IntegerColumn {
 public:
  // A column of `count` >= 1 values, from the front of *in.
  [[nodiscard]] bool Parse(std::string_view* in, size_t count);

  size_t size() const { return count_; }
  // Values [begin, end) to out[0] and on; end <= size().  A block that is decoded for a part is kept for the
  // next call; all that are decoded for few values (kFewValues) are kept for good: such calls come in no
  // order.
  [[nodiscard]] bool Decode(size_t begin, size_t end, int64_t* out);
  [[nodiscard]] bool At(size_t index, int64_t* value) { return Decode(index, index + 1, value); }
  // All of it.
  [[nodiscard]] bool DecodeAll(std::vector<int64_t>* values);
  // All of it, and each in [least, most].
  [[nodiscard]] bool DecodeAll(int64_t least, int64_t most, std::vector<int64_t>* values);
  // Whether all values are the same one, without decoding them.
  bool IsConstant(int64_t* value) const;
  // Of what is kept for good.
  size_t KeptBytes() const { return kept_for_good_bytes_; }

 private:
  enum class Form : uint8_t { kConstant = 0, kLine = 1, kPacked = 2, kCoded = 3 };
  friend class IntegerEncoder;

  struct Block {
    uint64_t first_value = 0;
    uint64_t first_difference = 0;
    uint32_t start = 0;
    uint32_t bytes = 0;
  };

  bool ParseBlocks(std::string_view* in);
  bool DecodeBlock(size_t index, int64_t* out);
  // The r of `count` values, times the divisor.
  bool DecodePacked(std::string_view bytes, size_t count, int64_t* out) const;
  bool DecodeCoded(std::string_view bytes, size_t count, int64_t* out);
  int64_t Scaled(uint64_t u) const {
    const uint64_t r = (signed_ ? static_cast<uint64_t>(UnZigZag(u)) : u) + step_;
    return static_cast<int64_t>(r * divisor_);
  }
  size_t ValuesOf(size_t block) const;

  Form form_ = Form::kConstant;
  size_t count_ = 0;
  uint64_t base_ = 0, step_ = 0, divisor_ = 1;
  int order_ = 0;
  bool signed_ = false;
  unsigned width_ = 0;
  std::string_view bytes_;
  std::vector<Block> blocks_;
  TokenFrequencies frequencies_;
  std::unique_ptr<TokenDecoder> decoder_;  // made when first needed
  // Values [begin, end) of a block, which is decoded if it is not kept.
  bool CopyFrom(size_t block, size_t begin, size_t end, int64_t* out);
  // A block that is decoded for few values.
  bool KeepForGood(size_t block);

  size_t kept_block_ = SIZE_MAX;
  std::vector<int64_t> kept_;

  // Values less the least of them, in as few bytes as all of them take.
  struct KeptForGood {
    uint64_t least = 0;
    unsigned width = 0;  // 1, 2, 4 or 8; 0: it is not kept
    std::unique_ptr<char[]> bytes;
  };
  std::vector<KeptForGood> kept_for_good_;  // by block, if there are any
  size_t kept_for_good_bytes_ = 0;
};

}  // namespace sonde::codec
