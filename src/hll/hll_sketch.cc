#include "hll/hll_sketch.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

#include "base/varint.h"
#include "hll/fingerprint.h"

namespace sonde {
namespace {

// Fields of AggregatorStateProto.
constexpr uint64_t kTypeField = 1, kValuesCountField = 2, kEncodingVersionField = 3, kValueTypeField = 4;
constexpr uint64_t kHyperLogLogPlus = 112;  // the type, and the extension's field
constexpr uint64_t kEncodingVersion = 2;
// Fields of HyperLogLogPlusUniqueStateProto.
constexpr uint64_t kSparseCountField = 2, kPrecisionField = 3, kSparsePrecisionField = 4, kRegistersField = 5,
                   kSparseField = 6;

constexpr uint64_t kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5;  // wire types

constexpr int kHashBits = 64;
constexpr int kRankBits = 6;
constexpr uint32_t kRankMask = (1u << kRankBits) - 1;
constexpr int kSparsePrecisionMax = 25;
constexpr int kMoreSparsePrecision = 5;

// ZetaSketch's number of what is counted: UINT64, BYTES_OR_UTF8_STRING.
uint64_t ValueTypeOf(AggregateKind kind) { return kind == AggregateKind::kHllInt64 ? 8 : 11; }

// How long the varint of a difference is.
size_t StepBytes(uint32_t from, uint32_t to) { return (std::bit_width((to - from) | 1u) + 6) / 7; }

// Leading zeros of the last `bits` bits of `value`, + 1.
uint8_t RankOf(uint64_t value, int bits) {
  const uint64_t rest = value << (kHashBits - bits);
  return static_cast<uint8_t>(rest == 0 ? bits + 1 : std::countl_zero(rest) + 1);
}

// The rank behind fewer of the bits of an index, of which `bits` become part of what is ranked.
uint8_t RankBehindFewer(uint32_t index, uint32_t rank, int bits) {
  const uint64_t suffix = index & ((uint64_t{1} << bits) - 1);
  return static_cast<uint8_t>(suffix == 0 ? rank + bits : RankOf(suffix, bits));
}

absl::Status NoSketch(std::string_view what) {
  return absl::InvalidArgumentError(fmt::format("The state is no HLL++ sketch of ZetaSketch: {}", what));
}

void PutNumber(std::string* out, uint64_t field, uint64_t value) {
  PutVarint(out, field * 8 + kVarint);
  PutVarint(out, value);
}

void PutString(std::string* out, uint64_t field, std::string_view bytes) {
  PutVarint(out, field * 8 + kBytes);
  PutBytes(out, bytes);
}

// Takes a field of a message from the front of *in.
struct Field {
  uint64_t number = 0;
  uint64_t value = 0;      // of kVarint
  std::string_view bytes;  // of kBytes
  bool is_bytes = false;

