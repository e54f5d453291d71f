#include "codec/tokens.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"

namespace sonde::codec {
namespace {

constexpr size_t kMargin = 8;

std::array<uint32_t, kTokens> Count(absl::Span<const uint8_t> tokens) {
  std::array<uint32_t, kTokens> counts{};
  for (const uint8_t token : tokens) ++counts[token];
  return counts;
}

double EntropyBits(const std::array<uint32_t, kTokens>& counts, size_t total) {
  double bits = 0;
  for (const uint32_t count : counts) {
    if (count > 0) bits += count * std::log2(static_cast<double>(total) / count);
  }
  return bits;
}

// Tokens 0 to kinds - 1; the higher `skew`, the more often the low ones.
std::vector<uint8_t> RandomTokens(RandomSource* random, size_t count, int kinds, double skew) {
  std::vector<uint8_t> tokens(count);
  for (uint8_t& token : tokens) token = static_cast<uint8_t>(std::pow(random->UniformReal(), skew) * kinds);
  return tokens;
}

TEST(Tokens, RoundTripsEveryLengthOfBlock) {
  SeededRandom random(1);
  for (size_t count = 0; count <= 80; ++count) {
    for (const int kinds : {1, 2, 3, 17, 256}) {
      const std::vector<uint8_t> sample = RandomTokens(&random, 2000, kinds, 2);
      const TokenFrequencies frequencies = TokenFrequencies::Of(Count(sample));
      std::vector<uint8_t> tokens(sample.begin(), sample.begin() + static_cast<std::ptrdiff_t>(count));
      std::string bytes(kMargin, 'x');
      bytes += "raw";
      TokenEncoder(frequencies).Append(tokens, &bytes);
      std::vector<uint8_t> got(count);
      size_t rest = 0;
      const std::string_view block = std::string_view(bytes).substr(kMargin);
      ASSERT_TRUE(TokenDecoder(frequencies).Decode(block, count, got.data(), &rest))
          << count << " of " << kinds;
      EXPECT_EQ(rest, 3);
      EXPECT_EQ(got, tokens);
    }
  }
}

TEST(Tokens, TwoBlocksAtOnceAreThoseTwo) {
  SeededRandom random(5);
  for (size_t count = 0; count <= 80; ++count) {
    const std::vector<uint8_t> sample = RandomTokens(&random, 2000, 17, 2);
    const TokenFrequencies frequencies = TokenFrequencies::Of(Count(sample));
    const TokenDecoder decoder(frequencies);
    std::array<std::vector<uint8_t>, 2> tokens, got;
    std::array<std::string, 2> bytes;
    std::array<std::string_view, 2> blocks;
    for (size_t i = 0; i < 2; ++i) {
      // The second may be shorter or longer.
      const size_t count_here = i == 0 ? count : random.Uniform(80);
      const auto begin = sample.begin() + static_cast<std::ptrdiff_t>(i * count);
      tokens[i] = std::vector<uint8_t>(begin, begin + static_cast<std::ptrdiff_t>(count_here));
      got[i].resize(count_here);
      bytes[i] = std::string(kMargin, 'x') + std::string(i, 'r');
      TokenEncoder(frequencies).Append(tokens[i], &bytes[i]);
      blocks[i] = std::string_view(bytes[i]).substr(kMargin);
    }
    std::array<size_t, 2> rests{};
    ASSERT_TRUE(decoder.DecodeTwo(blocks, {tokens[0].size(), tokens[1].size()},
                                  {got[0].data(), got[1].data()}, &rests))
        << count;
    EXPECT_EQ(got, tokens);
    EXPECT_EQ(rests, (std::array<size_t, 2>{0, 1}));
    // Either may be damaged.
    for (const size_t i : {0, 1}) {
      if (tokens[i].empty()) continue;
      std::array<std::string_view, 2> damaged = blocks;
      damaged[i].remove_suffix(damaged[i].size());
      EXPECT_FALSE(decoder.DecodeTwo(damaged, {tokens[0].size(), tokens[1].size()},
                                     {got[0].data(), got[1].data()}, &rests));
    }
  }
}

TEST(Tokens, FrequenciesRoundTripAndAddUp) {
  SeededRandom random(2);
  for (int round = 0; round < 500; ++round) {
    const auto count = static_cast<size_t>(1 + random.Uniform(20'000));
    const auto tokens = RandomTokens(&random, count, static_cast<int>(1 + random.Uniform(256)),
                                     1 + 20 * random.UniformReal());
    const auto counts = Count(tokens);
    const TokenFrequencies frequencies = TokenFrequencies::Of(counts);
    uint32_t sum = 0;
    for (int token = 0; token < kTokens; ++token) {
      EXPECT_EQ(frequencies.of(token) > 0, counts[token] > 0);
      sum += frequencies.of(token);
    }
    ASSERT_EQ(sum, 1u << frequencies.log());
    std::string bytes;
    frequencies.Append(&bytes);
    std::string_view in = bytes;
    TokenFrequencies got;
    ASSERT_TRUE(got.Parse(&in));
    EXPECT_TRUE(in.empty());
    for (int token = 0; token < kTokens; ++token) ASSERT_EQ(got.of(token), frequencies.of(token));
    for (size_t cut = 0; cut < bytes.size(); ++cut) {
      in = std::string_view(bytes).substr(0, cut);
      EXPECT_FALSE(got.Parse(&in));
    }
  }
}

TEST(Tokens, TakesCloseToTheEntropy) {
  SeededRandom random(3);
  for (const double skew : {1.5, 3.0, 6.0}) {
    const std::vector<uint8_t> tokens = RandomTokens(&random, 64 * kBlockTokensMax, 12, skew);
    const auto counts = Count(tokens);
    const TokenFrequencies frequencies = TokenFrequencies::Of(counts);
    const TokenEncoder encoder(frequencies);
    std::string bytes;
    for (size_t i = 0; i < tokens.size(); i += kBlockTokensMax) {
      encoder.Append(absl::MakeConstSpan(tokens).subspan(i, kBlockTokensMax), &bytes);
    }
    EXPECT_LT(static_cast<double>(bytes.size()) * 8, EntropyBits(counts, tokens.size()) * 1.02);
  }
}

TEST(Tokens, RefusesOrSurvivesAnyBytes) {
  SeededRandom random(4);
  const std::vector<uint8_t> tokens = RandomTokens(&random, kBlockTokensMax, 20, 3);
  const TokenFrequencies frequencies = TokenFrequencies::Of(Count(tokens));
  const TokenDecoder decoder(frequencies);
  std::vector<uint8_t> got(kBlockTokensMax);
  size_t rest = 0;
  for (int round = 0; round < 5000; ++round) {
    const auto size = static_cast<size_t>(random.Uniform(800));
    std::string bytes(kMargin + size, '\0');
    for (size_t i = kMargin; i < bytes.size(); ++i) bytes[i] = static_cast<char>(random.Next());
    const std::string_view block = std::string_view(bytes).substr(kMargin);
    if (decoder.Decode(block, kBlockTokensMax, got.data(), &rest)) {
      EXPECT_LE(rest, size);
    }
    std::array<size_t, 2> rests{};
    std::vector<uint8_t> got_too(kBlockTokensMax);
    if (decoder.DecodeTwo({block, block}, {kBlockTokensMax, kBlockTokensMax}, {got.data(), got_too.data()},
                          &rests)) {
      EXPECT_EQ(got, got_too);
      EXPECT_LE(rests[0], size);
    }
  }
  EXPECT_FALSE(decoder.Decode(std::string_view("12345678").substr(8), 1, got.data(), &rest));
}

TEST(Tokens, RefusesTablesThatDoNotAddUp) {
  TokenFrequencies frequencies;
  // Log 5; two tokens; the first has all 32.
  std::string_view in("\x05\x01\x00\x1F\x00", 5);
  EXPECT_FALSE(frequencies.Parse(&in));
  // Log 12.
  in = std::string_view("\x0C\x00\x00", 3);
  EXPECT_FALSE(frequencies.Parse(&in));
  // Token 256.
  in = std::string_view("\x05\x01\xFF\x01\x03\x00", 6);
  EXPECT_FALSE(frequencies.Parse(&in));
  in = std::string_view("\x05\x00\x07", 3);
  EXPECT_TRUE(frequencies.Parse(&in));
  EXPECT_EQ(frequencies.of(7), 32);
}

}  // namespace
}  // namespace sonde::codec
