#include "codec/values.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "base/number_loops.h"
#include "base/varint.h"

namespace sonde::codec {
namespace {

constexpr int kDoubleDecimalsMax = 17;
constexpr int64_t kDoubleIntegerMax = int64_t{1} << 53;
constexpr std::array<double, kDoubleDecimalsMax + 1> kDoublePowers = {
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17};

// A form that would leave out more than one value in so many is not tried.
constexpr size_t kExceptionShare = 8;
// An index, a length, and the bytes.
constexpr double kExceptionBits = 24;
// So many values, evenly spread, are looked at before all are.
constexpr size_t kProbes = 512;
constexpr size_t kDictionaryMax = 4096;
// Numbers that take more than this of their bytes are held against zstd.
constexpr double kDenseShare = 0.7;

uint64_t LoadBigEndian(std::string_view bytes) {
  if (bytes.size() == 8) {
    uint64_t word;
    std::memcpy(&word, bytes.data(), 8);
    return ToBigEndian(word);
  }
  uint64_t word = 0;
  for (const char c : bytes) word = word << 8 | static_cast<unsigned char>(c);
  return word;
}

constexpr uint64_t kSignBit = uint64_t{1} << 63;

// A double's bits as an integer that is ordered as doubles are.  -0 has none of its own.
int64_t OrderOf(uint64_t bits) {
  return (bits & kSignBit) ? -static_cast<int64_t>(bits & ~kSignBit) : static_cast<int64_t>(bits);
}
uint64_t BitsOf(int64_t order) {
  return order < 0 ? (-static_cast<uint64_t>(order)) | kSignBit : static_cast<uint64_t>(order);
}

// The integer that form 3 writes for a double, if it comes back from it.
bool ToScaled(double value, int decimals, int64_t* integer) {
  const double scaled = value * kDoublePowers[decimals];
  if (!(std::abs(scaled) <= static_cast<double>(kDoubleIntegerMax))) return false;
  // Rounds to the nearest whole number: below 2^52 the sum has no more bits for a fraction.
  constexpr double kRounder = 0x1.8p52;
  const double rounded = std::abs(scaled) < 0x1p51 ? (scaled + kRounder) - kRounder : std::nearbyint(scaled);
  *integer = static_cast<int64_t>(rounded);
  return std::bit_cast<uint64_t>(static_cast<double>(*integer) / kDoublePowers[decimals]) ==
         std::bit_cast<uint64_t>(value);
}

// Values in a form of integers, and what does not fit it.
struct Numbers {
  std::vector<int64_t> integers;
  std::vector<int64_t> exceptions;

  explicit Numbers(size_t count) { integers.reserve(count); }
  void Add(int64_t integer) { integers.push_back(integer); }
  void AddException() {
    exceptions.push_back(static_cast<int64_t>(integers.size()));
    integers.push_back(integers.empty() ? 0 : integers.back());  // costs the least
  }
  bool TooManyExceptions() const { return exceptions.size() > integers.size() / kExceptionShare; }
};

}  // namespace

class ValueEncoder {
 public:
  using Form = ValueColumn::Form;

  ValueEncoder(absl::Span<const std::string_view> values, std::string* out) : values_(values), out_(*out) {}

  void Encode() {
    if (EncodeConstant()) return;
    for (const std::string_view value : values_) bytes_ += value.size();
    const double bits_plain = 8.0 * static_cast<double>(bytes_) / static_cast<double>(values_.size());
    TryDecimalText();
    if (best_ == nullptr) TryFixedWidth();
    if (TryDictionary()) return;
    std::string strings;
    if (best_ == nullptr || best_bits_ > kDenseShare * bits_plain) {
      strings.push_back(static_cast<char>(Form::kStrings));
      EncodeStrings(values_, &strings);
    }
    if (best_ == nullptr) {
      std::string texts = {static_cast<char>(Form::kTexts)};
      if (EncodeAlikeTexts(values_, &texts) && texts.size() < strings.size()) strings = std::move(texts);
    }
    if (best_ == nullptr) {
      out_ += strings;
      return;
    }
    const size_t start = out_.size();
    AppendNumbers();
    if (!strings.empty() && strings.size() < out_.size() - start) {
      out_.resize(start);
      out_ += strings;
    }
  }

