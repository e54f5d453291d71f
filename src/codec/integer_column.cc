// Reading of columns of integers.
#include <algorithm>
#include <array>
#include <cstring>

#include "base/varint.h"
#include "codec/bits.h"
#include "codec/integer_format.h"
#include "codec/integers.h"

namespace sonde::codec {
namespace {

// The most bytes of a block, and the room around it when it is decoded.
constexpr size_t kBlockBytesMax = kBlockValues * 8 + kBlockTokenBytesMax;
constexpr size_t kMargin = 8;

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

bool GetSigned(std::string_view* in, uint64_t* value) {
  uint64_t u = 0;
  if (!GetVarint(in, &u)) return false;
  *value = static_cast<uint64_t>(UnZigZag(u));
  return true;
}

constexpr size_t kTokensAtOnce = 8;

// Whether these tokens are the numbers themselves.
bool AreDirect(const uint8_t* tokens) {
  uint64_t all = 0;
  std::memcpy(&all, tokens, sizeof(all));
  static_assert(kDirectTokens == 16 && sizeof(all) == kTokensAtOnce);
  return (all & 0xf0f0f0f0f0f0f0f0) == 0;
}

}  // namespace

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

// Where decoded differences go: each is added to those before it, as often as the order says, and the sum is written.
// Everything was scaled by the divisor at once: sums of scaled differences are scaled sums.
template <int kOrder>
class IntegerColumn::Sums {
 public:
  // Writes the values of the block that are known before its bytes are read, of all `values`.
  Sums(const IntegerColumn& column, const Block& block, size_t values, int64_t* out)
      : value_(column.base_ + block.first_value * column.divisor_),
        difference_(block.first_difference * column.divisor_),
        out_(out) {
    if constexpr (kOrder == 0) {
      value_ = column.base_;
    } else {
      *out_++ = static_cast<int64_t>(value_);
    }
    if constexpr (kOrder == 2) {
      if (values > 1) Put(0);
    }
  }

  void Put(int64_t difference) {
    if constexpr (kOrder == 0) {
      *out_++ = static_cast<int64_t>(value_ + static_cast<uint64_t>(difference));
      return;
    }
    if constexpr (kOrder == 1) value_ += static_cast<uint64_t>(difference);
    if constexpr (kOrder == 2) {
      difference_ += static_cast<uint64_t>(difference);
      value_ += difference_;
    }
    *out_++ = static_cast<int64_t>(value_);
  }

 private:
  uint64_t value_;
  uint64_t difference_;
  int64_t* out_;
};

// The bytes of a block with the margins that readers of bits need.
class IntegerColumn::PaddedBlock {
 public:
  PaddedBlock(std::string_view all, const Block& block) : size_(block.bytes) {
    std::memset(padded_, 0, kMargin);
    std::memcpy(padded_ + kMargin, all.data() + block.start, size_);
    std::memset(padded_ + kMargin + size_, 0, kMargin);
  }
  std::string_view bytes() const { return {padded_ + kMargin, size_}; }

