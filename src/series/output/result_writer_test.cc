#include "series/output/result_writer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "base/random.h"

namespace sonde::series {
namespace {

constexpr int64_t kTime = 1614945600000000;  // 2021-03-05T12:00:00Z

std::string Write(ResultFormat format) {
  std::ostringstream out;
  const ResultHeader header{
      {"city"}, {{"avg(temp)", true}, {"note", false}, {"count", true}}, TimeUnit::kMinute};
  const auto writer = MakeResultWriter(format, header, &out);
  writer->Row({{"Zürich"}, kTime, {11.238461538461538, std::string("a,\"b\""), int64_t{7}}});
  writer->Row({{"Rome"}, kTime + kMicrosPerHour, {-0.5, {}, int64_t{1000}}, /*tags_number=*/1});
  writer->End();
  return out.str();
}

TEST(ResultWriter, TableIsAligned) {
  EXPECT_EQ(Write(ResultFormat::kTable),
            R"(city    time (UTC)        avg(temp)  note   count
──────  ────────────────  ─────────  ─────  ─────
Zürich  2021-03-05 12:00    11.2385  a,"b"      7
Rome    2021-03-05 13:00       -0.5  -       1000
)");
}

TEST(ResultWriter, CsvIsRfc4180) {
  EXPECT_EQ(Write(ResultFormat::kCsv),
            "city,time,avg(temp),note,count\r\n"
            "Zürich,2021-03-05T12:00:00Z,11.238461538461538,\"a,\"\"b\"\"\",7\r\n"
            "Rome,2021-03-05T13:00:00Z,-0.5,,1000\r\n");
}

TEST(ResultWriter, JsonIsAnObjectALine) {
  EXPECT_EQ(
      Write(ResultFormat::kJson),
      "{\"city\":\"Zürich\",\"time\":\"2021-03-05T12:00:00Z\",\"avg(temp)\":11.238461538461538,\"note\":\"a,"
      "\\\"b\\\"\",\"count\":7}\n"
      "{\"city\":\"Rome\",\"time\":\"2021-03-05T13:00:00Z\",\"avg(temp)\":-0.5,\"note\":null,\"count\":1000}"
      "\n");
}

// The library does not always find the shortest text.
TEST(ResultWriter, NumbersInJsonAreNoLongerThanTheLibrarysAndReadBack) {
  const auto text_of = [](double number) {
    std::string text;
    AppendJson(number, &text);
    return text;
  };
  EXPECT_EQ(text_of(90), "90.0");
  EXPECT_EQ(text_of(-0.0), "-0.0");
  EXPECT_EQ(text_of(std::numeric_limits<double>::infinity()), "null");
  std::vector<double> numbers = {0,      1e-4,  9.999e-5, 1e15, 1e15 - 1, 1e15 - 0.125, 999999999999999.9,
                                 5e-324, 1e300, 0.1};
  SeededRandom random(3);
  for (int i = 0; i < 20'000; ++i) {
    const double number = random.UniformReal() * std::pow(10, static_cast<double>(random.Uniform(24)) - 6);
    numbers.push_back(random.Uniform(3) == 0 ? std::round(number) : number);
  }
  for (const double number : numbers) {
    for (const double value : {number, -number}) {
      const std::string text = text_of(value);
      const std::string of_library = nlohmann::json(value).dump();
      EXPECT_EQ(std::strtod(text.c_str(), nullptr), value) << text;
      EXPECT_LE(text.size(), of_library.size()) << text << " and " << of_library;
      EXPECT_EQ(text.find_first_of(".e"), of_library.find_first_of(".e")) << text << " and " << of_library;
      if (value == std::round(value)) {
        EXPECT_EQ(text, of_library);
      }
    }
  }
}

TEST(ResultWriter, SumsThatLeave64BitsHaveAllTheirDigits) {
  const ResultHeader header{{}, {{"n_sum", true}}, TimeUnit::kDay};
  const absl::int128 sum = absl::int128(INT64_MAX) * 1000;
  for (const auto& [format, expected] :
       {std::pair(ResultFormat::kTable, "2021-03-05  9223372036854775807000\n"),
        std::pair(ResultFormat::kCsv, "2021-03-05T12:00:00Z,9223372036854775807000\r\n"),
        std::pair(ResultFormat::kJson, "\"n_sum\":9223372036854775807000}\n")}) {
    std::ostringstream out;
    const auto writer = MakeResultWriter(format, header, &out);
    writer->Row({{}, kTime, {sum}});
    writer->End();
    EXPECT_TRUE(out.str().ends_with(expected)) << out.str();
  }
}

// A reader keeps one of two members with one name.
TEST(ResultWriter, MembersOfJsonHaveNamesOfTheirOwn) {
  std::ostringstream out;
  const ResultHeader header{{"time", "x", "x_1", "y"}, {{"x", true}, {"time", false}}, TimeUnit::kMinute};
  const auto writer = MakeResultWriter(ResultFormat::kJson, header, &out);
  writer->Row({{"a", "b", "c", "d"}, kTime, {1.5, std::string("noon")}});
  EXPECT_EQ(out.str(),
            "{\"time_2\":\"a\",\"x_1\":\"b\",\"x_1_1\":\"c\",\"y\":\"d\",\"time\":\"2021-03-05T12:00:00Z\","
            "\"x\":1.5,\"time_1\":\"noon\"}\n");
}

TEST(ResultWriter, TimesAreAsExactAsTheyAreMeant) {
  const auto text = [](const char* every) {
    return ShortTimeText(kTime + 1'500'001, TimeBuckets::Parse(every, "UTC")->Unit());
  };
  EXPECT_EQ(text("year"), "2021");
  EXPECT_EQ(text("10y"), "2021");
  EXPECT_EQ(text("24mo"), "2021");
  EXPECT_EQ(text("quarter"), "2021-03");
  EXPECT_EQ(text("month"), "2021-03");
  EXPECT_EQ(text("week"), "2021-03-05");
  EXPECT_EQ(text("2d"), "2021-03-05");
  EXPECT_EQ(text("6h"), "2021-03-05 12:00");
  EXPECT_EQ(text("15m"), "2021-03-05 12:00");
  EXPECT_EQ(text("5s"), "2021-03-05 12:00:01");
  EXPECT_EQ(text("1ms"), "2021-03-05 12:00:01.500");
  EXPECT_EQ(text("1us"), "2021-03-05 12:00:01.500001");
  EXPECT_EQ(ShortTimeText(-1, TimeUnit::kMicrosecond), "1969-12-31 23:59:59.999999");
}

// Programs get the start of a bucket as a time that can be read back, however long the bucket is.
TEST(ResultWriter, ProgramsGetWholeTimes) {
  for (const ResultFormat format : {ResultFormat::kCsv, ResultFormat::kJson}) {
    std::ostringstream out;
    const auto writer = MakeResultWriter(format, {{}, {{"n", true}}, TimeUnit::kYear}, &out);
    writer->Row({{}, kTime, {int64_t{7}}});
    EXPECT_NE(out.str().find("2021-03-05T12:00:00Z"), std::string::npos) << out.str();
  }
}

}  // namespace
}  // namespace sonde::series
