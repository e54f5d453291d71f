#include "sql/aggregate/double_sum.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "absl/status/status.h"
#include "base/check.h"
#include "base/lanes.h"
#include "sql/aggregate/aggregator_states.h"

namespace sonde::sql {
namespace {

constexpr int kDoubleMantissaBits = 52;
constexpr int kDoubleExponentMask = 0x7ff;
constexpr int kWordBits = 64;

}  // namespace

// --- WideSum

// The first 64 bits of what the words come to, whatever its sign.
struct WideSum::Magnitude {
  uint64_t top = 0;       // its highest bit is set, unless the sum is 0
  int exponent = 0;       // of the lowest bit of `top`: the sum is about top * 2^exponent
  bool has_more = false;  // bits below `top`
  bool negative = false;
};

void WideSum::Add(double value) {
  const auto bits = std::bit_cast<uint64_t>(value);
  const auto exponent = static_cast<int>(bits >> kDoubleMantissaBits & kDoubleExponentMask);
  uint64_t mantissa = bits & ((uint64_t{1} << kDoubleMantissaBits) - 1);
  const bool negative = bits >> (kWordBits - 1) != 0;
  if (exponent == kDoubleExponentMask) {
    has_nan_ |= mantissa != 0;
    has_infinity_ |= mantissa == 0 && !negative;
    has_minus_infinity_ |= mantissa == 0 && negative;
    return;
  }
  if (exponent != 0) mantissa |= uint64_t{1} << kDoubleMantissaBits;
  AddMantissa(mantissa, std::max(exponent - 1, 0), negative);
}

void WideSum::AddMantissa(uint64_t mantissa, int shift, bool negative) {
  const auto word = static_cast<size_t>(shift / kWordBits);
  const int bit = shift % kWordBits;
  const uint64_t parts[2] = {mantissa << bit, bit == 0 ? 0 : mantissa >> (kWordBits - bit)};
  uint64_t carry = 0;
  for (size_t i = word; i < kWords; ++i) {
    const uint64_t part = i - word < 2 ? parts[i - word] : 0;
    if (i - word >= 2 && carry == 0) return;
    uint64_t result = 0;
    if (negative) {
      const bool borrows = __builtin_sub_overflow(words_[i], part, &result);
      carry = static_cast<uint64_t>(__builtin_sub_overflow(result, carry, &result)) | uint64_t{borrows};
    } else {
      const bool carries = __builtin_add_overflow(words_[i], part, &result);
      carry = static_cast<uint64_t>(__builtin_add_overflow(result, carry, &result)) | uint64_t{carries};
    }
    words_[i] = result;
  }
}

void WideSum::Add(const WideSum& other) {
  uint64_t carry = 0;
  for (size_t i = 0; i < kWords; ++i) {
    const bool carries = __builtin_add_overflow(words_[i], other.words_[i], &words_[i]);
    carry = static_cast<uint64_t>(__builtin_add_overflow(words_[i], carry, &words_[i])) | uint64_t{carries};
  }
  has_nan_ |= other.has_nan_;
  has_infinity_ |= other.has_infinity_;
  has_minus_infinity_ |= other.has_minus_infinity_;
}

WideSum::Magnitude WideSum::MagnitudeOf() const {
  Magnitude magnitude;
  std::array<uint64_t, kWords> words = words_;
  magnitude.negative = words.back() >> (kWordBits - 1) != 0;
  if (magnitude.negative) {
    uint64_t carry = 1;
    for (uint64_t& word : words) {
      word = ~word + carry;
      carry = carry != 0 && word == 0 ? 1 : 0;
    }
  }
  size_t first = kWords;
  while (first > 0 && words[first - 1] == 0) --first;
  magnitude.exponent = kLeastExponent;
  if (first == 0) return magnitude;
  const size_t word = first - 1;
  const int zeros = std::countl_zero(words[word]);
  magnitude.top = words[word] << zeros;
  if (zeros > 0 && word > 0) magnitude.top |= words[word - 1] >> (kWordBits - zeros);
  magnitude.exponent += static_cast<int>(word) * kWordBits - zeros;
  for (size_t i = 0; i < word; ++i) {
    const uint64_t rest = i + 1 == word ? (zeros > 0 ? words[i] << zeros : words[i]) : words[i];
    magnitude.has_more |= rest != 0;
  }
  return magnitude;
}

namespace {

// number * 2^exponent, where `has_more` says that there is a little more than `number`.  All sums are multiples of
// the least double, so what ldexp gives is exact.
double RoundedToDouble(uint64_t number, bool has_more, int exponent) {
  return std::ldexp(static_cast<double>(number | (has_more ? 1 : 0)), exponent);
}

}  // namespace

absl::StatusOr<double> WideSum::Total() const {
  if (has_nan_ || (has_infinity_ && has_minus_infinity_)) return std::numeric_limits<double>::quiet_NaN();
  if (has_infinity_) return std::numeric_limits<double>::infinity();
  if (has_minus_infinity_) return -std::numeric_limits<double>::infinity();
  const Magnitude magnitude = MagnitudeOf();
  // The greatest double has 53 bits, from 2^971 on.
  constexpr int kGreatest = 971 - 11;
  constexpr uint64_t kGreatestTop = ~uint64_t{0} << 11;
  const bool is_beyond =
      magnitude.exponent > kGreatest ||
      (magnitude.exponent == kGreatest &&
       (magnitude.top > kGreatestTop || (magnitude.top == kGreatestTop && magnitude.has_more)));
  if (magnitude.top != 0 && is_beyond) return absl::OutOfRangeError("double overflow");
  const double total = RoundedToDouble(magnitude.top, magnitude.has_more, magnitude.exponent);
  return magnitude.negative ? -total : total;
}

long double WideSum::LongTotal() const {
  if (has_nan_ || has_infinity_ || has_minus_infinity_) return *Total();
  const Magnitude magnitude = MagnitudeOf();
  const long double total = std::ldexp(static_cast<long double>(magnitude.top), magnitude.exponent);
  return magnitude.negative ? -total : total;
}

void WideSum::AppendParts(std::vector<double>* parts) const {
  WideSum rest = *this;
  for (Magnitude magnitude = MagnitudeOf(); magnitude.top != 0; magnitude = rest.MagnitudeOf()) {
    // The first 53 bits, of which no double is too large but that of a sum beyond doubles.
    const double size = std::ldexp(static_cast<double>(magnitude.top >> 11), magnitude.exponent + 11);
    const double part = std::min(size, std::numeric_limits<double>::max());
    parts->push_back(magnitude.negative ? -part : part);
    rest.Add(-parts->back());
  }
}

void WideSum::Save(std::string* bytes) const {
  bytes->push_back(
      static_cast<char>((has_nan_ ? 1 : 0) | (has_infinity_ ? 2 : 0) | (has_minus_infinity_ ? 4 : 0)));
  for (const uint64_t word : words_) SaveNumber(word, bytes);
}

bool WideSum::Load(std::string_view* bytes) {
  if (bytes->empty() || static_cast<unsigned char>(bytes->front()) > 7) return false;
  const int flags = bytes->front();
  has_nan_ = (flags & 1) != 0;
  has_infinity_ = (flags & 2) != 0;
  has_minus_infinity_ = (flags & 4) != 0;
  bytes->remove_prefix(1);
  return std::all_of(words_.begin(), words_.end(),
                     [bytes](uint64_t& word) { return LoadNumber(bytes, &word); });
}

// --- DoubleSum

namespace {

// Far from overflow.
bool IsFarFromOverflow(double total) { return std::abs(total) < std::numeric_limits<double>::max() / 2; }

}  // namespace

DoubleSum::DoubleSum(const DoubleSum& other) { *this = other; }

DoubleSum& DoubleSum::operator=(const DoubleSum& other) {
  if (this == &other) return *this;
  high_ = other.high_;
  low_ = other.low_;
  wide_ = other.wide_ == nullptr ? nullptr : std::make_unique<WideSum>(*other.wide_);
  return *this;
}

void DoubleSum::AddToWide(double value) {
  if (wide_ == nullptr) wide_ = std::make_unique<WideSum>();
  wide_->Add(high_);
  wide_->Add(low_);
  high_ = 0;
  low_ = 0;
  if (std::isfinite(value)) {
    high_ = value;
  } else {
    wide_->Add(value);
  }
}

bool DoubleSum::AddBlock(const double* values, size_t count) {
  constexpr size_t kPairs = 4;
  constexpr size_t kLanes = 2 * kPairs;
  DCHECK(count % kLanes == 0);
  DoublePair high[kPairs] = {};
  DoublePair low[kPairs] = {};
  MaskPair failed = {};
  for (size_t i = 0; i < count; i += kLanes) {
    for (size_t p = 0; p < kPairs; ++p) {
      DoublePair value;
      std::memcpy(&value, values + i + 2 * p, sizeof(value));
      // As Add.
      const DoublePair sum = high[p] + value;
      const DoublePair part = sum - high[p];
      const DoublePair lost = (high[p] - (sum - part)) + (value - part);
      const DoublePair rest = low[p] + lost;
      const DoublePair low_part = rest - low[p];
      failed |= ((low[p] - (rest - low_part)) + (lost - low_part)) != 0;
      high[p] = sum;
      low[p] = rest;
    }
  }
  if ((failed[0] | failed[1]) != 0) return false;
  for (size_t p = 0; p < kPairs; ++p) {
    for (int lane = 0; lane < 2; ++lane) {
      Add(high[p][lane]);
      Add(low[p][lane]);
    }
  }
  return true;
}

void DoubleSum::AddAll(const double* values, size_t count) {
  constexpr size_t kBlock = 512;
  constexpr size_t kLeast = 32;
  size_t at = 0;
  while (count - at >= kLeast) {
    const size_t block = std::min(kBlock, (count - at) / 8 * 8);
    if (!AddBlock(values + at, block)) {
      for (size_t i = 0; i < block; ++i) Add(values[at + i]);
    }
    at += block;
  }
  for (; at < count; ++at) Add(values[at]);
}

void DoubleSum::Add(const DoubleSum& other) {
  const double high = other.high_;
  const double low = other.low_;
  if (other.wide_ != nullptr) {
    if (wide_ == nullptr) wide_ = std::make_unique<WideSum>();
    wide_->Add(*other.wide_);
  }
  Add(high);
  Add(low);
}

absl::StatusOr<double> DoubleSum::Total() const {
  const double total = high_ + low_;
  if (wide_ == nullptr && IsFarFromOverflow(total)) return total;
  WideSum all = wide_ == nullptr ? WideSum() : *wide_;
  all.Add(high_);
  all.Add(low_);
  return all.Total();
}

double DoubleSum::Mean(uint64_t count) const {
  return static_cast<double>(LongTotal() / static_cast<long double>(count));
}

long double DoubleSum::LongTotal() const {
  const long double total = static_cast<long double>(high_) + low_;
  if (wide_ == nullptr) return total;
  WideSum all = *wide_;
  all.Add(high_);
  all.Add(low_);
  return all.LongTotal();
}

void DoubleSum::Save(std::string* bytes) const {
  bytes->push_back(wide_ == nullptr ? 0 : 1);
  SaveNumber(high_, bytes);
  SaveNumber(low_, bytes);
  if (wide_ != nullptr) wide_->Save(bytes);
}

bool DoubleSum::Load(std::string_view* bytes) {
  if (bytes->empty() || static_cast<unsigned char>(bytes->front()) > 1) return false;
  const bool has_wide = bytes->front() == 1;
  bytes->remove_prefix(1);
  if (!LoadNumber(bytes, &high_) || !LoadNumber(bytes, &low_)) return false;
  if (!std::isfinite(high_) || !std::isfinite(low_)) return false;
  if (!has_wide) return true;
  wide_ = std::make_unique<WideSum>();
  return wide_->Load(bytes);
}

}  // namespace sonde::sql
