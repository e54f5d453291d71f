// HyperLogLog++ sketches as ZetaSketch writes them: how many distinct values there were, in at most 2^precision bytes.
//
// A sketch's bytes are an AggregatorStateProto (aggregator.proto of ZetaSketch) with the extension
// HyperLogLogPlusUniqueStateProto, of encoding version 2.  The precision p is 10 to 24; that of cells is 15.  The sparse
// precision s is p + 5, but 25 at most:
//
//   1: 112, 2: how many values were added, 3: 2, 4: 8 (integers) or 11 (bytes and strings)
//   112: { 2: how many sparse values, if any; 3: p; 4: s; 5: registers  or  6: sparse values }
//
// Sparse values are ascending, as varints of the differences: the s first bits of a hash, or, when the last
// s - p of these are zeros, flag | the first p << 6 | the number of leading zeros in the rest of the hash + 1.
// If two values have the same first s bits, the greater stays.  Past three quarters of 2^p bytes the sketch becomes 2^p
// registers: for each first p bits, the most leading zeros in the rest of the hashes with these bits, + 1.
//
// Merging is associative and commutative in what a sketch counts.  (In its bytes nearly: whether a sketch
// that is at three quarters of 2^p bytes has become registers may depend on the order.)  Two sketches of different precisions
// make one of the lower precision.
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
  static constexpr int kPrecisionMin = 10;
  static constexpr int kPrecisionMax = 24;
  static constexpr int kCellPrecision = 15;

  // A sketch of no values.  `kind`: kHllInt64 or kHllBytes.
  explicit HllSketch(AggregateKind kind, int precision = kCellPrecision)
      : kind_(kind), precision_(precision) {}
  // A sketch of one value.
  static HllSketch Of(int64_t value);
  static HllSketch Of(std::string_view value);

  // A sketch as cells have it.  INVALID_ARGUMENT: not a sketch, or one of another kind of values or another precision than
  // kCellPrecision.
  static absl::StatusOr<HllSketch> Parse(AggregateKind kind, std::string_view state);
  std::string Serialize() const;

  // Parses a state of either kind of values, of any precision; kind() and precision() tell which it is.
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
  int precision() const { return precision_; }
  size_t MemoryBytes() const { return sparse_.capacity() * sizeof(uint32_t) + registers_.capacity(); }
  int64_t values_count() const { return values_count_; }
  bool is_sparse() const { return registers_.empty(); }

 private:
  int sparse_precision() const;
  size_t registers_count() const { return size_t{1} << precision_; }
  size_t sparse_bytes_max() const { return registers_count() / 4 * 3; }
  // The flag of sparse values with a rank, which sort behind all others.
  uint32_t rank_flag() const;
  // The greatest value of an index stays.  Only values with a rank can differ and have one index.
  bool HaveOneIndex(uint32_t a, uint32_t b) const;
  uint32_t SparseOf(uint64_t hash) const;
  // The sparse value of an index and, if it is needed, a rank.
  uint32_t SparseOf(uint32_t index, uint32_t rank) const;
  // A sparse value of this sketch as one of `to`, whose precision is not higher.
  uint32_t SparseFor(const HllSketch& to, uint32_t value) const;
  // Makes this a sketch of a precision that is not higher.
  void LowerPrecision(int precision);
  static absl::StatusOr<HllSketch> ParseState(AggregateKind kind, std::string_view state);
  void AddHash(uint64_t hash);
  // Of `other`, which has this precision.
  void MergeValues(const HllSketch& other);
  // `values`: ascending.
  void MergeSparse(const std::vector<uint32_t>& values);
  void AddSparse(uint32_t value);
  void MakeRegisters();
  void AddToRegisters(uint32_t sparse_value);
  absl::Status ParseSketch(std::string_view bytes);
  absl::Status ParseRegisters(std::string_view bytes);

  AggregateKind kind_;
  int precision_;
  int64_t values_count_ = 0;
  std::vector<uint32_t> sparse_;  // ascending, of each index one; empty when there are registers
  size_t sparse_bytes_ = 0;       // as they are written
  std::string registers_;         // empty, or registers_count() bytes
};

}  // namespace sonde
