// HyperLogLog++ sketches as ZetaSketch writes them: how many distinct values there were, in at most 32 KiB.
//
// A sketch's bytes are an AggregatorStateProto (aggregator.proto of ZetaSketch) with the extension
// HyperLogLogPlusUniqueStateProto, of encoding version 2, precision 15 and sparse precision 20:
//
//   1: 112, 2: how many values were added, 3: 2, 4: 8 (integers) or 11 (bytes and strings)
//   112: { 2: how many sparse values, if any; 3: 15; 4: 20; 5: registers  or  6: sparse values }
//
// Sparse values are ascending, as varints of the differences: the 20 first bits of a hash, or, when the last
// 5 of these are zeros, flag | the first 15 << 6 | the number of leading zeros in the rest of the hash + 1.
// If two values have the same first 20 bits, the greater stays.  Past kSparseBytesMax the sketch becomes 2^15
// registers: for each first 15 bits, the most leading zeros in the rest of the hashes with these bits, + 1.
//
// Merging is associative and commutative in what a sketch counts.  (In its bytes nearly: whether a sketch
// that is at kSparseBytesMax has become registers may depend on the order.)
//
// Threads: not for several threads.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "model/cell.h"

namespace sonde {

class HllSketch {
 public:
  // A sketch of no values.  `kind`: kHllInt64 or kHllBytes.
  explicit HllSketch(AggregateKind kind) : kind_(kind) {}
  // A sketch of one value.
  static HllSketch Of(int64_t value);
  static HllSketch Of(std::string_view value);

  // INVALID_ARGUMENT: not a sketch, or one of another precision or kind of values.
  static absl::StatusOr<HllSketch> Parse(AggregateKind kind, std::string_view state);
  std::string Serialize() const;

  // Parses a state of either kind of values; kind() tells which it is.
  static absl::StatusOr<HllSketch> ParseAny(std::string_view state);

  // `other` is of the same kind.
  void Merge(const HllSketch& other);
  // Adds values by their hashes (fingerprint.h), many at a time: a sparse sketch is written anew each time.
  void AddHashes(absl::Span<const uint64_t> hashes);

  // How many distinct values there were, about: within 1 % mostly.  The count of a few thousand is nearly exact.
  // Source: linear counting while the sketch is sparse, as in HyperLogLog++; else Ertl: New cardinality estimation
  // algorithms for HyperLogLog sketches (2017), section 4, which needs no table of corrections.
  int64_t Estimate() const;

  AggregateKind kind() const { return kind_; }
  size_t MemoryBytes() const { return sparse_.capacity() * sizeof(uint32_t) + registers_.capacity(); }
  int64_t values_count() const { return values_count_; }
  bool is_sparse() const { return registers_.empty(); }

 private:
  static constexpr int kPrecision = 15;
  static constexpr int kSparsePrecision = 20;
  static constexpr size_t kRegisters = size_t{1} << kPrecision;
  static constexpr size_t kSparseBytesMax = kRegisters / 4 * 3;

  static uint32_t SparseOf(uint64_t hash);
  void AddHash(uint64_t hash);
  // `values`: ascending.
  void MergeSparse(const std::vector<uint32_t>& values);
  void AddSparse(uint32_t value);
  void MakeRegisters();
  void AddToRegisters(uint32_t sparse_value);
  absl::Status ParseSketch(std::string_view bytes);
  absl::Status ParseRegisters(std::string_view bytes);

  AggregateKind kind_;
  int64_t values_count_ = 0;
  std::vector<uint32_t> sparse_;  // ascending, of each index one; empty when there are registers
  size_t sparse_bytes_ = 0;       // as they are written
  std::string registers_;         // empty, or kRegisters bytes
};

}  // namespace sonde
