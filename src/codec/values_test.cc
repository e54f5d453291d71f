#include "codec/values.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <optional>

#include "base/random.h"
#include "base/varint.h"

namespace sonde::codec {
namespace {

using Values = std::vector<std::string>;

std::string Encode(const Values& values) {
  std::string bytes;
  EncodeValues(std::vector<std::string_view>(values.begin(), values.end()), &bytes);
  return bytes;
}

Values Decode(std::string_view bytes, size_t count) {
  ValueColumn column;
  EXPECT_TRUE(column.Parse(bytes, count));
  std::vector<std::string_view> views(count);
  ByteArena arena;
  EXPECT_TRUE(column.Decode(0, count, &arena, views.data()));
  return {views.begin(), views.end()};
}

std::string BigEndian(uint64_t bits) {
  std::string bytes;
  PutFixed64(&bytes, bits);
  return bytes;
}
std::string BigEndian(double value) { return BigEndian(std::bit_cast<uint64_t>(value)); }

double BytesAValue(const Values& values) {
  return static_cast<double>(Encode(values).size()) / static_cast<double>(values.size());
}

// A walk with steps of about 1.
class Walk {
 public:
  explicit Walk(uint64_t seed) : random_(seed) {}
  double Next() {
    double step = 0;
    for (int i = 0; i < 12; ++i) step += random_.UniformReal();
    level_ = std::clamp(level_ + step - 6, 0.0, 100.0);
    return level_;
  }

