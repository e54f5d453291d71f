#include "hll/hll_sketch.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <utility>
#include <vector>

#include "base/random.h"
#include "hll/fingerprint.h"

namespace sonde {
namespace {

constexpr AggregateKind kInt64 = AggregateKind::kHllInt64;
constexpr AggregateKind kBytes = AggregateKind::kHllBytes;

std::string Hex(std::string_view bytes) {
  std::string hex;
  for (const char c : bytes) hex += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return hex;
}

HllSketch Integers(int64_t from, int64_t to) {
  HllSketch sketch(kInt64);
  for (int64_t i = from; i < to; ++i) sketch.Merge(HllSketch::Of(i));
  return sketch;
}

HllSketch Strings(int from, int to) {
  HllSketch sketch(kBytes);
  for (int i = from; i < to; ++i) sketch.Merge(HllSketch::Of(fmt::format("value {}", i)));
  return sketch;
}

HllSketch Merged(HllSketch a, const HllSketch& b) {
  a.Merge(b);
  return a;
}

// Size and fingerprint of a large state.
std::string Print(const HllSketch& sketch) {
  const std::string state = sketch.Serialize();
  return fmt::format("{} {:016x}", state.size(), Fingerprint2011(state));
}

// What follows was printed by com.google.zetasketch:zetasketch 0.1.0 (Hash.of, HyperLogLogPlusPlus.Builder's
// buildForLongs and buildForStrings, serializeToByteArray) for the same values.
TEST(Fingerprint2011, IsThatOfZetaSketch) {
  std::string text;
  for (int i = 0; i < 200; ++i) text += static_cast<char>('a' + i % 26);
  const std::pair<size_t, uint64_t> golden[] = {
      {0, 0x23ad7c904aa665e3},   {1, 0x947947a2d71fb634},   {7, 0xcf36e4cd2e75ce78},
      {8, 0xb7c6f9a062041458},   {9, 0x9c9cdfa5ae53c417},   {16, 0x053f6af08b6bb65a},
      {31, 0x5398c3eb9c6e6943},  {32, 0xddd79fd65cb66ee3},  {33, 0xee7d150b18d4fbfc},
      {63, 0xa2788890a849ebdc},  {64, 0x93dba43862b35833},  {65, 0x22b041af314cfe30},
      {127, 0xf63ac1f34a496b68}, {128, 0xda217ffc751be134}, {129, 0xb17b732bbe2937ab},
      {200, 0x7e60a70418c27837}};
  for (const auto& [size, hash] : golden) {
    EXPECT_EQ(Fingerprint2011(std::string_view(text).substr(0, size)), hash) << size;
  }
  EXPECT_EQ(Fingerprint2011(int64_t{0}), 0x853a22bd6e14a48f);
  EXPECT_EQ(Fingerprint2011(int64_t{-1}), 0xda13d4a9f7078f79);
  EXPECT_EQ(Fingerprint2011(int64_t{42}), 0x583b2b9df8e0eb60);
  EXPECT_EQ(Fingerprint2011(std::numeric_limits<int64_t>::min()), 0xb4fdf91e12d4a388);
}

TEST(HllSketch, WritesWhatZetaSketchWrites) {
  EXPECT_EQ(Hex(HllSketch(kInt64).Serialize()), "0870100018022008820706180f20143200");
  EXPECT_EQ(Hex(HllSketch::Of(1).Serialize()), "087010011802200882070b1001180f2014320396a32e");
  EXPECT_EQ(Hex(HllSketch::Of("a").Serialize()), "087010011802200b82070b1001180f20143203948f25");
  EXPECT_EQ(Hex(Integers(0, 10).Serialize()),
            "0870100a18022008820723100a180f2014321ba3a605c1d102907eb88618f62aec840c8877c3e908966a92ab9801");
  EXPECT_EQ(
      Hex(Strings(0, 10).Serialize()),
      "0870100a1802200b820725100a180f2014321dd5da01f5ed03e279e69c0b97f501b8bf02f6ef16c2df07ca8b03d8e505");
  // Values with a rank.
  EXPECT_EQ(Hex(HllSketch::Of(3).Serialize()), "087010011802200882070c1001180f2014320481a2d001");
  EXPECT_EQ(Hex(HllSketch::Of(22).Serialize()), "087010011802200882070c1001180f20143204c1c6f801");
}

TEST(HllSketch, WritesWhatZetaSketchWritesOfManyValues) {
  EXPECT_EQ(Print(Integers(0, 1000)), "1950 5db7736458e7c5d1");
  EXPECT_EQ(Print(Integers(0, 8000)), "11305 d6e3791c6c5a0594");
  EXPECT_EQ(Print(Strings(0, 5000)), "7909 77e34a999d5565fc");
  const HllSketch sparse = Integers(0, 20'000);
  EXPECT_TRUE(sparse.is_sparse());
  EXPECT_EQ(Print(sparse), "22262 9200af9b99b9da5e");
  const HllSketch many = Merged(sparse, Integers(20'000, 100'000));
  EXPECT_FALSE(many.is_sparse());
  EXPECT_EQ(Print(many), "32791 1079d8c05b95f3af");
}

TEST(HllSketch, MergesAsZetaSketchDoes) {
  EXPECT_EQ(Print(Merged(Integers(0, 4000), Integers(2000, 8000))), "11305 224d90fc5089e0a8");
  const HllSketch many = Integers(0, 50'000), few = Integers(49'990, 50'010);
  EXPECT_EQ(Print(Merged(many, Integers(25'000, 100'000))), "32791 9d70f154404ef82d");
  EXPECT_EQ(Print(Merged(many, few)), "32791 33b78796da942bad");
  EXPECT_EQ(Print(Merged(few, many)), "32791 33b78796da942bad");
}

HllSketch IntegersOf(int precision, int64_t from, int64_t to) {
  HllSketch sketch(kInt64, precision);
  std::vector<uint64_t> hashes;
  for (int64_t i = from; i < to; ++i) hashes.push_back(Fingerprint2011(i));
  sketch.AddHashes(hashes);
  return sketch;
}

// What follows was printed by ZetaSketch 0.1.0 with sparsePrecision(min(precision + 5, 25)), as later versions have it.
TEST(HllSketch, WritesWhatZetaSketchWritesOfOtherPrecisions) {
  EXPECT_EQ(Hex(IntegersOf(10, 0, 8).Serialize()),
            "08701008180220088207181008180a200f32109915c60af8039a60ac01a71bec14dc03");
  EXPECT_EQ(Hex(IntegersOf(14, 0, 8).Serialize()),
            "087010081802200882071d1008180e2013321591d302e1a801883f9c830cbb15b68206c43bb7ff50");
  EXPECT_EQ(Hex(IntegersOf(19, 0, 8).Serialize()),
            "08701008180220088207211008181320183219b5e45498982af9e10ffbe68003e1ae05e69b6dddb15383f10e");
  EXPECT_EQ(Hex(IntegersOf(20, 0, 8).Serialize()),
            "0870100818022008820724100818142019321ceac8a901b0b054f3c31ff6cd8106c2dd0acbb7da01bbe3a60186e21d");
  EXPECT_EQ(
      Hex(IntegersOf(24, 0, 8).Serialize()),
      "087010081802200882072810081818201932208dbd9d02f6cd8106c2dd0a869b810386e21df0b4e99e04818c8c15bfddc98"
      "102");
  struct Case {
    int precision;
    std::string_view hundred, many, million;
  };
  for (const Case& c :
       {Case{10, "198 f1f6fff0e24fad2b", "1045 c555954d8aaa72d8", "1045 e2b620fecfa5977e"},
        Case{12, "217 3898bcfe5c440261", "4117 9e431bd21a8c9455", "4117 320e44b6f3b2f3b9"},
        Case{20, "321 e7704179adf1a304", "39242 0cf9d7362c44056d", "1048599 3c2cb382a23ff8bd"},
        Case{24, "368 3d1768abc0b7c1d4", "48293 f50267aa03e97a19", "1533569 95e4a17ea0a73451"}}) {
    EXPECT_EQ(Print(IntegersOf(c.precision, 0, 100)), c.hundred) << c.precision;
    EXPECT_EQ(Print(IntegersOf(c.precision, 0, 20'000)), c.many) << c.precision;
    EXPECT_EQ(Print(IntegersOf(c.precision, 0, 1'000'000)), c.million) << c.precision;
  }
}

TEST(HllSketch, MergesHigherPrecisionsAsZetaSketchDoes) {
  struct Case {
    int precision;
    int64_t values;
    int other_precision;
    int64_t other_values;
    std::string_view merged;
  };
  for (const Case& c :
       {Case{10, 300, 15, 300, "558 d6276d65393002db"}, Case{10, 300, 15, 20'000, "1045 c8d0607affb19551"},
        Case{10, 300, 15, 400'000, "1045 d892aebc58672c90"},
        Case{10, 20'000, 15, 300, "1045 5dbc18bb0a349215"},
        Case{10, 400'000, 15, 400'000, "1045 402c39d89633cdcf"},
        Case{21, 300, 24, 300, "1314 5a46c25b6ba24a01"}, Case{21, 300, 24, 20'000, "40210 1f7ab8d53cb2eaeb"},
        Case{21, 20'000, 24, 20'000, "58784 6a466e9492e69777"},
        Case{21, 20'000, 24, 400'000, "522730 a71578e5440db56e"},
        Case{21, 400'000, 24, 400'000, "697678 5469708e4b3afe25"}}) {
    const HllSketch low = IntegersOf(c.precision, 0, c.values);
    const HllSketch high = IntegersOf(c.other_precision, c.values / 2, c.values / 2 + c.other_values);
    EXPECT_EQ(Print(Merged(low, high)), c.merged) << c.precision << " " << c.values << " " << c.other_values;
    EXPECT_EQ(Print(Merged(high, low)), c.merged) << c.precision << " " << c.values << " " << c.other_values;
  }
}

TEST(HllSketch, OfAHigherPrecisionBecomesWhatWasCountedAtTheLowerOne) {
  for (const auto& [from, to] :
       {std::pair{24, 10}, {24, 20}, {24, 23}, {20, 19}, {16, 15}, {15, 12}, {11, 10}}) {
    for (const int64_t count : {0, 1, 500, 30'000, 300'000}) {
      EXPECT_EQ(Print(Merged(IntegersOf(from, 0, count), HllSketch(kInt64, to))),
                Print(IntegersOf(to, 0, count)))
          << from << " to " << to << ": " << count;
    }
  }
}

TEST(HllSketch, EstimatesAtEveryPrecision) {
  for (int precision = HllSketch::kPrecisionMin; precision <= HllSketch::kPrecisionMax; ++precision) {
    const double error = 4 * 1.04 / std::sqrt(static_cast<double>(1 << precision));
    for (const int64_t count : {100, 20'000, 300'000}) {
      EXPECT_NEAR(static_cast<double>(IntegersOf(precision, 0, count).Estimate()), static_cast<double>(count),
                  static_cast<double>(count) * error + 1)
          << precision << ": " << count;
    }
  }
}

TEST(HllSketch, OfAnyPrecisionIsReadBackButByCells) {
  for (int precision = HllSketch::kPrecisionMin; precision <= HllSketch::kPrecisionMax; ++precision) {
    for (const int64_t count : {0, 5, 20'000, 100'000}) {
      const std::string state = IntegersOf(precision, 0, count).Serialize();
      const auto again = HllSketch::ParseAny(state);
      ASSERT_TRUE(again.ok()) << again.status();
      EXPECT_EQ(again->precision(), precision);
      EXPECT_TRUE(again->Serialize() == state);
      EXPECT_EQ(HllSketch::Parse(kInt64, state).ok(), precision == HllSketch::kCellPrecision);
    }
  }
}

TEST(HllSketch, IsReadBack) {
  for (const HllSketch& sketch :
       {HllSketch(kInt64), HllSketch::Of(3), Integers(0, 1000), Integers(0, 40'000)}) {
    const auto again = HllSketch::Parse(kInt64, sketch.Serialize());
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ(again->Serialize(), sketch.Serialize());
  }
  // One to which nothing was added has not said of what it is.
  std::string state = HllSketch(kInt64).Serialize();
  state.erase(6, 2);
  EXPECT_EQ(HllSketch::Parse(kBytes, state)->Serialize(), HllSketch(kBytes).Serialize());
}

TEST(HllSketch, MergingIsAssociative) {
  SeededRandom random(1);
  for (int round = 0; round < 20; ++round) {
    HllSketch parts[3] = {HllSketch(kInt64), HllSketch(kInt64), HllSketch(kInt64)};
    for (HllSketch& part : parts) {
      const auto from = static_cast<int64_t>(random.Uniform(1000));
      part = Integers(from, from + static_cast<int64_t>(random.Uniform(round < 15 ? 300 : 30'000)));
    }
    const std::string left = Merged(Merged(parts[0], parts[1]), parts[2]).Serialize();
    EXPECT_EQ(left, Merged(parts[0], Merged(parts[1], parts[2])).Serialize());
    EXPECT_EQ(left, Merged(Merged(parts[2], parts[0]), parts[1]).Serialize());
  }
}

TEST(HllSketch, RefusesWhatIsNone) {
  const auto refusal = [](AggregateKind kind, std::string_view state) {
    return std::string(HllSketch::Parse(kind, state).status().message());
  };
  using testing::HasSubstr;
  const std::string state = HllSketch::Of(1).Serialize();
  EXPECT_THAT(refusal(kInt64, ""), HasSubstr("fields are missing"));
  EXPECT_THAT(refusal(kInt64, "12345678"), HasSubstr("no HLL++ sketch"));
  EXPECT_THAT(refusal(kBytes, state), HasSubstr("value type 8; the family's is 11"));
  const auto changed = [&state](size_t at, char to) {
    std::string copy = state;
    copy[at] = to;
    return copy;
  };
  EXPECT_THAT(refusal(kInt64, changed(1, 0x64)), HasSubstr("aggregator 100"));
  EXPECT_THAT(refusal(kInt64, changed(5, 1)), HasSubstr("encoding version 1"));
  EXPECT_THAT(refusal(kInt64, changed(14, 14)),
              HasSubstr("precision 14 and sparse precision 20; only 19 is taken"));
  EXPECT_THAT(refusal(kInt64, changed(14, 9)), HasSubstr("precision 9; 10 to 24 are taken"));
  EXPECT_THAT(refusal(kInt64, changed(14, 25)), HasSubstr("precision 25; 10 to 24 are taken"));
  EXPECT_THAT(refusal(kInt64, IntegersOf(14, 0, 1).Serialize()),
              HasSubstr("precision 14; that of cells is 15"));
  EXPECT_THAT(refusal(kInt64, changed(21, 0x7f)), HasSubstr("sparse value"));
  // Whatever the bytes: a status, and of what is taken a sketch that is written and read again.
  SeededRandom random(2);
  const std::string large = Integers(0, 30'000).Serialize();
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes =
        i % 100 == 0 ? large : Integers(0, static_cast<int64_t>(random.Uniform(5))).Serialize();
    for (uint64_t changes = random.Uniform(4); changes > 0; --changes) {
      bytes[random.Uniform(bytes.size())] = static_cast<char>(random.Next());
    }
    if (random.Uniform(4) == 0) bytes.resize(random.Uniform(bytes.size()));
    const auto sketch = HllSketch::ParseAny(bytes);
    if (!sketch.ok()) continue;
    ASSERT_EQ(HllSketch::ParseAny(sketch->Serialize())->Serialize(), sketch->Serialize());
  }
}

TEST(HllSketch, AddsManyHashesAsItMergesOneByOne) {
  for (const int64_t count : {0, 1, 5, 1'000, 20'000}) {
    HllSketch at_once(kInt64);
    std::vector<uint64_t> hashes;
    for (int64_t i = 0; i < count; ++i) {
      hashes.push_back(Fingerprint2011(i));
      if (i % 777 == 0) {
        at_once.AddHashes(hashes);
        hashes.clear();
      }
    }
    at_once.AddHashes(hashes);
    EXPECT_EQ(at_once.Serialize(), Integers(0, count).Serialize()) << count;
  }
}

TEST(HllSketch, EstimatesHowManyValuesThereWere) {
  EXPECT_EQ(HllSketch(kInt64).Estimate(), 0);
  EXPECT_EQ(Integers(0, 1).Estimate(), 1);
  EXPECT_EQ(Integers(0, 100).Estimate(), 100);
  HllSketch sketch(kInt64);
  std::vector<uint64_t> hashes;
  int64_t next = 0;
  for (const int64_t count : {1'000, 10'000, 15'000, 30'000, 60'000, 100'000, 1'000'000, 5'000'000}) {
    for (hashes.clear(); next < count; ++next) hashes.push_back(Fingerprint2011(next));
    sketch.AddHashes(hashes);
    EXPECT_NEAR(static_cast<double>(sketch.Estimate()), static_cast<double>(count),
                static_cast<double>(count) * 0.015)
        << count;
  }
}

TEST(HllSketch, ParsesStatesOfEitherKind) {
  EXPECT_EQ(HllSketch::ParseAny(Integers(0, 5).Serialize())->kind(), kInt64);
  EXPECT_EQ(HllSketch::ParseAny(Strings(0, 5).Serialize())->kind(), kBytes);
  EXPECT_FALSE(HllSketch::ParseAny("x").ok());
}

}  // namespace
}  // namespace sonde
