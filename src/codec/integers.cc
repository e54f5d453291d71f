#include "codec/integers.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>

#include "base/varint.h"
#include "codec/bits.h"
#include "codec/integer_format.h"

namespace sonde::codec {
namespace {

// The plan is made from so many stretches of so many values.
constexpr size_t kSampleStretches = 4;
constexpr size_t kSampleValues = 256;

unsigned TokenOf(uint64_t u) {
  if (u < kDirectTokens) return static_cast<unsigned>(u);
  const unsigned length = std::bit_width(u);
  const auto mantissa = static_cast<unsigned>(u >> (length - 1 - kMantissaBits)) & LowBits(kMantissaBits);
  return static_cast<unsigned>(kDirectTokens + ((length - 1 - kDirectBits) << kMantissaBits) + mantissa);
}

uint64_t ToU(uint64_t r, const IntegerPlan& plan) {
  r -= plan.step;
  return plan.is_signed ? ZigZag(static_cast<int64_t>(r)) : r;
}

// Bits a value that these take with their own frequencies, raw bits included.
double CostOf(absl::Span<const uint64_t> residuals, const IntegerPlan& plan) {
  std::array<uint16_t, kTokens> counts{};
  uint64_t raw_bits = 0;
  for (const uint64_t r : residuals) {
    const unsigned token = TokenOf(ToU(r, plan));
    ++counts[token];
    raw_bits += kMeanings[token].raw_bits;
  }
  const auto total = static_cast<double>(residuals.size());
  double bits = static_cast<double>(raw_bits);
  int kinds = 0;
  for (const uint16_t count : counts) {
    if (count == 0) continue;
    bits += count * std::log2(total / count);
    ++kinds;
  }
  // A sample says too little of many kinds that occur once each: the bits that the table will take stand in
  // for it.
  return (bits + kinds) / total;
}

// Differences of each order in a few stretches of consecutive values.
void Sample(absl::Span<const int64_t> values, uint64_t base, uint64_t divisor,
            std::array<std::vector<uint64_t>, 3>* residuals) {
  const size_t count = values.size();
  const bool whole = count <= kSampleStretches * kSampleValues;
  const size_t stretches = whole ? 1 : kSampleStretches;
  const size_t length = whole ? count : kSampleValues;
  for (size_t stretch = 0; stretch < stretches; ++stretch) {
    const size_t start = whole ? 0 : (count - length) / (stretches - 1) * stretch;
    uint64_t before = 0, difference_before = 0;
    for (size_t i = start; i < start + length; ++i) {
      uint64_t v = static_cast<uint64_t>(values[i]) - base;
      if (divisor != 1) v /= divisor;
      (*residuals)[0].push_back(v);
      if (i > start) (*residuals)[1].push_back(v - before);
      if (i > start + 1) (*residuals)[2].push_back(v - before - difference_before);
      difference_before = v - before;
      before = v;
    }
  }
}

uint64_t MedianOf(std::vector<uint64_t> residuals) {
  const auto middle = residuals.begin() + static_cast<std::ptrdiff_t>(residuals.size() / 2);
  std::nth_element(residuals.begin(), middle, residuals.end(),
                   [](uint64_t a, uint64_t b) { return static_cast<int64_t>(a) < static_cast<int64_t>(b); });
  return *middle;
}

uint64_t DivisorOf(absl::Span<const int64_t> values, uint64_t base) {
  uint64_t divisor = 0;
  for (const int64_t value : values) {
    const uint64_t v = static_cast<uint64_t>(value) - base;
    if (divisor != 0 && v % divisor == 0) continue;
    divisor = std::gcd(divisor, v);
    if (divisor == 1) return 1;
  }
  return divisor == 0 ? 1 : divisor;
}

void PutSigned(std::string* out, uint64_t value) { PutVarint(out, ZigZag(static_cast<int64_t>(value))); }
// The u of all values, and their tokens.
struct Residuals {
  std::vector<uint64_t> us;
  std::vector<uint8_t> tokens;
  std::array<uint32_t, kTokens> counts{};
  uint64_t raw_bits = 0;
  unsigned width = 0;
};

void FindResiduals(absl::Span<const int64_t> values, const IntegerPlan& plan, Residuals* out) {
  const size_t count = values.size();
  out->us.resize(count);
  out->tokens.resize(count);
  uint64_t* const us = out->us.data();
  for (size_t i = 0; i < count; ++i) us[i] = static_cast<uint64_t>(values[i]) - plan.base;
  if (plan.divisor != 1) {
    for (size_t i = 0; i < count; ++i) us[i] /= plan.divisor;
  }
  for (int order = 0; order < plan.order; ++order) {
    for (size_t i = count; i-- > 1;) us[i] -= us[i - 1];
  }
  // Equal tokens often follow each other: two counters do not wait for each other.
  std::array<uint32_t, kTokens> odd_counts{};
  uint64_t all = 0;
  for (size_t begin = 0; begin < count; begin += kBlockValues) {
    const size_t end = std::min(begin + kBlockValues, count);
    for (size_t i = begin + KnownOf(plan.order, end - begin); i < end; ++i) {
      const uint64_t u = ToU(us[i], plan);
      const unsigned token = TokenOf(u);
      us[i] = u;
      out->tokens[i] = static_cast<uint8_t>(token);
      ++((i & 1) ? odd_counts : out->counts)[token];
      all |= u;
    }
  }
  for (int token = 0; token < kTokens; ++token) {
    out->counts[token] += odd_counts[token];
    out->raw_bits += uint64_t{out->counts[token]} * kMeanings[token].raw_bits;
  }
  out->width = std::bit_width(all);
}

}  // namespace

IntegerPlan PlanIntegers(absl::Span<const int64_t> values) {
  const auto base = static_cast<uint64_t>(*std::min_element(values.begin(), values.end()));
  const uint64_t divisor = DivisorOf(values, base);
  std::array<std::vector<uint64_t>, 3> residuals;
  Sample(values, base, divisor, &residuals);
  IntegerPlan best{.base = base, .divisor = divisor};
  best.bits = CostOf(residuals[0], best);
  const auto consider = [&](IntegerPlan plan) {
    if (best.bits == 0 || residuals[plan.order].empty()) return;
    plan.bits = CostOf(residuals[plan.order], plan);
    if (plan.bits < best.bits) best = plan;
  };
  consider({.base = base, .divisor = divisor, .order = 1, .is_signed = true});
  consider({.base = base, .divisor = divisor, .order = 2, .is_signed = true});
  constexpr double kMedianBitsMin = 1;  // below, a step away from 0 gains nothing
  if (best.bits > kMedianBitsMin && !residuals[1].empty()) {
    consider(
        {.base = base, .divisor = divisor, .order = 1, .is_signed = true, .step = MedianOf(residuals[1])});
    consider(
        {.base = base, .divisor = divisor, .order = 0, .is_signed = true, .step = MedianOf(residuals[0])});
  }
  return best;
}

class IntegerEncoder {
 public:
  using Form = IntegerColumn::Form;