 private:
  bool EncodeConstant() {
    const std::string_view first = values_[0];
    if (!std::all_of(values_.begin(), values_.end(),
                     [first](std::string_view value) { return value == first; }))
      return false;
    out_.push_back(static_cast<char>(Form::kConstant));
    PutBytes(&out_, first);
    return true;
  }

  // Keeps it if it takes less than what was found before.
  void Consider(Form form, std::unique_ptr<Numbers> numbers) {
    const auto count = static_cast<double>(values_.size());
    const IntegerPlan plan = PlanIntegers(numbers->integers);
    const double bits = plan.bits + static_cast<double>(numbers->exceptions.size()) / count *
                                        (kExceptionBits + 8.0 * static_cast<double>(bytes_) / count);
    if (best_ != nullptr && bits >= best_bits_) return;
    best_ = std::move(numbers);
    best_plan_ = plan;
    best_bits_ = bits;
    form_ = form;
  }

  size_t ProbeStride() const { return std::max<size_t>(1, values_.size() / kProbes); }

  void TryDecimalText() {
    DecimalSurvey survey;
    size_t probes = 0, refused = 0;
    WrittenDecimal decimal;
    for (size_t i = 0; i < values_.size(); i += ProbeStride()) {
      ++probes;
      if (ReadDecimal(values_[i], &decimal)) {
        survey.Add(decimal);
      } else if (++refused > values_.size() / ProbeStride() / kExceptionShare) {
        return;
      }
    }
    if (refused * kExceptionShare > probes) return;
    const DecimalStyle style = survey.Style();
    auto numbers = std::make_unique<Numbers>(values_.size());
    for (const std::string_view value : values_) {
      int64_t integer = 0;
      if (ReadDecimal(value, &decimal) && ToInteger(decimal, style, &integer)) {
        numbers->Add(integer);
      } else {
        numbers->AddException();
      }
    }
    if (numbers->TooManyExceptions()) return;
    style_ = style;
    Consider(Form::kDecimalText, std::move(numbers));
  }

  void TryFixedWidth() {
    const size_t width = values_[0].size();
    if (width == 0 || width > 8) return;
    if (!std::all_of(values_.begin(), values_.end(),
                     [width](std::string_view value) { return value.size() == width; })) {
      return;
    }
    width_ = width;
    auto numbers = std::make_unique<Numbers>(values_.size());
    for (const std::string_view value : values_) numbers->Add(static_cast<int64_t>(LoadBigEndian(value)));
    const std::vector<int64_t> words = numbers->integers;
    Consider(Form::kBigEndian, std::move(numbers));
    if (width == sizeof(double)) {
      TryDoubles(words);
      TryDoubleBits(words);
    }
  }

  void TryDoubles(absl::Span<const int64_t> words) {
    std::array<uint32_t, kDoubleDecimalsMax + 1> counts{};
    uint32_t probes = 0, left_out = 0;
    for (size_t i = 0; i < words.size(); i += ProbeStride()) {
      const auto value = std::bit_cast<double>(words[i]);
      ++probes;
      int64_t integer = 0;
      int decimals = 0;
      while (decimals <= kDoubleDecimalsMax && !ToScaled(value, decimals, &integer)) ++decimals;
      if (decimals <= kDoubleDecimalsMax) {
        ++counts[decimals];
      } else {
        ++left_out;
      }
    }
    if (left_out > probes / kExceptionShare) return;
    // One decimal more makes every number longer: a few that need it are better left out.
    constexpr uint32_t kLeftOutShare = 64;
    int decimals = kDoubleDecimalsMax;
    for (uint32_t needed = 0; decimals > 0; --decimals) {
      needed += counts[decimals];
      if (needed > probes / kLeftOutShare) break;
    }
    auto numbers = std::make_unique<Numbers>(words.size());
    for (const int64_t word : words) {
      int64_t integer = 0;
      if (ToScaled(std::bit_cast<double>(word), decimals, &integer)) {
        numbers->Add(integer);
      } else {
        numbers->AddException();
      }
    }
    if (numbers->TooManyExceptions()) return;
    decimals_ = decimals;
    Consider(Form::kDouble, std::move(numbers));
  }

