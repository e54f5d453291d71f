// Sequences of byte-sized tokens in close to as many bits as their frequencies allow: a table-driven
// asymmetric numeral system (source: tANS; Duda, arXiv:1311.2540), as in FSE of zstd.  Unlike FSE it is made
// for blocks of a few hundred bytes, each decoded alone with one table: two states, no header a block.
//
// Frequencies are found once a column, and stored with it:
//   table log, 1 byte: the frequencies add up to 2^log
//   count of tokens that occur, less 1: 1 byte
//   for each: how many tokens lie between it and the one before (varint); its frequency less 1 (varint; the
//   last token has what is left)
//
// A block's bits are written from its last token to its first, then both states, then a 1 and zeros up to a
// byte.  So a block is read from its end backwards; its bits lie at the end of its bytes, behind any others.
//
// Threads: const functions may be called by several at once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"

namespace sonde::codec {

constexpr int kTokens = 256;
constexpr int kTableLogMax = 11;
constexpr size_t kBlockTokensMax = 1024;
// A block of kBlockTokensMax takes fewer bytes than this.
constexpr size_t kBlockTokenBytesMax = kBlockTokensMax * kTableLogMax / 8 + 8;

// How often each token occurs, scaled to a sum of 2^log.
class TokenFrequencies {
 public:
  // At least one count must not be 0.
  static TokenFrequencies Of(const std::array<uint32_t, kTokens>& counts);

  void Append(std::string* out) const;
  // Takes the frequencies from the front of *in.  Returns false if the bytes are damaged.
  [[nodiscard]] bool Parse(std::string_view* in);

  int log() const { return log_; }
  uint16_t of(int token) const { return frequencies_[token]; }
  int token_max() const { return token_max_; }

 private:
  int log_ = 0;
  int token_max_ = 0;
  std::array<uint16_t, kTokens> frequencies_{};
};

class TokenEncoder {
 public:
  explicit TokenEncoder(const TokenFrequencies& frequencies);
  // Appends a block of at most kBlockTokensMax tokens, each of which has a frequency.  No tokens give no
  // bytes.
  void Append(absl::Span<const uint8_t> tokens, std::string* out) const;

 private:
  struct Transform {
    uint32_t bits_delta = 0;
    int32_t state_delta = 0;
  };
  int log_;
  std::array<Transform, kTokens> transforms_{};
  std::vector<uint16_t> states_;
};

class TokenDecoder {
 public:
  explicit TokenDecoder(const TokenFrequencies& frequencies);
  // Reads `count` tokens from the end of `block`, before which 8 more bytes must be readable.  Returns false
  // if the bytes are damaged.  Otherwise *rest is how many bytes at the front of `block` are not the tokens'.
  [[nodiscard]] bool Decode(std::string_view block, size_t count, uint8_t* tokens, size_t* rest) const;

  // As Decode, of two blocks: each waits for its own bits, so that both take little longer than one.
  [[nodiscard]] bool DecodeTwo(const std::array<std::string_view, 2>& blocks,
                               const std::array<size_t, 2>& counts, const std::array<uint8_t*, 2>& tokens,
                               std::array<size_t, 2>* rests) const;

 private:
  struct Step {
    uint16_t base;
    uint8_t token;
    uint8_t bits;
  };
  class Bits;
  // Reads the tokens from `place` on, which is even.
  bool Finish(Bits bits, size_t place, size_t count, uint8_t* tokens, size_t* rest) const;

  int log_;
  std::vector<Step> steps_;
};

}  // namespace sonde::codec