  // Finds a plan if it is given none.
  IntegerEncoder(absl::Span<const int64_t> values, const IntegerPlan* plan, std::string* out)
      : values_(values), given_plan_(plan), out_(*out) {}

  void Encode() {
    if (EncodeLine()) return;
    plan_ = given_plan_ != nullptr ? *given_plan_ : PlanIntegers(values_);
    FindResiduals(values_, plan_, &residuals_);
    ChooseForm();
    out_.push_back(static_cast<char>(form_));
    out_.push_back(static_cast<char>(plan_.order | (plan_.is_signed ? kSigned : 0)));
    PutSigned(&out_, plan_.base);
    PutVarint(&out_, plan_.divisor);
    PutSigned(&out_, plan_.step);
    if (form_ == Form::kPacked) {
      out_.push_back(static_cast<char>(residuals_.width));
    } else {
      frequencies_.Append(&out_);
    }
    EncodeBlocks();
  }

 private:
  bool EncodeLine() {
    const uint64_t first = static_cast<uint64_t>(values_[0]);
    const uint64_t step = values_.size() < 2 ? 0 : static_cast<uint64_t>(values_[1]) - first;
    for (size_t i = 1; i < values_.size(); ++i) {
      if (static_cast<uint64_t>(values_[i]) - static_cast<uint64_t>(values_[i - 1]) != step) return false;
    }
    out_.push_back(static_cast<char>(step == 0 ? Form::kConstant : Form::kLine));
    PutSigned(&out_, first);
    if (step != 0) PutSigned(&out_, step);
    return true;
  }

