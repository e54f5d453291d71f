#include "codec/tokens.h"

#include <algorithm>
#include <bit>

#include "base/varint.h"
#include "codec/bits.h"

namespace sonde::codec {
namespace {

constexpr int kTableLogMin = 5;

int FloorLog2(uint32_t value) { return std::bit_width(value) - 1; }

// Which token each state emits: every token's states lie evenly over the table.
std::vector<uint8_t> Spread(const TokenFrequencies& frequencies) {
  const uint32_t size = 1u << frequencies.log();
  const uint32_t step = (size >> 1) + (size >> 3) + 3;  // odd, so it visits every state
  std::vector<uint8_t> tokens(size);
  uint32_t at = 0;
  for (int token = 0; token <= frequencies.token_max(); ++token) {
    for (int i = 0; i < frequencies.of(token); ++i) {
      tokens[at] = static_cast<uint8_t>(token);
      at = (at + step) & (size - 1);
    }
  }
  return tokens;
}

}  // namespace

TokenFrequencies TokenFrequencies::Of(const std::array<uint32_t, kTokens>& counts) {
  TokenFrequencies result;
  uint64_t total = 0;
  uint32_t kinds = 0;
  for (int token = 0; token < kTokens; ++token) {
    if (counts[token] == 0) continue;
    total += counts[token];
    ++kinds;
    result.token_max_ = token;
  }
  result.log_ = std::clamp(
      std::max(static_cast<int>(std::bit_width(total)) - 3, static_cast<int>(std::bit_width(kinds)) + 1),
      kTableLogMin, kTableLogMax);
  const int64_t size = int64_t{1} << result.log_;
  int64_t left = size;
  for (int token = 0; token <= result.token_max_; ++token) {
    if (counts[token] == 0) continue;
    const auto scaled = static_cast<int64_t>((uint64_t{counts[token]} * size + total / 2) / total);
    result.frequencies_[token] = static_cast<uint16_t>(std::max<int64_t>(scaled, 1));
    left -= result.frequencies_[token];
  }
  // The surplus or deficit of rounding goes where it changes the size least.
  while (left != 0) {
    const int change = left > 0 ? 1 : -1;
    int best = -1;
    double best_gain = 0;
    for (int token = 0; token <= result.token_max_; ++token) {
      const int now = result.frequencies_[token];
      if (now == 0 || now + change < 1) continue;
      const double gain = change * counts[token] / (now + change * 0.5);
      if (best < 0 || gain > best_gain) {
        best = token;
        best_gain = gain;
      }
    }
    result.frequencies_[best] = static_cast<uint16_t>(result.frequencies_[best] + change);
    left -= change;
  }
  return result;
}

void TokenFrequencies::Append(std::string* out) const {
  out->push_back(static_cast<char>(log_));
  const auto kinds =
      std::count_if(frequencies_.begin(), frequencies_.end(), [](uint16_t f) { return f != 0; });
  out->push_back(static_cast<char>(kinds - 1));
  int before = -1;
  for (int token = 0; token <= token_max_; ++token) {
    if (frequencies_[token] == 0) continue;
    PutVarint(out, static_cast<uint64_t>(token - before - 1));
    if (token != token_max_) PutVarint(out, frequencies_[token] - uint64_t{1});
    before = token;
  }
}

bool TokenFrequencies::Parse(std::string_view* in) {
  *this = TokenFrequencies();
  if (in->size() < 2) return false;
  log_ = static_cast<unsigned char>((*in)[0]);
  const int kinds = static_cast<unsigned char>((*in)[1]) + 1;
  in->remove_prefix(2);
  if (log_ < kTableLogMin || log_ > kTableLogMax) return false;
  uint64_t left = uint64_t{1} << log_;
  uint64_t token = 0;
  for (int i = 0; i < kinds; ++i) {
    uint64_t gap = 0;
    if (!GetVarint(in, &gap) || gap >= kTokens) return false;
    token += gap + (i == 0 ? 0 : 1);
    if (token >= kTokens) return false;
    uint64_t less_one = left - 1;
    if (i + 1 < kinds && !GetVarint(in, &less_one)) return false;
    if (left == 0 || less_one >= left) return false;
    frequencies_[token] = static_cast<uint16_t>(less_one + 1);
    left -= less_one + 1;
  }
  token_max_ = static_cast<int>(token);
  return left == 0;
}

TokenEncoder::TokenEncoder(const TokenFrequencies& frequencies)
    : log_(frequencies.log()), states_(size_t{1} << log_) {
  const uint32_t size = 1u << log_;
  std::array<uint32_t, kTokens> next{};
  uint32_t total = 0;
  for (int token = 0; token <= frequencies.token_max(); ++token) {
    const uint32_t frequency = frequencies.of(token);
    if (frequency == 0) continue;
    next[token] = total;
    const uint32_t bits = frequency == 1 ? log_ : log_ - FloorLog2(frequency - 1);
    transforms_[token] = {(bits << 16) - (frequency << bits),
                          static_cast<int32_t>(total) - static_cast<int32_t>(frequency)};
    total += frequency;
  }
  const std::vector<uint8_t> tokens = Spread(frequencies);
  for (uint32_t state = 0; state < size; ++state) {
    states_[next[tokens[state]]++] = static_cast<uint16_t>(size + state);
  }
}

void TokenEncoder::Append(absl::Span<const uint8_t> tokens, std::string* out) const {
  if (tokens.empty()) return;
  char buffer[kBlockTokenBytesMax + sizeof(uint64_t)];
  char* to = buffer;
  uint64_t word = 0;
  unsigned used = 0;
  std::array<uint32_t, 2> states{};
  const auto flush = [&] {
    std::memcpy(to, &word, sizeof(word));
    to += used / 8;
    word >>= used & ~7u;
    used &= 7;
  };
  for (size_t i = tokens.size(); i-- > 0;) {
    const Transform transform = transforms_[tokens[i]];
    uint32_t& state = states[i & 1];
    if (state == 0) {
      // A lane's first token may choose its state, so it costs nothing.
      const uint32_t bits = (transform.bits_delta + (1u << 15)) >> 16;
      const uint32_t from = (bits << 16) - transform.bits_delta;
      state = states_[(from >> bits) + transform.state_delta];
      continue;
    }
    const uint32_t bits = (state + transform.bits_delta) >> 16;
    word |= (state & LowBits(bits)) << used;
    used += bits;
    state = states_[(state >> bits) + transform.state_delta];
    if ((i & 3) == 0) flush();
  }
  flush();
  for (const int lane : {1, 0}) {
    if (states[lane] == 0) continue;  // a single token
    word |= (states[lane] & LowBits(log_)) << used;
    used += log_;
  }
  word |= uint64_t{1} << used;
  ++used;
  flush();
  if (used > 0) *to++ = static_cast<char>(word);
  out->append(buffer, to - buffer);
}

TokenDecoder::TokenDecoder(const TokenFrequencies& frequencies)
    : log_(frequencies.log()), steps_(size_t{1} << log_) {
  const uint32_t size = 1u << log_;
  std::array<uint16_t, kTokens> next;
  for (int token = 0; token < kTokens; ++token) next[token] = frequencies.of(token);
  const std::vector<uint8_t> tokens = Spread(frequencies);
  for (uint32_t state = 0; state < size; ++state) {
    const uint32_t count = next[tokens[state]]++;
    const int bits = log_ - FloorLog2(count);
    steps_[state] = {static_cast<uint16_t>((count << bits) - size), tokens[state],
                     static_cast<uint8_t>(bits)};
  }
}

// The bits of a block that are not read yet, from its end, and the states that those before have led to.
class TokenDecoder::Bits {
 public:
  explicit Bits(const char* bytes) : bytes_(bytes) {}

