#include "codec/texts.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"
#include "base/varint.h"

namespace sonde::codec {
namespace {

using Texts = std::vector<std::string>;

std::vector<std::string_view> Views(const Texts& texts) { return {texts.begin(), texts.end()}; }

std::string Encode(const Texts& texts) {
  std::string bytes;
  EncodeTexts(Views(texts), &bytes);
  return bytes;
}

Texts Decode(std::string_view bytes, size_t count) {
  TextColumn column;
  EXPECT_TRUE(column.Parse(&bytes, count));
  EXPECT_TRUE(bytes.empty());
  std::vector<std::string_view> views(count);
  ByteArena arena;
  EXPECT_TRUE(column.Decode(0, count, &arena, views.data()));
  return {views.begin(), views.end()};
}

std::string BigEndian(uint64_t number) {
  std::string bytes;
  PutFixed64(&bytes, number);
  return bytes;
}

// Keys of a kind, sorted and different.
Texts Keys(RandomSource* random, uint64_t kind, int count) {
  Texts keys;
  for (int i = 0; i < count; ++i) {
    const auto j = static_cast<uint64_t>(i);
    switch (kind) {
      case 0:
        keys.push_back(fmt::format("host_{}#cpu#{}", i / 1000, 1'467'000'000 + i * 10));
        break;
      case 1:
        keys.push_back(fmt::format("host_{:05}#{:019}", i / 1000, INT64_MAX - i * int64_t{10'000'000}));
        break;
      case 2:
        keys.push_back(BigEndian(j / 100 * 0x123456789ABC) + BigEndian(1'467'000'000'000 + j * 1000));
        break;
      case 3:
        keys.push_back(fmt::format("sensor{}#", i / 100) + BigEndian(1'467'000'000'000 + j * 1000));
        break;
      case 4:
        keys.push_back(fmt::format("{:016x}{:016x}", random->Next(), random->Next()));
        break;
      case 5:
        keys.push_back(fmt::format("{:030}{}", i, std::string(random->Uniform(3), '0')));
        break;
      case 6: {
        std::string key;
        for (uint64_t length = random->Uniform(20); length > 0; --length)
          key.push_back(static_cast<char>(random->Next()));
        keys.push_back(key);
        break;
      }
      case 7: {
        std::string key;
        for (uint64_t length = random->Uniform(12); length > 0; --length)
          key.push_back("01a"[random->Uniform(3)]);
        keys.push_back(key);
        break;
      }
      default:
        keys.push_back(fmt::format("s#2016-{:02}-{:02}T{:02}:{:02}", i / 43200 + 1, i / 1440 % 30 + 1,
                                   i / 60 % 24, i % 60));
    }
  }
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return keys;
}
constexpr uint64_t kKinds = 9;

TEST(Texts, RoundTripsKeysOfAllKinds) {
  SeededRandom random(1);
  for (int round = 0; round < 300; ++round) {
    const Texts keys = Keys(&random, random.Uniform(kKinds), static_cast<int>(1 + random.Uniform(300)));
    ASSERT_EQ(Decode(Encode(keys), keys.size()), keys) << "round " << round;
  }
}

TEST(Texts, RoundTripsTextsInNoOrder) {
  SeededRandom random(2);
  for (int round = 0; round < 200; ++round) {
    Texts texts;
    for (uint64_t i = 1 + random.Uniform(100); i > 0; --i) {
      const Texts some = Keys(&random, random.Uniform(kKinds), 3);
      texts.push_back(some[random.Uniform(some.size())]);
    }
    ASSERT_EQ(Decode(Encode(texts), texts.size()), texts);
  }
}

TEST(Texts, KeysThatCountUpCostNextToNothing) {
  SeededRandom random(3);
  for (const uint64_t kind : {0, 1, 2, 3}) {
    const Texts keys = Keys(&random, kind, 10'000);
    EXPECT_LT(static_cast<double>(Encode(keys).size()) / static_cast<double>(keys.size()), 0.08)
        << "kind " << kind;
  }
}

TEST(Texts, KeysWithoutAPatternCostLessThanTheyAre) {
  SeededRandom random(4);
  const Texts keys = Keys(&random, 4, 5'000);
  EXPECT_LT(static_cast<double>(Encode(keys).size()) / static_cast<double>(keys.size()), 20.0);
}

TEST(Texts, LowerBoundIsThatOfTheSortedKeys) {
  SeededRandom random(5);
  for (uint64_t kind = 0; kind < kKinds; ++kind) {
    const Texts keys = Keys(&random, kind, 3'000);
    const std::string bytes = Encode(keys);
    std::string_view in = bytes;
    TextColumn column;
    ASSERT_TRUE(column.Parse(&in, keys.size()));
    for (int i = 0; i < 200; ++i) {
      std::string wanted = keys[random.Uniform(keys.size())];
      if (random.Uniform(2) == 0 && !wanted.empty()) wanted.back() = static_cast<char>(wanted.back() + 1);
      if (random.Uniform(3) == 0) wanted.resize(random.Uniform(wanted.size() + 1));
      size_t index = 0;
      ASSERT_TRUE(column.LowerBound(wanted, &index));
      EXPECT_EQ(index, std::lower_bound(keys.begin(), keys.end(), wanted) - keys.begin());
      const size_t from = i == 0 ? keys.size() : random.Uniform(keys.size());
      ASSERT_TRUE(column.LowerBoundNear(from, wanted, &index));
      EXPECT_EQ(index, std::lower_bound(keys.begin() + from, keys.end(), wanted) - keys.begin());
    }
    std::string text;
    ASSERT_TRUE(column.At(keys.size() - 1, &text));
    EXPECT_EQ(text, keys.back());
  }
}

TEST(Texts, DecodesAnyPart) {
  SeededRandom random(6);
  for (uint64_t kind = 0; kind < kKinds; ++kind) {
    const Texts keys = Keys(&random, kind, 2'500);
    const std::string bytes = Encode(keys);
    std::string_view in = bytes;
    TextColumn column;
    ASSERT_TRUE(column.Parse(&in, keys.size()));
    ByteArena arena;
    for (int i = 0; i < 50; ++i) {
      const auto begin = static_cast<size_t>(random.Uniform(keys.size() + 1));
      const auto end = static_cast<size_t>(begin + random.Uniform(keys.size() - begin + 1));
      std::vector<std::string_view> got(end - begin);
      arena.Clear();
      ASSERT_TRUE(column.Decode(begin, end, &arena, got.data()));
      for (size_t k = 0; k < got.size(); ++k) ASSERT_EQ(got[k], keys[begin + k]);
    }
  }
}

TEST(Texts, AlikeTextsAreManyOfFewTemplates) {
  Texts records;
  for (int i = 0; i < 200; ++i)
    records.push_back(fmt::format("{{\"t\":{:.1f},\"n\":{}}}", 20 + i % 7 * 0.3, 100 + i));
  std::string bytes = "before";
  EXPECT_TRUE(EncodeAlikeTexts(Views(records), &bytes));
  EXPECT_LT(bytes.size(), 300u);
  EXPECT_EQ(Decode(std::string_view(bytes).substr(6), records.size()), records);

  Texts words;
  for (char c = 'a'; c <= 'z'; ++c) words.emplace_back(3, c);
  bytes = "before";
  EXPECT_FALSE(EncodeAlikeTexts(Views(words), &bytes));
  EXPECT_EQ(bytes, "before");
}

TEST(Texts, SurvivesDamage) {
  SeededRandom random(7);
  for (int round = 0; round < 2000; ++round) {
    const Texts keys = Keys(&random, random.Uniform(kKinds), static_cast<int>(1 + random.Uniform(100)));
    std::string bytes = Encode(keys);
    if (random.Uniform(4) == 0) {
      bytes.resize(random.Uniform(bytes.size()));
    } else {
      for (uint64_t flips = 1 + random.Uniform(4); flips > 0; --flips) {
        bytes[random.Uniform(bytes.size())] ^= static_cast<char>(1 << random.Uniform(8));
      }
    }
    std::string_view in = bytes;
    TextColumn column;
    if (!column.Parse(&in, keys.size())) continue;
    std::vector<std::string_view> got(keys.size());
    ByteArena arena;
    size_t index = 0;
    if (column.Decode(0, keys.size(), &arena, got.data())) {
      EXPECT_LE(got.back().size(), kColumnBytesMax);
    }
    if (column.LowerBound(keys.back(), &index)) {
      EXPECT_LE(index, keys.size());
    }
    if (column.LowerBoundNear(keys.size() / 2, keys.back(), &index)) {
      EXPECT_LE(index, keys.size());
    }
  }
}

}  // namespace
}  // namespace sonde::codec
