// Columns of integers: differences in time order, then an entropy coder, in blocks that can be decoded alone.
//
//   v = (value - base) / divisor        base: the least value; divisor: divides all differences
//   r = v (order 0), or the step v - (v before) (order 1), or the step less the step before (order 2)
//   u = r - step as it is (unsigned), or zig-zag (signed)
//
// All arithmetic is modulo 2^64, so any integers can be a column.  A u below 16 is a token of its own.  The
// token of a greater u names the length of u in bits and the two bits below the highest; the rest of u
// follows as raw bits.
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
//     bytes of the next two parts together
//     blocks, each of kBlockValues values (the last has the rest):
//       order 1, 2: its first v, less the first v of the block before (0 for the first)
//       order 2:    its first r of order 1, less the first r of the block before
//       bytes of the block
//     the blocks' bytes, one after the other: raw bits from the front, tokens from the end.  They hold
//     the u of each value that is not known already (known: the first of order 1, the first two of order 2).
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

// How a column is to be written.
struct IntegerPlan {
  uint64_t base = 0;
  uint64_t divisor = 1;
  int order = 0;
  bool is_signed = false;
  uint64_t step = 0;
  // About how many bits each value takes, without the bytes that a column takes once.
  double bits = 0;
};

// Finds a plan from a sample of the values, of which there must be at least one.
IntegerPlan PlanIntegers(absl::Span<const int64_t> values);

// Appends the column; at least one value.
void EncodeIntegers(absl::Span<const int64_t> values, std::string* out);
// Appends the column by a plan that was made from these values.
void EncodeIntegers(absl::Span<const int64_t> values, const IntegerPlan& plan, std::string* out);

// Reads a column.  Views the bytes.  Not for several threads.
class IntegerColumn {
 public:
  // Takes a column of `count` >= 1 values from the front of *in.
  [[nodiscard]] bool Parse(std::string_view* in, size_t count);

  size_t size() const { return count_; }
  // Decodes values [begin, end) to out[0] and on; end <= size().  If only a part of a block is asked for, the
  // decoded block is kept for the next call.  Calls for few values (at most kFewValues) come in no order, so
  // all blocks that they decode are kept for good.
  [[nodiscard]] bool Decode(size_t begin, size_t end, int64_t* out);
  [[nodiscard]] bool At(size_t index, int64_t* value) { return Decode(index, index + 1, value); }
  // Decodes all values.
  [[nodiscard]] bool DecodeAll(std::vector<int64_t>* values);
  // Decodes all values.  Returns false also if one is not in [least, most].
  [[nodiscard]] bool DecodeAll(int64_t least, int64_t most, std::vector<int64_t>* values);
  // Whether all values are equal, without decoding them.
  bool IsConstant(int64_t* value) const;
  // Bytes of the blocks that are kept for good.
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

  class PaddedBlock;
  template <int kOrder>
  class Sums;

  bool ParseBlocks(std::string_view* in);
  bool DecodeBlock(size_t index, int64_t* out);
  // Decodes a block and the next one.
  bool DecodeTwoBlocks(size_t index, int64_t* out);
  // Calls `decode` with the sums of a block, to which it puts each r that is not known, times the divisor.
  template <typename DecodeTo>
  bool WithSums(size_t index, int64_t* out, const DecodeTo& decode) const;
  template <int kOrder>
  bool DecodePacked(std::string_view bytes, size_t count, Sums<kOrder>* sums) const;
  // `raw_bytes`: the raw bits, with a margin behind.
  template <int kOrder>
  bool DecodeTokens(absl::Span<const uint8_t> tokens, std::string_view raw_bytes, Sums<kOrder>* to) const;
  const TokenDecoder& Decoder();
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
  // Copies values [begin, end) of a block; decodes the block, or it and the next one, if it is not kept.
  bool CopyFrom(size_t block, size_t begin, size_t end, bool takes_two, int64_t* out);
  bool GoesOn(size_t block, size_t begin, size_t end) const;
  // Decodes a block for a few values, and keeps it for good.
  bool KeepForGood(size_t block);

  // Decodes a block, or it and the next one, for the next calls, in kept_.
  bool Keep(size_t block, bool takes_two);
  bool IsKept(size_t block) const { return block >= kept_begin_ && block < kept_end_; }

  size_t kept_begin_ = 0, kept_end_ = 0;  // blocks
  std::vector<int64_t> kept_;             // their values

  // The values of a block, less the least of them, each in as few bytes as the greatest takes.
  struct KeptForGood {
    uint64_t least = 0;
    unsigned width = 0;  // 1, 2, 4 or 8; 0: it is not kept
    std::unique_ptr<char[]> bytes;
  };
  std::vector<KeptForGood> kept_for_good_;  // by block; empty if none is kept
  size_t kept_for_good_bytes_ = 0;
};

}  // namespace sonde::codec