  // False: the bytes are damaged.
  bool Start(std::string_view block, size_t count, int log) {
    if (block.empty() || block.back() == 0) return false;
    left_ = static_cast<int64_t>(block.size()) * 8 - 8 + FloorLog2(static_cast<unsigned char>(block.back()));
    uint64_t word = Peek();
    even_ = Take(&word, log);
    odd_ = count > 1 ? Take(&word, log) : 0;
    return !IsOver();
  }
  bool IsOver() const { return left_ < 0; }
  int64_t left() const { return left_; }

  // The next bits at the top of a word of at least 57.
  uint64_t Peek() const {
    const int64_t end = (left_ + 7) >> 3;
    return LoadLittleEndian64(bytes_ + end - 8) << (end * 8 - left_);
  }
  uint32_t Take(uint64_t* word, unsigned bits) {
    const uint64_t value = *word >> 1 >> (63 - bits);
    *word <<= bits;
    left_ -= bits;
    return static_cast<uint32_t>(value);
  }
  // Of the state of even places, and of odd ones.
  uint8_t TakeEven(const Step* steps, uint64_t* word) { return Take(steps, word, &even_); }
  uint8_t TakeOdd(const Step* steps, uint64_t* word) { return Take(steps, word, &odd_); }
  uint8_t LastOf(size_t place, const Step* steps) const { return steps[(place & 1) ? odd_ : even_].token; }