  bool Take(std::string_view* in) {
    uint64_t tag = 0;
    if (!GetVarint(in, &tag)) return false;
    number = tag / 8;
    switch (tag % 8) {
      case kVarint:
        return GetVarint(in, &value);
      case kBytes:
        is_bytes = true;
        return GetBytes(in, &bytes);
      case kFixed64:
      case kFixed32: {
        const size_t size = tag % 8 == kFixed64 ? 8 : 4;
        if (in->size() < size) return false;
        in->remove_prefix(size);
        number = 0;  // none of ours
        return true;
      }
      default:
        return false;
    }
  }
};

absl::Status ParseSparse(std::string_view bytes, int precision, int sparse_precision, uint32_t rank_flag,
                         std::vector<uint32_t>* values) {
  if (bytes.size() > size_t{1} << precision) {
    return NoSketch(fmt::format("{} bytes of sparse values; limit {}", bytes.size(), 1 << precision));
  }
  const uint32_t index_mask = (1u << (sparse_precision - precision)) - 1;
  const auto rank_max = static_cast<uint32_t>(kHashBits - sparse_precision + 1);
  uint64_t value = 0;
  while (!bytes.empty()) {
    uint64_t step = 0;
    if (!GetVarint(&bytes, &step) || step > 2 * uint64_t{rank_flag})
      return NoSketch("a sparse value is damaged");
    value += step;
    const uint64_t rank = value & kRankMask;
    const bool known = (value & rank_flag) != 0
                           ? value < 2 * uint64_t{rank_flag} && rank >= 1 && rank <= rank_max
                           : value < (1u << sparse_precision) && (value & index_mask) != 0;
    if (!known) return NoSketch(fmt::format("the sparse value {}", value));
    values->push_back(static_cast<uint32_t>(value));
  }
  return absl::OkStatus();
}

// Ertl's series: what registers that are 0, and those that are at their most, add to the sum of powers of the others.
double Sigma(double zeros) {
  if (zeros == 1) return std::numeric_limits<double>::infinity();
  double sum = zeros;
  double before = 0;
  for (double power = 1, x = zeros; sum != before; power *= 2) {
    before = sum;
    x *= x;
    sum += x * power;
  }
  return sum;
}

double Tau(double others) {
  if (others == 0 || others == 1) return 0;
  double sum = 1 - others;
  double before = 0;
  for (double power = 0.5, x = others; sum != before; power /= 2) {
    before = sum;
    x = std::sqrt(x);
    sum -= (1 - x) * (1 - x) * power;
  }
  return sum / 3;
}

}  // namespace

HllSketch HllSketch::Of(int64_t value) {
  HllSketch sketch(AggregateKind::kHllInt64);
  sketch.AddHash(Fingerprint2011(value));
  return sketch;
}

HllSketch HllSketch::Of(std::string_view value) {
  HllSketch sketch(AggregateKind::kHllBytes);
  sketch.AddHash(Fingerprint2011(value));
  return sketch;
}

int HllSketch::sparse_precision() const {
  return std::min(precision_ + kMoreSparsePrecision, kSparsePrecisionMax);
}

uint32_t HllSketch::rank_flag() const { return 1u << std::max(sparse_precision(), precision_ + kRankBits); }

bool HllSketch::HaveOneIndex(uint32_t a, uint32_t b) const {
  return a == b || ((a & b & rank_flag()) != 0 && a >> kRankBits == b >> kRankBits);
}

uint32_t HllSketch::SparseOf(uint64_t hash) const {
  const int sparse_precision = this->sparse_precision();
  return SparseOf(static_cast<uint32_t>(hash >> (kHashBits - sparse_precision)),
                  RankOf(hash, kHashBits - sparse_precision));
}

uint32_t HllSketch::SparseOf(uint32_t index, uint32_t rank) const {
  const int more = sparse_precision() - precision_;
  if ((index & ((1u << more) - 1)) != 0) return index;
  return rank_flag() | (index >> more) << kRankBits | rank;
}

uint32_t HllSketch::SparseFor(const HllSketch& to, uint32_t value) const {
  const bool has_rank = (value & rank_flag()) != 0;
  const uint32_t index =
      has_rank ? (value ^ rank_flag()) >> kRankBits << (sparse_precision() - precision_) : value;
  const uint32_t rank = has_rank ? value & kRankMask : 0;
  const int fewer = sparse_precision() - to.sparse_precision();
  return to.SparseOf(index >> fewer, RankBehindFewer(index, rank, fewer));
}

void HllSketch::LowerPrecision(int precision) {
  if (precision == precision_) return;
  HllSketch lower(kind_, precision);
  lower.values_count_ = values_count_;
  if (is_sparse()) {
    std::vector<uint32_t> values;
    values.reserve(sparse_.size());
    for (const uint32_t value : sparse_) values.push_back(SparseFor(lower, value));
    std::sort(values.begin(), values.end());
    if (!values.empty()) lower.MergeSparse(values);
  } else {
    lower.MakeRegisters();
    const int fewer = precision_ - precision;
    for (uint32_t i = 0; i < registers_.size(); ++i) {
      const auto rank = static_cast<uint8_t>(registers_[i]);
      if (rank == 0) continue;
      char& to = lower.registers_[i >> fewer];
      to = std::max(to, static_cast<char>(RankBehindFewer(i, rank, fewer)));
    }
  }
  *this = std::move(lower);
}

void HllSketch::AddHash(uint64_t hash) {
  AddSparse(SparseOf(hash));
  values_count_ = 1;
}

void HllSketch::AddHashes(absl::Span<const uint64_t> hashes) {
  values_count_ = static_cast<int64_t>(static_cast<uint64_t>(values_count_) + hashes.size());
  if (!is_sparse()) {
    for (const uint64_t hash : hashes) AddToRegisters(SparseOf(hash));
    return;
  }
  std::vector<uint32_t> values;
  values.reserve(hashes.size());
  for (const uint64_t hash : hashes) values.push_back(SparseOf(hash));
  std::sort(values.begin(), values.end());
  if (!values.empty()) MergeSparse(values);
}

int64_t HllSketch::Estimate() const {
  if (is_sparse()) {
    const double indexes = 1 << sparse_precision();
    return std::llround(indexes * std::log(indexes / (indexes - static_cast<double>(sparse_.size()))));
  }
  const int rank_max = kHashBits - precision_ + 1;
  std::array<double, kHashBits + 1> counts = {};
  for (const char rank : registers_) ++counts[static_cast<size_t>(rank)];
  const auto all = static_cast<double>(registers_count());
  double sum = all * Tau(1 - counts[rank_max] / all);
  for (int rank = rank_max - 1; rank >= 1; --rank) sum = (sum + counts[rank]) / 2;
  sum += all * Sigma(counts[0] / all);
  return std::llround(all * all / (2 * std::log(2.0)) / sum);
}

void HllSketch::AddToRegisters(uint32_t sparse_value) {
  const int more = sparse_precision() - precision_;
  uint32_t index = sparse_value >> more;
  uint8_t rank = RankOf(sparse_value, more);
  if ((sparse_value & rank_flag()) != 0) {
    index = (sparse_value ^ rank_flag()) >> kRankBits;
    rank = static_cast<uint8_t>((sparse_value & kRankMask) + more);
  }
  char& to = registers_[index];
  to = std::max(to, static_cast<char>(rank));
}

void HllSketch::MakeRegisters() {
  registers_.assign(registers_count(), '\0');
  for (const uint32_t value : sparse_) AddToRegisters(value);
  sparse_.clear();
  sparse_bytes_ = 0;
}

void HllSketch::AddSparse(uint32_t value) {
  auto at = std::lower_bound(sparse_.begin(), sparse_.end(), value);
  if (at != sparse_.end() && HaveOneIndex(value, *at)) return;  // that is greater or the same
  const bool replaces = at != sparse_.begin() && HaveOneIndex(*std::prev(at), value);
  if (replaces) {
    --at;
  } else {
    at = sparse_.insert(at, value);
  }
  // The steps to the value and from it on.
  const uint32_t before = at == sparse_.begin() ? 0 : *std::prev(at);
  const bool is_last = std::next(at) == sparse_.end();
  const auto steps_bytes = [&](uint32_t through) {
    return StepBytes(before, through) + (is_last ? 0 : StepBytes(through, *std::next(at)));
  };
  sparse_bytes_ -= replaces ? steps_bytes(*at) : is_last ? 0 : StepBytes(before, *std::next(at));
  *at = value;
  sparse_bytes_ += steps_bytes(value);
}

void HllSketch::MergeSparse(const std::vector<uint32_t>& values) {
  if (values.size() == 1) {
    AddSparse(values[0]);
  } else {
    std::vector<uint32_t> merged;
    merged.reserve(sparse_.size() + values.size());
    std::merge(sparse_.begin(), sparse_.end(), values.begin(), values.end(), std::back_inserter(merged));
    size_t kept = 0;
    uint32_t before = 0;
    sparse_bytes_ = 0;
    for (size_t i = 0; i < merged.size(); ++i) {
      if (i + 1 < merged.size() && HaveOneIndex(merged[i], merged[i + 1])) continue;
      sparse_bytes_ += StepBytes(before, merged[i]);
      before = merged[kept++] = merged[i];
    }
    merged.resize(kept);
    sparse_ = std::move(merged);
  }
  if (sparse_bytes_ > sparse_bytes_max()) MakeRegisters();
}

void HllSketch::Merge(const HllSketch& other) {
  values_count_ =
      static_cast<int64_t>(static_cast<uint64_t>(values_count_) + static_cast<uint64_t>(other.values_count_));
  if (other.precision_ > precision_) {
    HllSketch lower = other;
    lower.LowerPrecision(precision_);
    return MergeValues(lower);
  }
  LowerPrecision(other.precision_);
  MergeValues(other);
}

void HllSketch::MergeValues(const HllSketch& other) {
  if (is_sparse() && other.is_sparse()) return MergeSparse(other.sparse_);
  if (is_sparse()) MakeRegisters();
  for (const uint32_t value : other.sparse_) AddToRegisters(value);
  for (size_t i = 0; i < other.registers_.size(); ++i) {
    registers_[i] = std::max(registers_[i], other.registers_[i]);
  }
}

std::string HllSketch::Serialize() const {
  std::string sketch;
  if (!sparse_.empty()) PutNumber(&sketch, kSparseCountField, sparse_.size());
  PutNumber(&sketch, kPrecisionField, static_cast<uint64_t>(precision_));
  PutNumber(&sketch, kSparsePrecisionField, static_cast<uint64_t>(sparse_precision()));
  if (is_sparse()) {
    std::string values;
    uint32_t before = 0;
    for (const uint32_t value : sparse_) PutVarint(&values, value - std::exchange(before, value));
    PutString(&sketch, kSparseField, values);
  } else {
    PutString(&sketch, kRegistersField, registers_);
  }
  std::string state;
  PutNumber(&state, kTypeField, kHyperLogLogPlus);
  PutNumber(&state, kValuesCountField, static_cast<uint64_t>(values_count_));
  PutNumber(&state, kEncodingVersionField, kEncodingVersion);
  PutNumber(&state, kValueTypeField, ValueTypeOf(kind_));
  PutString(&state, kHyperLogLogPlus, sketch);
  return state;
}

absl::StatusOr<HllSketch> HllSketch::Parse(AggregateKind kind, std::string_view state) {
  absl::StatusOr<HllSketch> sketch = ParseState(kind, state);
  if (!sketch.ok() || sketch->precision_ == kCellPrecision) return sketch;
  return NoSketch(fmt::format("precision {}; that of cells is {}", sketch->precision_, kCellPrecision));
}

absl::StatusOr<HllSketch> HllSketch::ParseState(AggregateKind kind, std::string_view state) {
  HllSketch result(kind);
  uint64_t version = 1;  // when it is not said
  uint64_t value_type = 0;
  bool has_type = false, has_sketch = false;
  for (std::string_view in = state; !in.empty();) {
    Field field;
    if (!field.Take(&in)) return NoSketch("it is cut short");
    if (field.number == kHyperLogLogPlus && field.is_bytes) {
      if (absl::Status status = result.ParseSketch(field.bytes); !status.ok()) return status;
      has_sketch = true;
    } else if (field.is_bytes) {
      continue;
    } else if (field.number == kTypeField) {
      if (field.value != kHyperLogLogPlus) return NoSketch(fmt::format("aggregator {}", field.value));
      has_type = true;
    } else if (field.number == kValuesCountField) {
      result.values_count_ = static_cast<int64_t>(field.value);
    } else if (field.number == kEncodingVersionField) {
      version = field.value;
    } else if (field.number == kValueTypeField) {
      value_type = field.value;
    }
  }
  if (!has_type || !has_sketch) return NoSketch("fields are missing");
  if (version != kEncodingVersion) return NoSketch(fmt::format("encoding version {}, not 2", version));
  // 0: nothing was added yet.
  if (value_type != 0 && value_type != ValueTypeOf(kind)) {
    return NoSketch(fmt::format("value type {}; the family's is {}", value_type, ValueTypeOf(kind)));
  }
  return result;
}

absl::StatusOr<HllSketch> HllSketch::ParseAny(std::string_view state) {
  absl::StatusOr<HllSketch> sketch = ParseState(AggregateKind::kHllInt64, state);
  return sketch.ok() ? sketch : ParseState(AggregateKind::kHllBytes, state);
}

absl::Status HllSketch::ParseSketch(std::string_view bytes) {
  uint64_t precision = 0, sparse_precision = 0;
  std::string_view sparse_bytes, registers;
  for (std::string_view in = bytes; !in.empty();) {
    Field field;
    if (!field.Take(&in)) return NoSketch("it is cut short");
    if (field.number == kPrecisionField) {
      precision = field.value;
    } else if (field.number == kSparsePrecisionField) {
      sparse_precision = field.value;
    } else if (field.number == kSparseField && field.is_bytes) {
      sparse_bytes = field.bytes;
    } else if (field.number == kRegistersField && field.is_bytes) {
      registers = field.bytes;
    }
  }
  if (precision < kPrecisionMin || precision > kPrecisionMax) {
    return NoSketch(fmt::format("precision {}; {} to {} are taken", precision, kPrecisionMin, kPrecisionMax));
  }
  precision_ = static_cast<int>(precision);
  if (sparse_precision != static_cast<uint64_t>(this->sparse_precision())) {
    return NoSketch(fmt::format("precision {} and sparse precision {}; only {} is taken", precision,
                                sparse_precision, this->sparse_precision()));
  }
  sparse_.clear();
  sparse_bytes_ = 0;
  registers_.clear();
  if (absl::Status status = ParseRegisters(registers); !status.ok()) return status;
  std::vector<uint32_t> sparse;
  absl::Status status = ParseSparse(sparse_bytes, precision_, this->sparse_precision(), rank_flag(), &sparse);
  if (!status.ok()) return status;
  if (is_sparse()) {
    MergeSparse(sparse);
  } else {
    for (const uint32_t value : sparse) AddToRegisters(value);
  }
  return absl::OkStatus();
}

absl::Status HllSketch::ParseRegisters(std::string_view bytes) {
  if (bytes.empty()) return absl::OkStatus();
  if (bytes.size() != registers_count()) {
    return NoSketch(fmt::format("{} registers, not {}", bytes.size(), registers_count()));
  }
  const auto rank_max = static_cast<char>(kHashBits - precision_ + 1);
  if (std::any_of(bytes.begin(), bytes.end(), [&](char rank) { return rank < 0 || rank > rank_max; })) {
    return NoSketch("a register is out of its range");
  }
  registers_ = bytes;
  return absl::OkStatus();
}

}  // namespace sonde
