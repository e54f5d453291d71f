#include "codec/integers.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>

#include "base/varint.h"
#include "codec/bits.h"

namespace sonde::codec {
namespace {

constexpr uint64_t kDirectTokens = 16;
constexpr unsigned kDirectBits = 4;    // kDirectTokens is 2^kDirectBits
constexpr unsigned kMantissaBits = 2;  // of a greater number, named by its token
constexpr unsigned char kSigned = 4;

// The most bytes of a block, and the room around it when it is decoded.
constexpr size_t kBlockBytesMax = kBlockValues * 8 + kBlockTokenBytesMax;
constexpr size_t kMargin = 8;

// The plan is made from so many stretches of so many values.
constexpr size_t kSampleStretches = 4;
constexpr size_t kSampleValues = 256;

// Numbers of 1, 2, 4 or 8 bytes, in the machine's order.
template <typename Number>
uint64_t GetNumber(const char* from) {
  Number number;
  std::memcpy(&number, from, sizeof(number));
  return number;
}

uint64_t GetWidth(const char* from, unsigned width) {
  switch (width) {
    case 1:
      return GetNumber<uint8_t>(from);
    case 2:
      return GetNumber<uint16_t>(from);
    case 4:
      return GetNumber<uint32_t>(from);
    default:
      return GetNumber<uint64_t>(from);
  }
}

template <typename Number>
void PutNumber(uint64_t value, char* to) {
  const auto number = static_cast<Number>(value);
  std::memcpy(to, &number, sizeof(number));
}

void PutWidth(uint64_t value, unsigned width, char* to) {
  switch (width) {
    case 1:
      return PutNumber<uint8_t>(value, to);
    case 2:
      return PutNumber<uint16_t>(value, to);
    case 4:
      return PutNumber<uint32_t>(value, to);
    default:
      return PutNumber<uint64_t>(value, to);
  }
}

unsigned TokenOf(uint64_t u) {
  if (u < kDirectTokens) return static_cast<unsigned>(u);
  const unsigned length = std::bit_width(u);
  const auto mantissa = static_cast<unsigned>(u >> (length - 1 - kMantissaBits)) & LowBits(kMantissaBits);
  return static_cast<unsigned>(kDirectTokens + ((length - 1 - kDirectBits) << kMantissaBits) + mantissa);
}

// The meaning of a token: the least u, and how many raw bits are added.
struct TokenMeaning {
  uint64_t least;
  uint32_t raw_bits;
};
constexpr std::array<TokenMeaning, kTokens> MakeMeanings() {
  std::array<TokenMeaning, kTokens> meanings{};
  for (unsigned token = 0; token < kTokens; ++token) {
    if (token < kDirectTokens) {
      meanings[token] = {token, 0};
      continue;
    }
    const unsigned above = token - kDirectTokens;
    const unsigned raw_bits = (above >> kMantissaBits) + kDirectBits - kMantissaBits;
    const uint64_t top = (uint64_t{1} << kMantissaBits) | (above & LowBits(kMantissaBits));
    meanings[token] = {top << raw_bits, raw_bits};
  }
  return meanings;
}
constexpr std::array<TokenMeaning, kTokens> kMeanings = MakeMeanings();

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
bool GetSigned(std::string_view* in, uint64_t* value) {
  uint64_t u = 0;
  if (!GetVarint(in, &u)) return false;
  *value = static_cast<uint64_t>(UnZigZag(u));
  return true;
}

// How many values of a block are known before its bytes are read.
size_t KnownOf(int order, size_t values) { return std::min<size_t>(order, values); }

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

bool IntegerColumn::Parse(std::string_view* in, size_t count) {
  *this = IntegerColumn();
  count_ = count;
  if (in->empty() || static_cast<unsigned char>((*in)[0]) > static_cast<unsigned char>(Form::kCoded))
    return false;
  form_ = static_cast<Form>((*in)[0]);
  in->remove_prefix(1);
  if (form_ == Form::kConstant || form_ == Form::kLine) {
    return GetSigned(in, &base_) && (form_ == Form::kConstant || GetSigned(in, &step_));
  }
  if (in->empty()) return false;
  const auto kind = static_cast<unsigned char>((*in)[0]);
  in->remove_prefix(1);
  order_ = kind & ~kSigned;
  signed_ = (kind & kSigned) != 0;
  if (order_ > 2 || !GetSigned(in, &base_) || !GetVarint(in, &divisor_) || !GetSigned(in, &step_))
    return false;
  if (form_ == Form::kPacked) {
    if (in->empty()) return false;
    width_ = static_cast<unsigned char>((*in)[0]);
    in->remove_prefix(1);
    if (width_ > 64) return false;
  } else if (!frequencies_.Parse(in)) {
    return false;
  }
  std::string_view blocks;
  return GetBytes(in, &blocks) && ParseBlocks(&blocks);
}

bool IntegerColumn::ParseBlocks(std::string_view* in) {
  const size_t blocks = (count_ + kBlockValues - 1) / kBlockValues;
  if (blocks > in->size()) return false;
  blocks_.reserve(blocks);
  uint64_t value = 0, difference = 0;
  uint64_t start = 0;
  for (size_t i = 0; i < blocks; ++i) {
    uint64_t change = 0, bytes = 0;
    if (order_ > 0) {
      if (!GetSigned(in, &change)) return false;
      value += change;
    }
    if (order_ > 1) {
      if (!GetSigned(in, &change)) return false;
      difference += change;
    }
    if (!GetVarint(in, &bytes) || bytes > kBlockBytesMax) return false;
    blocks_.push_back({value, difference, static_cast<uint32_t>(start), static_cast<uint32_t>(bytes)});
    start += bytes;
    if (start > UINT32_MAX) return false;
  }
  bytes_ = *in;
  return start == bytes_.size();
}

size_t IntegerColumn::ValuesOf(size_t block) const {
  return std::min(kBlockValues, count_ - block * kBlockValues);
}

bool IntegerColumn::DecodeBlock(size_t index, int64_t* out) {
  const Block& block = blocks_[index];
  const size_t values = ValuesOf(index);
  const size_t known = KnownOf(order_, values);

  char padded[kMargin + kBlockBytesMax + kMargin];
  std::memset(padded, 0, kMargin);
  char* const bytes = padded + kMargin;
  std::memcpy(bytes, bytes_.data() + block.start, block.bytes);
  std::memset(bytes + block.bytes, 0, kMargin);
  const bool decoded = form_ == Form::kPacked
                           ? DecodePacked({bytes, block.bytes}, values - known, out + known)
                           : DecodeCoded({bytes, block.bytes}, values - known, out + known);
  if (!decoded) return false;

  // Everything was scaled by the divisor at once: sums of scaled differences are scaled sums.
  if (order_ == 0) {
    for (size_t i = 0; i < values; ++i) out[i] = static_cast<int64_t>(static_cast<uint64_t>(out[i]) + base_);
    return true;
  }
  uint64_t value = base_ + block.first_value * divisor_;
  out[0] = static_cast<int64_t>(value);
  if (order_ == 1) {
    for (size_t i = 1; i < values; ++i) {
      value += static_cast<uint64_t>(out[i]);
      out[i] = static_cast<int64_t>(value);
    }
    return true;
  }
  uint64_t difference = block.first_difference * divisor_;
  if (values > 1) out[1] = 0;
  for (size_t i = 1; i < values; ++i) {
    difference += static_cast<uint64_t>(out[i]);
    value += difference;
    out[i] = static_cast<int64_t>(value);
  }
  return true;
}

bool IntegerColumn::DecodePacked(std::string_view bytes, size_t count, int64_t* out) const {
  if ((count * width_ + 7) / 8 != bytes.size()) return false;
  BitReader raw(bytes.data());
  for (size_t i = 0; i < count; ++i) out[i] = Scaled(raw.Get(width_));
  return true;
}

bool IntegerColumn::DecodeCoded(std::string_view bytes, size_t count, int64_t* out) {
  if (decoder_ == nullptr) decoder_ = std::make_unique<TokenDecoder>(frequencies_);
  uint8_t tokens[kBlockValues];
  size_t rest = 0;
  if (!decoder_->Decode(bytes, count, tokens, &rest)) return false;
  int64_t direct[kDirectTokens];
  for (uint64_t token = 0; token < kDirectTokens; ++token) direct[token] = Scaled(token);
  if (rest == 0) {
    uint8_t all = 0;
    for (size_t i = 0; i < count; ++i) {
      all |= tokens[i];
      out[i] = direct[tokens[i] % kDirectTokens];
    }
    return all < kDirectTokens;
  }
  size_t raw_bits = 0;
  for (size_t i = 0; i < count; ++i) raw_bits += kMeanings[tokens[i]].raw_bits;
  if ((raw_bits + 7) / 8 != rest) return false;
  BitReader raw(bytes.data());
  if (raw_bits < count) {  // greater numbers are rare: a branch costs less than reading no bits
    for (size_t i = 0; i < count; ++i) {
      const uint8_t token = tokens[i];
      if (token < kDirectTokens) {
        out[i] = direct[token];
      } else {
        out[i] = Scaled(kMeanings[token].least + raw.Get(kMeanings[token].raw_bits));
      }
    }
    return true;
  }
  if (kMeanings[frequencies_.token_max()].raw_bits > BitReader::kAtOnceMax) {
    for (size_t i = 0; i < count; ++i) {
      const TokenMeaning meaning = kMeanings[tokens[i]];
      out[i] = Scaled(meaning.least + raw.Get(meaning.raw_bits));
    }
    return true;
  }
  for (size_t i = 0; i < count; ++i) {
    const TokenMeaning meaning = kMeanings[tokens[i]];
    out[i] = Scaled(meaning.least + raw.GetAtOnce(meaning.raw_bits));
  }
  return true;
}

bool IntegerColumn::Decode(size_t begin, size_t end, int64_t* out) {
  if (form_ == Form::kConstant || form_ == Form::kLine) {
    uint64_t value = base_ + begin * step_;
    for (size_t i = begin; i < end; ++i) {
      *out++ = static_cast<int64_t>(value);
      value += step_;
    }
    return true;
  }
  while (begin < end) {
    const size_t block = begin / kBlockValues;
    const size_t first = block * kBlockValues;
    const size_t last = first + ValuesOf(block);
    const size_t stop = std::min(end, last);
    if (begin == first && stop == last && block != kept_block_) {
      if (!DecodeBlock(block, out)) return false;
    } else {
      if (!CopyFrom(block, begin - first, stop - first, out)) return false;
    }
    out += stop - begin;
    begin = stop;
  }
  return true;
}

bool IntegerColumn::CopyFrom(size_t block, size_t begin, size_t end, int64_t* out) {
  const bool is_kept = !kept_for_good_.empty() && kept_for_good_[block].width != 0;
  if (is_kept || (end - begin <= kFewValues && block != kept_block_)) {
    if (!is_kept && !KeepForGood(block)) return false;
    const KeptForGood& kept = kept_for_good_[block];
    for (size_t i = begin; i < end; ++i) {
      *out++ = static_cast<int64_t>(kept.least + GetWidth(kept.bytes.get() + i * kept.width, kept.width));
    }
    return true;
  }
  if (block != kept_block_) {
    kept_.resize(kBlockValues);
    kept_block_ = SIZE_MAX;
    if (!DecodeBlock(block, kept_.data())) return false;
    kept_block_ = block;
  }
  std::copy(kept_.begin() + static_cast<std::ptrdiff_t>(begin),
            kept_.begin() + static_cast<std::ptrdiff_t>(end), out);
  return true;
}

bool IntegerColumn::KeepForGood(size_t block) {
  int64_t values[kBlockValues];
  if (!DecodeBlock(block, values)) return false;
  const size_t count = ValuesOf(block);
  const auto [least, most] = std::minmax_element(values, values + count);
  KeptForGood kept;
  kept.least = static_cast<uint64_t>(*least);
  const uint64_t spread = static_cast<uint64_t>(*most) - kept.least;
  kept.width = spread <= UINT8_MAX ? 1 : spread <= UINT16_MAX ? 2 : spread <= UINT32_MAX ? 4 : 8;
  kept.bytes = std::make_unique_for_overwrite<char[]>(count * kept.width);
  for (size_t i = 0; i < count; ++i) {
    PutWidth(static_cast<uint64_t>(values[i]) - kept.least, kept.width, kept.bytes.get() + i * kept.width);
  }
  kept_for_good_bytes_ += count * kept.width;
  kept_for_good_.resize(blocks_.size());
  kept_for_good_[block] = std::move(kept);
  return true;
}

bool IntegerColumn::DecodeAll(std::vector<int64_t>* values) {
  values->resize(count_);
  return Decode(0, count_, values->data());
}

bool IntegerColumn::DecodeAll(int64_t least, int64_t most, std::vector<int64_t>* values) {
  return DecodeAll(values) && std::all_of(values->begin(), values->end(), [least, most](int64_t value) {
           return value >= least && value <= most;
         });
}

bool IntegerColumn::IsConstant(int64_t* value) const {
  *value = static_cast<int64_t>(base_);
  return form_ == Form::kConstant;
}

}  // namespace sonde::codec
