// What the writer and the reader of a column of integers share (codec/integers.h describes the format).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "codec/bits.h"
#include "codec/tokens.h"

namespace sonde::codec {

constexpr uint64_t kDirectTokens = 16;
constexpr unsigned kDirectBits = 4;    // kDirectTokens is 2^kDirectBits
constexpr unsigned kMantissaBits = 2;  // of a greater number, named by its token
constexpr unsigned char kSigned = 4;

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
inline constexpr std::array<TokenMeaning, kTokens> kMeanings = MakeMeanings();

// How many values of a block are known before its bytes are read.
inline size_t KnownOf(int order, size_t values) { return std::min<size_t>(order, values); }

}  // namespace sonde::codec