  void TryDoubleBits(absl::Span<const int64_t> words) {
    auto numbers = std::make_unique<Numbers>(words.size());
    for (const int64_t word : words) {
      if (static_cast<uint64_t>(word) == kSignBit) {
        numbers->AddException();
      } else {
        numbers->Add(OrderOf(static_cast<uint64_t>(word)));
      }
    }
    if (numbers->TooManyExceptions()) return;
    Consider(Form::kDoubleBits, std::move(numbers));
  }

  // True: there are few different values, and their numbers take less than what was found before.
  bool TryDictionary() {
    absl::flat_hash_map<std::string_view, uint32_t> found;
    size_t probes = 0;
    for (size_t i = 0; i < values_.size(); i += ProbeStride()) {
      ++found[values_[i]];
      ++probes;
    }
    if (found.size() > std::max<size_t>(probes / 4, 2)) return false;
    if (best_ != nullptr) {
      double bits = 0;
      for (const auto& [value, count] : found) bits += count * std::log2(static_cast<double>(probes) / count);
      if (bits / static_cast<double>(probes) >= best_bits_) return false;
    }
    found.clear();
    std::vector<int64_t> indexes;
    std::vector<std::string_view> entries;
    std::vector<uint32_t> counts;
    indexes.reserve(values_.size());
    for (const std::string_view value : values_) {
      const auto [it, added] = found.try_emplace(value, entries.size());
      if (added) {
        if (entries.size() == kDictionaryMax || entries.size() > values_.size() / 4 + 2) return false;
        entries.push_back(value);
        counts.push_back(0);
      }
      ++counts[it->second];
      indexes.push_back(it->second);
    }
    std::vector<uint32_t> order(entries.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](uint32_t a, uint32_t b) { return counts[a] > counts[b]; });
    std::vector<uint32_t> rank(entries.size());
    std::vector<std::string_view> ranked;
    size_t entry_bytes = 0;
    for (uint32_t i = 0; i < order.size(); ++i) {
      rank[order[i]] = i;
      ranked.push_back(entries[order[i]]);
      entry_bytes += entries[order[i]].size() + 1;
    }
    for (int64_t& index : indexes) index = rank[index];
    const auto count = static_cast<double>(values_.size());
    if (best_ != nullptr &&
        PlanIntegers(indexes).bits * count + 8.0 * static_cast<double>(entry_bytes) >= best_bits_ * count) {
      return false;
    }
    out_.push_back(static_cast<char>(Form::kDictionary));
    PutVarint(&out_, ranked.size());
    EncodeStrings(ranked, &out_);
    EncodeIntegers(indexes, &out_);
    return true;
  }

  void AppendNumbers() {
    out_.push_back(static_cast<char>(form_));
    if (form_ == Form::kBigEndian) out_.push_back(static_cast<char>(width_));
    if (form_ == Form::kDouble) out_.push_back(static_cast<char>(decimals_));
    if (form_ == Form::kDecimalText) {
      out_.push_back(static_cast<char>(style_.decimals));
      out_.push_back(static_cast<char>(style_.decimals_min));
      out_.push_back(static_cast<char>(style_.digits_min));
    }
    EncodeIntegers(best_->integers, best_plan_, &out_);
    if (form_ == Form::kBigEndian) return;
    PutVarint(&out_, best_->exceptions.size());
    if (best_->exceptions.empty()) return;
    EncodeIntegers(best_->exceptions, &out_);
    std::vector<std::string_view> left_out;
    for (const int64_t index : best_->exceptions) left_out.push_back(values_[index]);
    EncodeStrings(left_out, &out_);
  }