 private:
  SeededRandom random_;
  double level_ = 50;
};

Values Column(RandomSource* random, uint64_t kind, int count) {
  Values values;
  Walk walk(random->Next());
  const auto decimals = static_cast<int>(random->Uniform(6));
  for (int i = 0; i < count; ++i) {
    const double level = walk.Next();
    switch (kind) {
      case 0:
        values.push_back(fmt::format("{}", static_cast<int>(level)));
        break;
      case 1:
        values.push_back(fmt::format("{:.{}f}", level - 50, decimals));
        break;
      case 2:
        values.push_back(
            fmt::format("{}", std::round(level * std::pow(10, decimals)) / std::pow(10, decimals)));
        break;
      case 3:
        values.push_back(BigEndian(static_cast<uint64_t>(level) - 50));
        break;
      case 4:
        values.push_back(BigEndian(std::round(level * std::pow(10, decimals)) / std::pow(10, decimals) - 50));
        break;
      case 5:
        values.push_back(BigEndian(std::sin(level) * std::pow(10, decimals)));
        break;
      case 6:
        values.push_back(BigEndian(random->Next()));
        break;
      case 7:
        values.push_back(random->Uniform(20) == 0 ? "down" : "up");
        break;
      case 8: {
        std::string value;
        for (uint64_t length = random->Uniform(30); length > 0; --length)
          value.push_back(static_cast<char>(random->Next()));
        values.push_back(value);
        break;
      }
      case 9: {
        static constexpr std::string_view kOdd[] = {"007", "1e3",  "-0",    "",   " 1", "1 ",
                                                    "+1",  "0.0",  "00",    ".5", "5.", "NaN",
                                                    "x",   "1.50", "-0.00", "0",  "12", "-3.5"};
        values.emplace_back(random->Uniform(3) == 0 ? kOdd[random->Uniform(std::size(kOdd))] : "42");
        break;
      }
      case 10: {
        static const double kOdd[] = {0.0,
                                      -0.0,
                                      std::numeric_limits<double>::quiet_NaN(),
                                      -std::numeric_limits<double>::infinity(),
                                      std::numeric_limits<double>::denorm_min(),
                                      std::numeric_limits<double>::max(),
                                      0x1p53,
                                      0x1p53 + 2,
                                      1e22,
                                      1e23,
                                      0.1 + 0.2};
        values.push_back(
            BigEndian(random->Uniform(10) == 0 ? kOdd[random->Uniform(std::size(kOdd))] : level));
        break;
      }
      case 11:
        values.push_back(fmt::format("{{\"v\":{:.1f},\"n\":{}}}", level, i));
        break;
      case 12:
        values.push_back(std::string(1, static_cast<char>(level)));
        break;
      case 13:  // a NaN's payload, a signalling one, and others
        values.push_back(BigEndian(uint64_t{0x7FF0000000000000} + random->Uniform(3) * 0x123456));
        break;
      default:
        values.emplace_back("same");
    }
  }
  return values;
}
constexpr uint64_t kKinds = 15;

TEST(Values, RoundTripsColumnsOfAllKinds) {
  SeededRandom random(1);
  for (int round = 0; round < 1500; ++round) {
    const uint64_t kind = random.Uniform(kKinds);
    const int count = static_cast<int>(1 + random.Uniform(random.Uniform(8) == 0 ? 3000 : 60));
    const Values values = Column(&random, kind, count);
    ASSERT_EQ(Decode(Encode(values), values.size()), values) << "kind " << kind << ", round " << round;
  }
}

TEST(Values, RoundTripsMixedColumns) {
  SeededRandom random(2);
  for (int round = 0; round < 500; ++round) {
    const uint64_t kind = random.Uniform(kKinds), other = random.Uniform(kKinds);
    Values values = Column(&random, kind, static_cast<int>(20 + random.Uniform(500)));
    for (uint64_t i = random.Uniform(values.size() / 8 + 1); i > 0; --i) {
      values[random.Uniform(values.size())] = Column(&random, other, 1)[0];
    }
    ASSERT_EQ(Decode(Encode(values), values.size()), values) << "kind " << kind << " with " << other;
  }
}

TEST(Values, DecodesAnyPart) {
  SeededRandom random(3);
  for (uint64_t kind = 0; kind < kKinds; ++kind) {
    const Values values = Column(&random, kind, 3000);
    const std::string bytes = Encode(values);
    ValueColumn column;
    ASSERT_TRUE(column.Parse(bytes, values.size()));
    ByteArena arena;
    for (int part = 0; part < 30; ++part) {
      const auto begin = static_cast<size_t>(random.Uniform(values.size() + 1));
      const auto end = static_cast<size_t>(begin + random.Uniform(values.size() - begin + 1));
      std::vector<std::string_view> got(end - begin);
      arena.Clear();
      ASSERT_TRUE(column.Decode(begin, end, &arena, got.data()));
      for (size_t i = 0; i < got.size(); ++i) ASSERT_EQ(got[i], values[begin + i]) << "kind " << kind;
    }
  }
}

TEST(Values, WalksOfWholeNumbersTakeTheirEntropyInAnyEncoding) {
  // The step's entropy, floored, is 2.1 bits.
  SeededRandom random(4);
  EXPECT_LT(BytesAValue(Column(&random, 0, 20'000)), 0.29);
  Values integers, doubles, cents;
  Walk walk(5);
  for (int i = 0; i < 20'000; ++i) {
    const int level = static_cast<int>(walk.Next());
    integers.push_back(BigEndian(static_cast<uint64_t>(level)));
    doubles.push_back(BigEndian(static_cast<double>(level)));
    cents.push_back(BigEndian(level / 100.0));
  }
  EXPECT_LT(BytesAValue(integers), 0.29);
  EXPECT_LT(BytesAValue(doubles), 0.29);
  EXPECT_LT(BytesAValue(cents), 0.29);
}

TEST(Values, SinglePrecisionAsDoubleTakesLessThanHalf) {
  Values values;
  Walk walk(6);
  for (int i = 0; i < 10'000; ++i)
    values.push_back(BigEndian(static_cast<double>(static_cast<float>(walk.Next()))));
  EXPECT_LT(BytesAValue(values), 3.0);
}

TEST(Values, FewDifferentWordsTakeTheirEntropy) {
  SeededRandom random(7);
  EXPECT_LT(BytesAValue(Column(&random, 7, 20'000)), 0.045);  // 0.286 bits
}

TEST(Values, CountersAndConstantsTakeNextToNothing) {
  Values counter, constant(10'000, "some constant value");
  for (int i = 0; i < 10'000; ++i) counter.push_back(fmt::format("{}", 1'000'000 + i * 17));
  EXPECT_LT(Encode(counter).size(), 30u);
  EXPECT_LT(Encode(constant).size(), 30u);
}

TEST(Values, BytesWithoutAPatternTakeTheirLength) {
  SeededRandom random(8);
  EXPECT_LT(BytesAValue(Column(&random, 6, 5'000)), 8.05);
}

TEST(Values, NumbersAreReadAsTheyAreWritten) {
  Walk walk(9);
  std::vector<double> wanted;
  Values texts, whole_texts, integers, doubles;
  for (int i = 0; i < 3'000; ++i) {
    wanted.push_back(std::floor(walk.Next()) - 50);
    texts.push_back(fmt::format("{:.2f}", wanted.back() == 0 ? 0.0 : wanted.back()));
    whole_texts.push_back(fmt::format("{}", static_cast<int64_t>(wanted.back())));
    integers.push_back(BigEndian(static_cast<uint64_t>(static_cast<int64_t>(wanted.back()))));
    doubles.push_back(BigEndian(wanted.back() + 0.0));
  }
  const auto check = [&](const Values& values, NumberBytes written, NumberBytes other, NumberKind kind) {
    const std::string bytes = Encode(values);
    ValueColumn column;
    ASSERT_TRUE(column.Parse(bytes, values.size()));
    ASSERT_EQ(column.NumbersIn(written), kind);
    EXPECT_EQ(column.NumbersIn(other), NumberKind::kNone);
    std::vector<double> got(2'000);
    std::vector<int64_t> ints(2'000);
    bool are_nearest = true;
    if (kind == NumberKind::kInt64) {
      ASSERT_TRUE(column.DecodeInts(written, 500, 2'500, ints.data()));
      std::copy(ints.begin(), ints.end(), got.begin());
    } else {
      ASSERT_TRUE(column.DecodeDoubles(written, 500, 2'500, got.data(), &are_nearest));
    }
    EXPECT_TRUE(are_nearest);
    for (size_t i = 0; i < got.size(); ++i) ASSERT_EQ(got[i], wanted[i + 500]);
  };
  check(texts, NumberBytes::kDecimalText, NumberBytes::kBigEndianDouble, NumberKind::kDouble);
  check(whole_texts, NumberBytes::kDecimalText, NumberBytes::kBigEndianDouble, NumberKind::kInt64);
  check(integers, NumberBytes::kBigEndianInteger, NumberBytes::kDecimalText, NumberKind::kInt64);
  check(doubles, NumberBytes::kBigEndianDouble, NumberBytes::kDecimalText, NumberKind::kDouble);

  const std::string constant = Encode({"2.5", "2.5"});
  ValueColumn column;
  ASSERT_TRUE(column.Parse(constant, 2));
  ASSERT_EQ(column.NumbersIn(NumberBytes::kDecimalText), NumberKind::kDouble);
  EXPECT_EQ(column.NumbersIn(NumberBytes::kBigEndianDouble), NumberKind::kNone);
  double got[2];
  bool are_nearest = false;
  ASSERT_TRUE(column.DecodeDoubles(NumberBytes::kDecimalText, 0, 2, got, &are_nearest));
  EXPECT_TRUE(are_nearest);
  EXPECT_EQ(got[1], 2.5);
}

TEST(Values, ColumnsThatAreNotAllNumbersAreNotReadAsNumbers) {
  Values values(100, "1");
  values[50] = "n/a";
  const std::string bytes = Encode(values);
  ValueColumn column;
  ASSERT_TRUE(column.Parse(bytes, values.size()));
  EXPECT_EQ(column.NumbersIn(NumberBytes::kDecimalText), NumberKind::kNone);
}

// Doubles do not tell integers beyond 2^53 apart; ints do.
TEST(Values, IntegersBeyondDoublesAreExact) {
  constexpr int64_t kMost = int64_t{1} << 53;
  // Nothing: the column is of a form that is not read as numbers.
  const auto ints = [](const Values& values, NumberBytes written) -> std::optional<std::vector<int64_t>> {
    const std::string bytes = Encode(values);
    ValueColumn column;
    EXPECT_TRUE(column.Parse(bytes, values.size()));
    if (column.NumbersIn(written) != NumberKind::kInt64) return std::nullopt;
    std::vector<int64_t> numbers(values.size());
    EXPECT_TRUE(column.DecodeInts(written, 0, values.size(), numbers.data()));
    return numbers;
  };
  for (const int64_t most : {kMost, -kMost, kMost + 1, -kMost - 1, INT64_MAX - 1, INT64_MIN + 100}) {
    const std::string text = fmt::format("{}", most);
    const std::string bytes = BigEndian(static_cast<uint64_t>(most));
    const std::vector<int64_t> both = {most, most};
    EXPECT_EQ(ints({text, text}, NumberBytes::kDecimalText).value_or(both), both);
    EXPECT_EQ(ints({bytes, bytes}, NumberBytes::kBigEndianInteger), both);
    // Many, this one the furthest from 0.
    Values texts, integers;
    std::vector<int64_t> wanted;
    for (int64_t i = 0; i < 100; ++i) {
      wanted.push_back(most > 0 ? most - i * 7 : most + i * 7);
      texts.push_back(fmt::format("{}", wanted.back()));
      integers.push_back(BigEndian(static_cast<uint64_t>(wanted.back())));
    }
    // 19 digits are more than decimal texts are packed with.
    const bool are_long = text.size() > 18;
    EXPECT_EQ(ints(texts, NumberBytes::kDecimalText).value_or(wanted), wanted);
    EXPECT_TRUE(are_long || ints(texts, NumberBytes::kDecimalText)) << most;
    EXPECT_EQ(ints(integers, NumberBytes::kBigEndianInteger), wanted);
  }
}

// A quotient of what is rounded already may be the wrong double: a reader is told, and takes the texts.
TEST(Values, DecimalsBeyondDoublesAreTold) {
  for (const bool is_long : {false, true}) {
    Values texts;
    for (int i = 0; i < 100; ++i)
      texts.push_back(fmt::format("{}.{}", (is_long ? 900719925474099 : 7) + i, i % 10));
    texts.push_back(is_long ? "900719925474099.3" : "7.3");
    const std::string bytes = Encode(texts);
    ValueColumn column;
    ASSERT_TRUE(column.Parse(bytes, texts.size()));
    ASSERT_EQ(column.NumbersIn(NumberBytes::kDecimalText), NumberKind::kDouble);
    std::vector<double> numbers(texts.size());
    bool are_nearest = false;
    ASSERT_TRUE(
        column.DecodeDoubles(NumberBytes::kDecimalText, 0, texts.size(), numbers.data(), &are_nearest));
    EXPECT_EQ(are_nearest, !is_long);
  }
}

TEST(Values, SurvivesDamage) {
  SeededRandom random(10);
  for (int round = 0; round < 6000; ++round) {
    const Values values = Column(&random, random.Uniform(kKinds), static_cast<int>(1 + random.Uniform(200)));
    std::string bytes = Encode(values);
    if (random.Uniform(4) == 0) {
      bytes.resize(random.Uniform(bytes.size()));
    } else {
      for (uint64_t flips = 1 + random.Uniform(4); flips > 0; --flips) {
        bytes[random.Uniform(bytes.size())] ^= static_cast<char>(1 << random.Uniform(8));
      }
    }
    ValueColumn column;
    if (!column.Parse(bytes, values.size())) continue;
    std::vector<std::string_view> got(values.size());
    ByteArena arena;
    if (column.Decode(0, values.size(), &arena, got.data())) {
      size_t total = 0;
      for (const std::string_view value : got) total += value.empty() ? 0 : 1 + (value.back() & 1);
      EXPECT_LE(total, 2 * values.size());
    }
    std::vector<double> numbers(values.size());
    std::vector<int64_t> ints(values.size());
    for (const NumberBytes written :
         {NumberBytes::kBigEndianInteger, NumberBytes::kBigEndianDouble, NumberBytes::kDecimalText}) {
      bool are_nearest = false;
      switch (column.NumbersIn(written)) {
        case NumberKind::kInt64:
          (void)column.DecodeInts(written, 0, values.size(), ints.data());
          break;
        case NumberKind::kDouble:
          (void)column.DecodeDoubles(written, 0, values.size(), numbers.data(), &are_nearest);
          break;
        case NumberKind::kNone:
          break;
      }
    }
  }
}

}  // namespace
}  // namespace sonde::codec
