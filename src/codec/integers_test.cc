#include "codec/integers.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/random.h"

namespace sonde::codec {
namespace {

constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

std::string Encode(const std::vector<int64_t>& values) {
  std::string bytes;
  EncodeIntegers(values, &bytes);
  return bytes;
}

std::vector<int64_t> Decode(std::string_view bytes, size_t count) {
  IntegerColumn column;
  std::vector<int64_t> values;
  EXPECT_TRUE(column.Parse(&bytes, count));
  EXPECT_TRUE(bytes.empty());
  EXPECT_TRUE(column.DecodeAll(&values));
  return values;
}

// Columns of all the kinds that the forms are made for, and of none.
std::vector<int64_t> RandomColumn(RandomSource* random) {
  const auto kind = random->Uniform(10);
  const auto count = static_cast<size_t>(1 + random->Uniform(random->Uniform(4) == 0 ? 5000 : 100));
  const auto scale = static_cast<int64_t>(uint64_t{1} << random->Uniform(63));
  std::vector<int64_t> values(count);
  auto value = static_cast<uint64_t>(random->Uniform(2) == 0 ? 0 : random->Next());
  uint64_t speed = random->Next() >> random->Uniform(64);
  for (size_t i = 0; i < count; ++i) {
    switch (kind) {
      case 0:  // anything
        value = random->Next() >> random->Uniform(64);
        break;
      case 1:  // a walk
        value += random->Uniform(9) - 4;
        break;
      case 2:  // a line that is bent now and then
        if (random->Uniform(200) == 0) speed = random->Next() >> random->Uniform(64);
        value += speed;
        break;
      case 3:  // steady growth
        value += 1000 + random->Uniform(50);
        break;
      case 4:  // acceleration
        speed += random->Uniform(5) - 2;
        value += speed;
        break;
      case 5:  // multiples
        value = static_cast<uint64_t>(scale) * random->Uniform(20);
        break;
      case 6:  // mostly the same
        value = random->Uniform(50) == 0 ? random->Next() : 7;
        break;
      case 7:  // the ends
        value = random->Uniform(2) == 0 ? static_cast<uint64_t>(kLeast) : static_cast<uint64_t>(kMost);
        break;
      case 8:  // bits without a pattern
        value = random->Next() & static_cast<uint64_t>(scale - 1);
        break;
      default:  // the same
        break;
    }
    values[i] = static_cast<int64_t>(value);
  }
  return values;
}

TEST(Integers, RoundTripsColumnsOfAllKinds) {
  SeededRandom random(1);
  for (int round = 0; round < 3000; ++round) {
    const std::vector<int64_t> values = RandomColumn(&random);
    ASSERT_EQ(Decode(Encode(values), values.size()), values) << "round " << round;
  }
}

TEST(Integers, RoundTripsTheEnds) {
  for (const std::vector<int64_t>& values : std::vector<std::vector<int64_t>>{
           {0},
           {kLeast},
           {kMost},
           {kLeast, kMost},
           {kMost, kLeast},
           {kLeast, kMost, 0, -1, 1},
           {kLeast, kLeast, kMost, kMost, kLeast},
           {5, 5, 5},
           {5, 3, 1, -1},
       }) {
    EXPECT_EQ(Decode(Encode(values), values.size()), values);
  }
}

TEST(Integers, DecodesAnyPart) {
  SeededRandom random(2);
  for (int round = 0; round < 100; ++round) {
    const std::vector<int64_t> values = RandomColumn(&random);
    const std::string bytes = Encode(values);
    std::string_view in = bytes;
    IntegerColumn column;
    ASSERT_TRUE(column.Parse(&in, values.size()));
    for (int part = 0; part < 20; ++part) {
      const auto begin = static_cast<size_t>(random.Uniform(values.size() + 1));
      const auto end = static_cast<size_t>(begin + random.Uniform(values.size() - begin + 1));
      std::vector<int64_t> got(end - begin);
      ASSERT_TRUE(column.Decode(begin, end, got.data()));
      ASSERT_TRUE(std::equal(got.begin(), got.end(), values.begin() + static_cast<std::ptrdiff_t>(begin)));
    }
  }
}

// As scans read them: blocks that are begun are kept, and two are decoded at once.
TEST(Integers, DecodesPartsOneBehindTheOther) {
  SeededRandom random(8);
  for (int round = 0; round < 200; ++round) {
    const std::vector<int64_t> values = RandomColumn(&random);
    const std::string bytes = Encode(values);
    std::string_view in = bytes;
    IntegerColumn column;
    ASSERT_TRUE(column.Parse(&in, values.size()));
    const uint64_t longest = 1 + random.Uniform(3000);
    std::vector<int64_t> got(values.size());
    for (size_t begin = 0; begin < got.size();) {
      const size_t end = std::min<size_t>(begin + 1 + random.Uniform(longest), got.size());
      ASSERT_TRUE(column.Decode(begin, end, got.data() + begin));
      begin = end;
    }
    ASSERT_EQ(got, values);
  }
}

TEST(Integers, LinesAndConstantsAreAFewBytes) {
  std::vector<int64_t> values;
  for (int i = 0; i < 10'000; ++i) values.push_back(1'467'000'000'000'000 + i * int64_t{10'000'000});
  EXPECT_LE(Encode(values).size(), 16u);
  EXPECT_LE(Encode(std::vector<int64_t>(10'000, 42)).size(), 2u);
}

TEST(Integers, StepsWithGapsCostLittle) {
  // An hour of readings a host, then the next host.
  std::vector<int64_t> values;
  for (int host = 0; host < 100; ++host) {
    for (int i = 0; i < 360; ++i) values.push_back((1'467'000'000 + i * int64_t{10}) * 1'000'000);
  }
  EXPECT_LT(Encode(values).size(), 600u);
}

TEST(Integers, WalksTakeTheirEntropy) {
  // Steps of -1, 0, 1 with 1/4, 1/2, 1/4: 1.5 bits.
  SeededRandom random(3);
  std::vector<int64_t> values;
  int64_t value = 50;
  for (int i = 0; i < 20'000; ++i) {
    value += static_cast<int64_t>(random.Uniform(2)) - static_cast<int64_t>(random.Uniform(2));
    values.push_back(value);
  }
  EXPECT_LT(static_cast<double>(Encode(values).size()) * 8, 1.5 * 20'000 * 1.04);
}

TEST(Integers, BytesWithoutAPatternTakeTheirWidth) {
  SeededRandom random(4);
  std::vector<int64_t> values(5000);
  for (int64_t& value : values) value = static_cast<int64_t>(random.Next());
  EXPECT_LT(Encode(values).size(), 5000 * 8 + 64u);
}

TEST(Integers, EstimatesWhatTheyTake) {
  SeededRandom random(5);
  for (int round = 0; round < 200; ++round) {
    std::vector<int64_t> values;
    const auto width = static_cast<uint64_t>(1 + random.Uniform(1000));
    for (int i = 0; i < 20'000; ++i) values.push_back(static_cast<int64_t>(random.Uniform(width)));
    const double bits = static_cast<double>(Encode(values).size()) * 8 / static_cast<double>(values.size());
    EXPECT_NEAR(PlanIntegers(values).bits, bits, 0.3 + bits * 0.1);
  }
}

TEST(Integers, RefusesWhatIsCutShort) {
  SeededRandom random(6);
  for (int round = 0; round < 200; ++round) {
    const std::vector<int64_t> values = RandomColumn(&random);
    const std::string bytes = Encode(values);
    for (int i = 0; i < 20; ++i) {
      std::string_view in = std::string_view(bytes).substr(0, random.Uniform(bytes.size()));
      IntegerColumn column;
      EXPECT_FALSE(column.Parse(&in, values.size()));
    }
  }
}

TEST(Integers, SurvivesFlippedBits) {
  SeededRandom random(7);
  for (int round = 0; round < 3000; ++round) {
    const std::vector<int64_t> values = RandomColumn(&random);
    std::string bytes = Encode(values);
    for (uint64_t flips = 1 + random.Uniform(4); flips > 0; --flips) {
      bytes[random.Uniform(bytes.size())] ^= static_cast<char>(1 << random.Uniform(8));
    }
    std::string_view in = bytes;
    IntegerColumn column;
    std::vector<int64_t> got;
    if (!column.Parse(&in, values.size()) || !column.DecodeAll(&got)) continue;
    EXPECT_EQ(got.size(), values.size());
  }
}

TEST(Integers, BoundsAreChecked) {
  const std::string bytes = Encode({1, 5, 9, 200});
  std::string_view in = bytes;
  IntegerColumn column;
  std::vector<int64_t> values;
  ASSERT_TRUE(column.Parse(&in, 4));
  EXPECT_TRUE(column.DecodeAll(1, 200, &values));
  EXPECT_FALSE(column.DecodeAll(2, 200, &values));
  EXPECT_FALSE(column.DecodeAll(1, 199, &values));
}

}  // namespace
}  // namespace sonde::codec