  void ChooseForm() {
    uint64_t coded = 0;
    for (const uint32_t count : residuals_.counts) coded += count;
    form_ = Form::kPacked;
    if (coded == 0) return;
    const uint64_t packed_bits = coded * residuals_.width;
    frequencies_ = TokenFrequencies::Of(residuals_.counts);
    std::string table;
    frequencies_.Append(&table);
    const size_t blocks = (values_.size() + kBlockValues - 1) / kBlockValues;
    double coded_bits = static_cast<double>(residuals_.raw_bits + 8 * (table.size() + 2 * blocks));
    for (int token = 0; token <= frequencies_.token_max(); ++token) {
      if (residuals_.counts[token] == 0) continue;
      coded_bits += residuals_.counts[token] *
                    (frequencies_.log() - std::log2(static_cast<double>(frequencies_.of(token))));
    }
    // Packed reads faster, and may cost a little more for it.
    constexpr double kPackedBonus = 0.98;
    if (coded_bits < static_cast<double>(packed_bits) * kPackedBonus) form_ = Form::kCoded;
  }

  void EncodeBlocks() {
    std::string heads, bytes;
    std::unique_ptr<TokenEncoder> encoder;
    if (form_ == Form::kCoded) encoder = std::make_unique<TokenEncoder>(frequencies_);
    uint64_t value_before = 0, difference_before = 0;
    for (size_t begin = 0; begin < values_.size(); begin += kBlockValues) {
      const size_t end = std::min(begin + kBlockValues, values_.size());
      if (plan_.order > 0) {
        const uint64_t v = ValueAt(begin);
        PutSigned(&heads, v - value_before);
        value_before = v;
      }
      if (plan_.order > 1) {
        const uint64_t difference = end - begin < 2 ? 0 : ValueAt(begin + 1) - ValueAt(begin);
        PutSigned(&heads, difference - difference_before);
        difference_before = difference;
      }
      const size_t start = bytes.size();
      EncodeBlock(begin + KnownOf(plan_.order, end - begin), end, encoder.get(), &bytes);
      PutVarint(&heads, bytes.size() - start);
    }
    PutVarint(&out_, heads.size() + bytes.size());
    out_ += heads;
    out_ += bytes;
  }

  void EncodeBlock(size_t begin, size_t end, const TokenEncoder* encoder, std::string* bytes) const {
    BitWriter raw(bytes);
    if (encoder == nullptr) {
      for (size_t i = begin; i < end; ++i) raw.Put(residuals_.us[i], residuals_.width);
      raw.Finish();
      return;
    }
    if (residuals_.raw_bits > 0) {
      for (size_t i = begin; i < end; ++i) {
        const TokenMeaning meaning = kMeanings[residuals_.tokens[i]];
        raw.Put(residuals_.us[i] - meaning.least, meaning.raw_bits);
      }
      raw.Finish();
    }
    encoder->Append(absl::MakeConstSpan(residuals_.tokens).subspan(begin, end - begin), bytes);
  }

  uint64_t ValueAt(size_t index) const {
    return (static_cast<uint64_t>(values_[index]) - plan_.base) / plan_.divisor;
  }

  const absl::Span<const int64_t> values_;
  const IntegerPlan* const given_plan_;
  std::string& out_;
  IntegerPlan plan_;
  Form form_ = Form::kPacked;
  Residuals residuals_;
  TokenFrequencies frequencies_;
};

void EncodeIntegers(absl::Span<const int64_t> values, std::string* out) {
  IntegerEncoder(values, nullptr, out).Encode();
}

void EncodeIntegers(absl::Span<const int64_t> values, const IntegerPlan& plan, std::string* out) {
  IntegerEncoder(values, &plan, out).Encode();
}

}  // namespace sonde::codec