 private:
  char padded_[kMargin + kBlockBytesMax + kMargin];
  size_t size_;
};

bool IntegerColumn::DecodeBlock(size_t index, int64_t* out) {
  const size_t values = ValuesOf(index);
  const size_t count = values - KnownOf(order_, values);
  const PaddedBlock block(bytes_, blocks_[index]);
  if (form_ == Form::kPacked) {
    return WithSums(index, out, [&](auto* sums) { return DecodePacked(block.bytes(), count, sums); });
  }
  uint8_t tokens[kBlockValues];
  size_t rest = 0;
  if (!Decoder().Decode(block.bytes(), count, tokens, &rest)) return false;
  return WithSums(index, out, [&](auto* sums) {
    return DecodeTokens({tokens, count}, block.bytes().substr(0, rest), sums);
  });
}

bool IntegerColumn::DecodeTwoBlocks(size_t index, int64_t* out) {
  if (form_ == Form::kPacked) {
    return DecodeBlock(index, out) && DecodeBlock(index + 1, out + kBlockValues);
  }
  std::array<size_t, 2> counts{};
  for (size_t i = 0; i < 2; ++i) counts[i] = ValuesOf(index + i) - KnownOf(order_, ValuesOf(index + i));
  const PaddedBlock blocks[2] = {{bytes_, blocks_[index]}, {bytes_, blocks_[index + 1]}};
  uint8_t tokens[2][kBlockValues];
  std::array<size_t, 2> rests{};
  if (!Decoder().DecodeTwo({blocks[0].bytes(), blocks[1].bytes()}, counts, {tokens[0], tokens[1]}, &rests)) {
    return false;
  }
  for (size_t i = 0; i < 2; ++i) {
    const auto decode = [&](auto* sums) {
      return DecodeTokens({tokens[i], counts[i]}, blocks[i].bytes().substr(0, rests[i]), sums);
    };
    if (!WithSums(index + i, out + i * kBlockValues, decode)) return false;
  }
  return true;
}

template <typename DecodeTo>
bool IntegerColumn::WithSums(size_t index, int64_t* out, const DecodeTo& decode) const {
  const Block& block = blocks_[index];
  const size_t values = ValuesOf(index);
  switch (order_) {
    case 0: {
      Sums<0> sums(*this, block, values, out);
      return decode(&sums);
    }
    case 1: {
      Sums<1> sums(*this, block, values, out);
      return decode(&sums);
    }
    default: {
      Sums<2> sums(*this, block, values, out);
      return decode(&sums);
    }
  }
}

const TokenDecoder& IntegerColumn::Decoder() {
  if (decoder_ == nullptr) decoder_ = std::make_unique<TokenDecoder>(frequencies_);
  return *decoder_;
}

template <int kOrder>
bool IntegerColumn::DecodePacked(std::string_view bytes, size_t count, Sums<kOrder>* sums) const {
  if ((count * width_ + 7) / 8 != bytes.size()) return false;
  BitReader raw(bytes.data());
  for (size_t i = 0; i < count; ++i) sums->Put(Scaled(raw.Get(width_)));
  return true;
}

template <int kOrder>
bool IntegerColumn::DecodeTokens(absl::Span<const uint8_t> tokens, std::string_view raw_bytes,
                                 Sums<kOrder>* to) const {
  Sums<kOrder> sums = *to;  // no write to memory can change it
  const size_t count = tokens.size();
  size_t raw_bits = 0;
  size_t i = 0;
  for (; i + kTokensAtOnce <= count; i += kTokensAtOnce) {
    if (AreDirect(tokens.data() + i)) continue;
    for (size_t j = 0; j < kTokensAtOnce; ++j) raw_bits += kMeanings[tokens[i + j]].raw_bits;
  }
  for (; i < count; ++i) raw_bits += kMeanings[tokens[i]].raw_bits;
  if ((raw_bits + 7) / 8 != raw_bytes.size()) return false;
  BitReader raw(raw_bytes.data());
  if (raw_bits < count) {  // greater numbers are rare: a branch costs less than reading no bits
    int64_t direct[kDirectTokens];
    for (uint64_t token = 0; token < kDirectTokens; ++token) direct[token] = Scaled(token);
    const auto put = [&](uint8_t token) {
      if (token < kDirectTokens) {
        sums.Put(direct[token]);
      } else {
        sums.Put(Scaled(kMeanings[token].least + raw.Get(kMeanings[token].raw_bits)));
      }
    };
    for (i = 0; i + kTokensAtOnce <= count; i += kTokensAtOnce) {
      if (AreDirect(tokens.data() + i)) {
        for (size_t j = 0; j < kTokensAtOnce; ++j) sums.Put(direct[tokens[i + j] % kDirectTokens]);
      } else {
        for (size_t j = 0; j < kTokensAtOnce; ++j) put(tokens[i + j]);
      }
    }
    for (; i < count; ++i) put(tokens[i]);
    return true;
  }
  if (kMeanings[frequencies_.token_max()].raw_bits > BitReader::kAtOnceMax) {
    for (const uint8_t token : tokens) {
      sums.Put(Scaled(kMeanings[token].least + raw.Get(kMeanings[token].raw_bits)));
    }
    return true;
  }
  for (const uint8_t token : tokens) {
    sums.Put(Scaled(kMeanings[token].least + raw.GetAtOnce(kMeanings[token].raw_bits)));
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
    const bool takes_two = GoesOn(block, begin, end);
    const size_t last_decoded = takes_two ? last + ValuesOf(block + 1) : last;
    size_t stop = std::min(end, last);
    if (begin == first && end >= last_decoded && !IsKept(block)) {
      stop = last_decoded;
      if (!(takes_two ? DecodeTwoBlocks(block, out) : DecodeBlock(block, out))) return false;
    } else {
      if (!CopyFrom(block, begin - first, stop - first, takes_two, out)) return false;
    }
    out += stop - begin;
    begin = stop;
  }
  return true;
}

// Whether the block behind this one, which is not kept either, is wanted soon, too: now, or by whoever reads on.
bool IntegerColumn::GoesOn(size_t block, size_t begin, size_t end) const {
  if (block + 1 >= blocks_.size() || IsKept(block) || IsKept(block + 1)) return false;
  const size_t last = (block + 1) * kBlockValues;
  const bool comes_from_before = kept_end_ > kept_begin_ && block == kept_end_;
  return end > last || comes_from_before || end - begin > kBlockValues / 2;
}

bool IntegerColumn::CopyFrom(size_t block, size_t begin, size_t end, bool takes_two, int64_t* out) {
  const bool is_kept = !kept_for_good_.empty() && kept_for_good_[block].width != 0;
  if (is_kept || (end - begin <= kFewValues && !IsKept(block))) {
    if (!is_kept && !KeepForGood(block)) return false;
    const KeptForGood& kept = kept_for_good_[block];
    for (size_t i = begin; i < end; ++i) {
      *out++ = static_cast<int64_t>(kept.least + GetWidth(kept.bytes.get() + i * kept.width, kept.width));
    }
    return true;
  }
  if (!IsKept(block) && !Keep(block, takes_two)) return false;
  const int64_t* const kept = kept_.data() + (block - kept_begin_) * kBlockValues;
  std::copy(kept + begin, kept + end, out);
  return true;
}

bool IntegerColumn::Keep(size_t block, bool takes_two) {
  kept_begin_ = kept_end_ = 0;
  kept_.resize((takes_two ? 2 : 1) * kBlockValues);
  if (!(takes_two ? DecodeTwoBlocks(block, kept_.data()) : DecodeBlock(block, kept_.data()))) return false;
  kept_begin_ = block;
  kept_end_ = block + (takes_two ? 2 : 1);
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
