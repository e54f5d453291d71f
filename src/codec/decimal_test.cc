#include "codec/decimal.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "base/random.h"

namespace sonde::codec {
namespace {

std::string Write(int64_t integer, DecimalStyle style) {
  char buffer[kDecimalTextBytesMax];
  char* const end = WriteDecimal(integer, style, buffer);
  EXPECT_LE(end - buffer, static_cast<std::ptrdiff_t>(kDecimalTextBytesMax));
  return {buffer, end};
}

// What the text becomes in the style; nothing if it is not of it.
std::string ThereAndBack(std::string_view text, DecimalStyle style) {
  WrittenDecimal decimal;
  int64_t integer = 0;
  if (!ReadDecimal(text, &decimal) || !ToInteger(decimal, style, &integer)) return "";
  return Write(integer, style);
}

constexpr DecimalStyle kWhole = {0, 0, 1};
constexpr DecimalStyle kCents = {2, 2, 1};
constexpr DecimalStyle kShortest = {5, 0, 1};
constexpr DecimalStyle kPython = {5, 1, 1};
constexpr DecimalStyle kPadded = {0, 0, 4};

TEST(Decimal, TextOfAStyleComesBack) {
  for (const char* text :
       {"0", "7", "10", "94558", "-1", "-100", "999999999999999999", "-999999999999999999"}) {
    EXPECT_EQ(ThereAndBack(text, kWhole), text);
  }
  for (const char* text : {"0.00", "3.20", "-3.20", "0.07", "-0.07", "100.00", "9999999999999999.99"}) {
    EXPECT_EQ(ThereAndBack(text, kCents), text);
  }
  for (const char* text : {"0", "9.5", "94558", "0.00001", "-0.5", "10", "100.25"}) {
    EXPECT_EQ(ThereAndBack(text, kShortest), text);
  }
  for (const char* text : {"0.0", "9.0", "9.5", "-1.0", "10.0", "0.25"})
    EXPECT_EQ(ThereAndBack(text, kPython), text);
  for (const char* text : {"0007", "0000", "1234", "12345", "-0007"})
    EXPECT_EQ(ThereAndBack(text, kPadded), text);
}

TEST(Decimal, TextOfAnotherStyleIsRefused) {
  for (const char* text : {"007", "3.2", "00"}) EXPECT_EQ(ThereAndBack(text, kWhole), "") << text;
  for (const char* text : {"3", "3.2", "3.200", "03.20"}) EXPECT_EQ(ThereAndBack(text, kCents), "") << text;
  for (const char* text : {"9.50", "9.0", "1.123456", "00.5"})
    EXPECT_EQ(ThereAndBack(text, kShortest), "") << text;
  for (const char* text : {"9", "9.50"}) EXPECT_EQ(ThereAndBack(text, kPython), "") << text;
  for (const char* text : {"7", "007", "00007", "01234"}) EXPECT_EQ(ThereAndBack(text, kPadded), "") << text;
  // It would have 19 digits.
  EXPECT_EQ(ThereAndBack("12345678901234567", kCents), "");
}

TEST(Decimal, WhatOnlyLooksLikeANumberIsNone) {
  WrittenDecimal decimal;
  for (const std::string_view text : {std::string_view(""),
                                      std::string_view("-"),
                                      std::string_view("."),
                                      std::string_view("1."),
                                      std::string_view(".5"),
                                      std::string_view("-.5"),
                                      std::string_view("+1"),
                                      std::string_view("1e3"),
                                      std::string_view("0x1"),
                                      std::string_view(" 1"),
                                      std::string_view("1 "),
                                      std::string_view("1.2.3"),
                                      std::string_view("1,5"),
                                      std::string_view("-0"),
                                      std::string_view("-0.00"),
                                      std::string_view("--1"),
                                      std::string_view("NaN"),
                                      std::string_view("inf"),
                                      std::string_view("1\0", 2),
                                      std::string_view("1234567890123456789"),
                                      std::string_view("0.1234567890123456789"),
                                      std::string_view("\xFF")}) {
    EXPECT_FALSE(ReadDecimal(text, &decimal)) << text;
  }
}

TEST(Decimal, SurveyFindsTheStyle) {
  const auto style_of = [](std::vector<std::string> texts) {
    DecimalSurvey survey;
    WrittenDecimal decimal;
    for (const std::string& text : texts) {
      EXPECT_TRUE(ReadDecimal(text, &decimal)) << text;
      survey.Add(decimal);
    }
    const DecimalStyle style = survey.Style();
    return std::vector<int>{style.decimals, style.decimals_min, style.digits_min};
  };
  EXPECT_EQ(style_of({"1", "20", "-3"}), (std::vector<int>{0, 0, 1}));
  EXPECT_EQ(style_of({"1.20", "20.00", "-3.14"}), (std::vector<int>{2, 2, 1}));
  EXPECT_EQ(style_of({"1.5", "20", "-3.14"}), (std::vector<int>{2, 0, 1}));
  EXPECT_EQ(style_of({"1.5", "20.0", "-3.14"}), (std::vector<int>{2, 1, 1}));
  EXPECT_EQ(style_of({"0001", "0020", "1234"}), (std::vector<int>{0, 0, 4}));
  // One in a thousand has many digits.
  std::vector<std::string> texts(999, "1.5");
  texts.push_back("1.23456789");
  EXPECT_EQ(style_of(texts), (std::vector<int>{1, 1, 1}));
}

TEST(Decimal, AcceptsExactlyWhatItWrites) {
  SeededRandom random(1);
  constexpr std::string_view kLetters = "0012345-.9";
  int accepted = 0;
  for (int round = 0; round < 200'000; ++round) {
    std::string text;
    for (uint64_t i = random.Uniform(8); i > 0; --i)
      text.push_back(kLetters[random.Uniform(kLetters.size())]);
    const auto decimals = static_cast<uint8_t>(random.Uniform(4));
    const DecimalStyle style = {decimals, static_cast<uint8_t>(random.Uniform(decimals + 1)),
                                static_cast<uint8_t>(1 + random.Uniform(3))};
    const std::string back = ThereAndBack(text, style);
    if (back.empty()) continue;
    ++accepted;
    ASSERT_EQ(back, text);
  }
  EXPECT_GT(accepted, 5'000);
}

TEST(Decimal, WritesAnyIntegerInItsRoom) {
  SeededRandom random(2);
  for (const int64_t integer : {std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()}) {
    for (uint8_t decimals = 0; decimals <= kDecimalDigitsMax; ++decimals) {
      for (uint8_t digits = 1; digits <= kDecimalDigitsMax; ++digits) {
        Write(integer, {decimals, decimals, digits});
        Write(integer, {decimals, 0, digits});
        Write(static_cast<int64_t>(random.Next() >> random.Uniform(64)), {decimals, 0, digits});
      }
    }
  }
}

}  // namespace
}  // namespace sonde::codec