 private:
  uint8_t Take(const Step* steps, uint64_t* word, uint32_t* state) {
    const Step step = steps[*state];
    *state = step.base + Take(word, step.bits);
    return step.token;
  }

  const char* const bytes_;
  int64_t left_ = 0;
  uint32_t even_ = 0, odd_ = 0;
};

bool TokenDecoder::Finish(Bits bits, size_t place, size_t count, uint8_t* tokens, size_t* rest) const {
  const Step* const steps = steps_.data();
  for (; place + 6 <= count; place += 4) {
    uint64_t word = bits.Peek();
    tokens[place] = bits.TakeEven(steps, &word);
    tokens[place + 1] = bits.TakeOdd(steps, &word);
    tokens[place + 2] = bits.TakeEven(steps, &word);
    tokens[place + 3] = bits.TakeOdd(steps, &word);
    if (bits.IsOver()) return false;
  }
  for (; place < count; ++place) {
    if (place + 2 >= count) {  // the last of its state: no bits
      tokens[place] = bits.LastOf(place, steps);
      continue;
    }
    uint64_t word = bits.Peek();
    tokens[place] = (place & 1) ? bits.TakeOdd(steps, &word) : bits.TakeEven(steps, &word);
    if (bits.IsOver()) return false;
  }
  if (bits.left() % 8 != 0) return false;
  *rest = static_cast<size_t>(bits.left() / 8);
  return true;
}

bool TokenDecoder::Decode(std::string_view block, size_t count, uint8_t* tokens, size_t* rest) const {
  *rest = block.size();
  if (count == 0) return true;
  Bits bits(block.data());
  return bits.Start(block, count, log_) && Finish(bits, 0, count, tokens, rest);
}

bool TokenDecoder::DecodeTwo(const std::array<std::string_view, 2>& blocks,
                             const std::array<size_t, 2>& counts, const std::array<uint8_t*, 2>& tokens,
                             std::array<size_t, 2>* rests) const {
  const size_t both = std::min(counts[0], counts[1]);
  if (both == 0) {
    return Decode(blocks[0], counts[0], tokens[0], &(*rests)[0]) &&
           Decode(blocks[1], counts[1], tokens[1], &(*rests)[1]);
  }
  Bits a(blocks[0].data()), b(blocks[1].data());
  if (!a.Start(blocks[0], counts[0], log_) || !b.Start(blocks[1], counts[1], log_)) return false;
  const Step* const steps = steps_.data();
  uint8_t* const tokens_a = tokens[0];
  uint8_t* const tokens_b = tokens[1];
  size_t i = 0;
  for (; i + 6 <= both; i += 4) {
    uint64_t word_a = a.Peek(), word_b = b.Peek();
    tokens_a[i] = a.TakeEven(steps, &word_a);
    tokens_b[i] = b.TakeEven(steps, &word_b);
    tokens_a[i + 1] = a.TakeOdd(steps, &word_a);
    tokens_b[i + 1] = b.TakeOdd(steps, &word_b);
    tokens_a[i + 2] = a.TakeEven(steps, &word_a);
    tokens_b[i + 2] = b.TakeEven(steps, &word_b);
    tokens_a[i + 3] = a.TakeOdd(steps, &word_a);
    tokens_b[i + 3] = b.TakeOdd(steps, &word_b);
    if (a.IsOver() || b.IsOver()) return false;
  }
  return Finish(a, i, counts[0], tokens_a, &(*rests)[0]) && Finish(b, i, counts[1], tokens_b, &(*rests)[1]);
}

}  // namespace sonde::codec