  const absl::Span<const std::string_view> values_;
  std::string& out_;
  uint64_t bytes_ = 0;
  // The best form so far.
  std::unique_ptr<Numbers> best_;
  IntegerPlan best_plan_;
  double best_bits_ = 0;
  Form form_ = Form::kStrings;
  DecimalStyle style_;
  size_t width_ = 0;
  int decimals_ = 0;
};

void EncodeValues(absl::Span<const std::string_view> values, std::string* out) {
  ValueEncoder(values, out).Encode();
}

bool ValueColumn::Parse(std::string_view bytes, size_t count) {
  *this = ValueColumn();
  count_ = count;
  std::string_view in = bytes;
  const auto byte = [&in](unsigned most, auto* value) {
    if (in.empty() || static_cast<unsigned char>(in[0]) > most) return false;
    *value = static_cast<std::remove_pointer_t<decltype(value)>>(in[0]);
    in.remove_prefix(1);
    return true;
  };
  if (!byte(static_cast<unsigned>(Form::kTexts), &form_)) return false;
  switch (form_) {
    case Form::kConstant:
      return GetBytes(&in, &constant_) && in.empty();
    case Form::kBigEndian:
      return byte(8, &width_) && width_ > 0 && integers_.Parse(&in, count) && in.empty();
    case Form::kDoubleBits:
      return integers_.Parse(&in, count) && ParseExceptions(&in) && in.empty();
    case Form::kDouble:
      return byte(kDoubleDecimalsMax, &decimals_) && integers_.Parse(&in, count) && ParseExceptions(&in) &&
             in.empty();
    case Form::kDecimalText:
      return byte(kDecimalDigitsMax, &style_.decimals) && byte(style_.decimals, &style_.decimals_min) &&
             byte(kDecimalDigitsMax, &style_.digits_min) && style_.digits_min > 0 &&
             integers_.Parse(&in, count) && ParseExceptions(&in) && in.empty();
    case Form::kDictionary: {
      uint64_t entries = 0;
      bytes_ = std::make_unique<std::string>();
      return GetVarint(&in, &entries) && entries > 0 && entries <= kDictionaryMax &&
             DecodeStrings(&in, entries, bytes_.get(), &strings_) && integers_.Parse(&in, count) &&
             in.empty();
    }
    case Form::kStrings:
      packed_strings_ = in;
      return true;
    case Form::kTexts:
      texts_ = std::make_unique<TextColumn>();
      return texts_->Parse(&in, count) && in.empty();
  }
  return false;
}

bool ValueColumn::ParseExceptions(std::string_view* in) {
  uint64_t count = 0;
  if (!GetVarint(in, &count) || count > count_) return false;
  if (count == 0) return true;
  exceptions_ = std::make_unique<Exceptions>();
  IntegerColumn indexes;
  return indexes.Parse(in, count) &&
         indexes.DecodeAll(0, static_cast<int64_t>(count_) - 1, &exceptions_->indexes) &&
         std::adjacent_find(exceptions_->indexes.begin(), exceptions_->indexes.end(),
                            std::greater_equal<>()) == exceptions_->indexes.end() &&
         DecodeStrings(in, count, &exceptions_->bytes, &exceptions_->values) &&
         (form_ == Form::kDecimalText ||
          std::all_of(exceptions_->values.begin(), exceptions_->values.end(),
                      [](std::string_view value) { return value.size() == sizeof(double); }));
}

