#include "series/key/field_codec.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/bytes.h"

namespace sonde::series {
namespace {

Field MakeField(FieldType type, FieldEncoding encoding = FieldEncoding::kText) {
  return {"x", "x", "m", type, encoding, 1};
}

std::optional<double> DoubleOf(const Field& field, std::string_view bytes) {
  double number = 0;
  return DecodeDouble(field, bytes, &number) ? std::optional(number) : std::nullopt;
}

TEST(FieldCodec, KeepsTextAsItWasGiven) {
  std::string value;
  EXPECT_TRUE(EncodeValue(MakeField(FieldType::kDouble), "9.50", &value));
  EXPECT_EQ(value, "9.50");
  EXPECT_EQ(DoubleOf(MakeField(FieldType::kDouble), value), 9.5);
  EXPECT_TRUE(EncodeValue(MakeField(FieldType::kInt), "-94558", &value));
  EXPECT_EQ(std::get<int64_t>(*DecodeValue(MakeField(FieldType::kInt), value)), -94558);
}

TEST(FieldCodec, BinaryIsBigEndian) {
  std::string value;
  const Field integer = MakeField(FieldType::kInt, FieldEncoding::kInt64BigEndian);
  EXPECT_TRUE(EncodeValue(integer, "-2", &value));
  EXPECT_EQ(Printable(value), "\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xfe");
  int64_t number = 0;
  ASSERT_TRUE(DecodeInt(integer, value, &number));
  EXPECT_EQ(number, -2);
  const Field real = MakeField(FieldType::kDouble, FieldEncoding::kFloat64BigEndian);
  EXPECT_TRUE(EncodeValue(real, "1.5", &value));
  EXPECT_EQ(value, std::string("\x3f\xf8\0\0\0\0\0\0", 8));
  EXPECT_EQ(std::get<double>(*DecodeValue(real, value)), 1.5);
  EXPECT_EQ(DecodeValue(real, "123").status().message(), "field 'x': the cell '123' is not a number");
}

TEST(FieldCodec, TakesWhatIsNearestToZeroForZero) {
  std::string value;
  EXPECT_TRUE(EncodeValue(MakeField(FieldType::kDouble), "1e-400", &value));
  EXPECT_EQ(value, "0");
  EXPECT_TRUE(EncodeValue(MakeField(FieldType::kDouble), "-1e-400", &value));
  EXPECT_EQ(value, "-0");
  EXPECT_TRUE(EncodeValue(MakeField(FieldType::kDouble), "1e-310", &value));
  EXPECT_EQ(value, "1e-310");
  EXPECT_EQ(DoubleOf(MakeField(FieldType::kDouble), value), 1e-310);
  EXPECT_EQ(DoubleOf(MakeField(FieldType::kDouble), "1e-400"), 0.0);
  EXPECT_FALSE(EncodeValue(MakeField(FieldType::kDouble), "-1e400", &value));
}

TEST(FieldCodec, RefusesWhatIsNoValue) {
  std::string value;
  for (const char* text : {"", "nan", "inf", "-inf", "1e999", "1,5", "0x10", "+1", " 1", "1 "}) {
    EXPECT_FALSE(EncodeValue(MakeField(FieldType::kDouble), text, &value)) << text;
  }
  for (const char* text : {"", "1.0", "9223372036854775808", "one"}) {
    EXPECT_FALSE(EncodeValue(MakeField(FieldType::kInt), text, &value)) << text;
  }
  EXPECT_EQ(RefusedValue(MakeField(FieldType::kInt), "1.0").message(),
            "field 'x': value '1.0' is not an int of 64 bits");
  EXPECT_EQ(RefusedValue(MakeField(FieldType::kDouble), "nan").message(),
            "field 'x': value 'nan' is not a finite number");
}

TEST(FieldCodec, NumbersOfIntsAreExact) {
  const Field field = MakeField(FieldType::kInt);
  for (const int64_t number : {int64_t{0}, int64_t{1} << 53, (int64_t{1} << 53) + 1, -(int64_t{1} << 53) - 1,
                               int64_t{1'700'000'000'123'456'789}, INT64_MAX, INT64_MIN, INT64_MIN + 1}) {
    int64_t decoded = 0;
    ASSERT_TRUE(DecodeInt(field, fmt::format("{}", number), &decoded));
    EXPECT_EQ(decoded, number);
    EXPECT_TRUE(IsInt(decoded));
  }
  EXPECT_FALSE(IsInt(absl::int128(INT64_MAX) + 1));
  EXPECT_FALSE(IsInt(absl::int128(INT64_MIN) - 1));
  EXPECT_EQ(LeavesInt(absl::int128(INT64_MAX) + 1, "sum(n)"),
            absl::OutOfRangeError("sum(n): 9223372036854775808 leaves the 64 bits of an int"));
}

TEST(FieldCodec, IntsThatLeave64BitsAreReadButNotCalculatedWith) {
  const Field field = MakeField(FieldType::kInt);
  for (const auto& [text, digits] :
       {std::pair("9223372036854775808", "9223372036854775808"),
        std::pair("-9223372036854775809", "-9223372036854775809"),
        std::pair("170141183460469231731687303715884105727", "170141183460469231731687303715884105727"),
        std::pair("1.8446744073709552e+19", "18446744073709551616")}) {
    const absl::StatusOr<FieldValue> value = DecodeValue(field, text);
    ASSERT_TRUE(value.ok()) << text;
    EXPECT_EQ(ValueText(*value), digits);
    int64_t number = 0;
    EXPECT_FALSE(DecodeInt(field, text, &number)) << text;
    EXPECT_FALSE(IsNumber(field, text)) << text;
    EXPECT_EQ(NoNumber(field, text),
              absl::OutOfRangeError(fmt::format("field 'x': {} leaves the 64 bits of an int", digits)));
    std::string encoded;
    EXPECT_FALSE(EncodeValue(field, text, &encoded)) << text << ": no point has such a value";
  }
  for (const char* text : {"170141183460469231731687303715884105728", "1e+39", "-"}) {
    EXPECT_EQ(NoNumber(field, text).code(), absl::StatusCode::kDataLoss) << text;
  }
}

// Roll-ups of earlier versions have sums and extremes of ints as doubles are written.
TEST(FieldCodec, IntsMayBeWrittenAsDoubles) {
  const Field field = MakeField(FieldType::kInt);
  EXPECT_EQ(std::get<int64_t>(*DecodeValue(field, "1e+16")), 10'000'000'000'000'000);
  EXPECT_EQ(std::get<int64_t>(*DecodeValue(field, "-9e+17")), -900'000'000'000'000'000);
  int64_t number = 0;
  ASSERT_TRUE(DecodeInt(field, "1e+16", &number));
  EXPECT_EQ(number, 10'000'000'000'000'000);
  for (const char* text : {"1.5", "1e-3", "x", "inf", ""}) {
    EXPECT_EQ(DecodeValue(field, text).status().code(), absl::StatusCode::kDataLoss) << text;
  }
}

}  // namespace
}  // namespace sonde::series