template <typename Take>
void ValueColumn::TakeExceptions(size_t begin, size_t end, const Take& take) const {
  if (exceptions_ == nullptr) return;
  const std::vector<int64_t>& indexes = exceptions_->indexes;
  auto it = std::lower_bound(indexes.begin(), indexes.end(), static_cast<int64_t>(begin));
  for (; it != indexes.end() && static_cast<size_t>(*it) < end; ++it) {
    take(static_cast<size_t>(*it) - begin, exceptions_->values[it - indexes.begin()]);
  }
}

// The 8 bytes of each value, as a big-endian number.
bool ValueColumn::DecodeWords(size_t begin, size_t end, uint64_t* out) {
  const size_t count = end - begin;
  if (form_ == Form::kConstant) {
    std::fill_n(out, count, LoadBigEndian(constant_));
    return true;
  }
  scratch_.resize(count);
  if (!integers_.Decode(begin, end, scratch_.data())) return false;
  if (form_ == Form::kBigEndian) {
    for (size_t i = 0; i < count; ++i) out[i] = static_cast<uint64_t>(scratch_[i]);
  } else if (form_ == Form::kDoubleBits) {
    for (size_t i = 0; i < count; ++i) out[i] = BitsOf(scratch_[i]);
  } else {
    const double power = kDoublePowers[decimals_];
    for (size_t i = 0; i < count; ++i) {
      out[i] = std::bit_cast<uint64_t>(static_cast<double>(scratch_[i]) / power);
    }
  }
  TakeExceptions(begin, end, [out](size_t i, std::string_view value) { out[i] = LoadBigEndian(value); });
  return true;
}

bool ValueColumn::DecodeDecimals(size_t begin, size_t end, ByteArena* arena, std::string_view* out) {
  const size_t count = end - begin;
  scratch_.resize(count);
  if (!integers_.Decode(begin, end, scratch_.data())) return false;
  char* const first = arena->Reserve(count * kDecimalTextBytesMax);
  char* to = first;
  for (size_t i = 0; i < count; ++i) {
    char* const text = to;
    to = WriteDecimal(scratch_[i], style_, to);
    out[i] = {text, static_cast<size_t>(to - text)};
  }
  arena->Commit(to - first);
  TakeExceptions(begin, end, [out](size_t i, std::string_view value) { out[i] = value; });
  return true;
}

size_t ValueColumn::KeptBytes() const {
  size_t bytes = integers_.KeptBytes() + strings_.capacity() * sizeof(std::string_view);
  if (bytes_ != nullptr) bytes += bytes_->capacity();
  if (texts_ != nullptr) bytes += texts_->KeptBytes();
  return bytes;
}

bool ValueColumn::Decode(size_t begin, size_t end, ByteArena* arena, std::string_view* out) {
  const size_t count = end - begin;
  switch (form_) {
    case Form::kConstant:
      std::fill_n(out, count, constant_);
      return true;
    case Form::kDecimalText:
      return DecodeDecimals(begin, end, arena, out);
    case Form::kDictionary:
      scratch_.resize(count);
      if (!integers_.Decode(begin, end, scratch_.data())) return false;
      for (size_t i = 0; i < count; ++i) {
        if (static_cast<uint64_t>(scratch_[i]) >= strings_.size()) return false;
        out[i] = strings_[scratch_[i]];
      }
      return true;
    case Form::kStrings:
      if (strings_.empty()) {
        bytes_ = std::make_unique<std::string>();
        std::string_view in = packed_strings_;
        if (!DecodeStrings(&in, count_, bytes_.get(), &strings_) || !in.empty()) return false;
      }
      std::copy_n(strings_.begin() + static_cast<std::ptrdiff_t>(begin), count, out);
      return true;
    case Form::kTexts:
      return texts_->Decode(begin, end, arena, out);
    default:
      break;
  }
  const unsigned width = form_ == Form::kBigEndian ? width_ : sizeof(uint64_t);
  words_.resize(count);
  if (!DecodeWords(begin, end, words_.data())) return false;
  char* to = arena->Reserve(count * sizeof(uint64_t));
  for (size_t i = 0; i < count; ++i) {
    const uint64_t word = ToBigEndian(words_[i] << (8 * (sizeof(uint64_t) - width)));
    std::memcpy(to, &word, sizeof(word));
    out[i] = {to, width};
    to += width;
  }
  arena->Commit(count * width);
  return true;
}

NumberKind ValueColumn::NumbersIn(NumberBytes written) const {
  const bool text = written == NumberBytes::kDecimalText;
  const NumberKind of_bytes =
      written == NumberBytes::kBigEndianInteger ? NumberKind::kInt64 : NumberKind::kDouble;
  const auto of_text = [](int decimals) { return decimals == 0 ? NumberKind::kInt64 : NumberKind::kDouble; };
  switch (form_) {
    case Form::kConstant: {
      WrittenDecimal decimal;
      if (text) return ReadDecimal(constant_, &decimal) ? of_text(decimal.decimals) : NumberKind::kNone;
      return constant_.size() == sizeof(uint64_t) ? of_bytes : NumberKind::kNone;
    }
    case Form::kBigEndian:
      return !text && width_ == sizeof(uint64_t) ? of_bytes : NumberKind::kNone;
    case Form::kDoubleBits:
    case Form::kDouble:
      return text ? NumberKind::kNone : of_bytes;
    case Form::kDecimalText:
      return text && exceptions_ == nullptr ? of_text(style_.decimals) : NumberKind::kNone;
    default:
      return NumberKind::kNone;
  }
}

// The digits of decimal texts, and how many of these come after the point.
bool ValueColumn::DecodeDigits(size_t begin, size_t end, int64_t* out, int* decimals) {
  if (form_ != Form::kConstant) {
    *decimals = style_.decimals;
    return integers_.Decode(begin, end, out);
  }
  WrittenDecimal decimal;
  if (!ReadDecimal(constant_, &decimal)) return false;
  *decimals = decimal.decimals;
  std::fill_n(out, end - begin, decimal.digits);
  return true;
}

bool ValueColumn::DecodeInts(NumberBytes written, size_t begin, size_t end, int64_t* out) {
  if (written == NumberBytes::kDecimalText) {
    int decimals = 0;
    return DecodeDigits(begin, end, out, &decimals) && decimals == 0;
  }
  if (form_ == Form::kBigEndian) return integers_.Decode(begin, end, out);
  words_.resize(end - begin);
  if (!DecodeWords(begin, end, words_.data())) return false;
  std::copy(words_.begin(), words_.end(), out);
  return true;
}

bool ValueColumn::DecodeDoubles(NumberBytes written, size_t begin, size_t end, double* out,
                                bool* are_nearest) {
  const size_t count = end - begin;
  *are_nearest = true;
  if (written == NumberBytes::kDecimalText) {
    int decimals = 0;
    scratch_.resize(count);
    if (!DecodeDigits(begin, end, scratch_.data(), &decimals)) return false;
    *are_nearest = ToDoubles({scratch_.data(), count}, out);
    DivideAll({out, count}, static_cast<double>(kPowersOfTen[decimals]));
    return true;
  }
  if (form_ == Form::kDouble) {
    scratch_.resize(count);
    if (!integers_.Decode(begin, end, scratch_.data())) return false;
    ToDoubles({scratch_.data(), count}, out);
    DivideAll({out, count}, kDoublePowers[decimals_]);
    TakeExceptions(begin, end, [out](size_t i, std::string_view value) {
      out[i] = std::bit_cast<double>(LoadBigEndian(value));
    });
    return true;
  }
  words_.resize(count);
  if (!DecodeWords(begin, end, words_.data())) return false;
  for (size_t i = 0; i < count; ++i) out[i] = std::bit_cast<double>(words_[i]);
  return true;
}

}  // namespace sonde::codec
