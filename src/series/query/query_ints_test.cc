// Ints are exact, in pages and above them, and a cell that is none is told.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "series/known/series_tables.h"
#include "series/query/query_numbers_test_support.h"

namespace sonde::series {
namespace {

// Ints beyond 2^53, too, come out of pages as numbers, packed as integers and as texts.
TEST_F(QueryNumbersTest, SettledIntsBeyondDoublesAreNumbers) {
  const SeriesSchema schema =
      ParseSchema(
          "series: s\ntags: { host: string }\nfields: { n: { type: int, encoding: int64_be }, t: int }\n"
          "bucket: hour\nkey: [host, bucket]\n",
          "x.yaml")
          .value();
  ASSERT_TRUE(EnsureSeriesTables(schema, local_.get()).ok());
  PointWriter writer(schema, local_.get());
  constexpr int64_t kFirst = (int64_t{1} << 53) + 1;
  int64_t sum = 0;
  for (int64_t i = 0; i < 500; ++i) {
    const std::string text = fmt::format("{}", kFirst + 2 * i);
    sum += kFirst + 2 * i;
    ASSERT_TRUE(writer.Add({{"h"}, kStart + i * kMicrosPerSecond, {text, text}}).ok());
  }
  ASSERT_TRUE(writer.Flush().ok());
  Settle();
  Watched numbers(local_.get(), true);
  EXPECT_EQ(Ask(schema,
                {.aggregates = {Aggregate::kSum, Aggregate::kMin, Aggregate::kMax, Aggregate::kFirst,
                                Aggregate::kLast}},
                &numbers),
            fmt::format("h {0} {1} {2} {3} {2} {3} {1} {2} {3} {2} {3}\n1000 cells", kStart, sum, kFirst,
                        kFirst + 998));
  EXPECT_EQ(numbers.numbers_seen, 1'000u);
  EXPECT_EQ(numbers.texts_seen, 0u);
}

// Ints beyond 2^53, which doubles do not tell apart: in the head, in pages, and among others that are small.
TEST_F(QueryNumbersTest, IntsAreExact) {
  const auto schema = ParseSchema(
      "series: s\ntags: { host: string }\nfields: { n: { type: int, encoding: int64_be }, t: int }\n"
      "bucket: hour\nkey: [host, bucket]\nretention: { max_versions: all }\n",
      "x.yaml");
  ASSERT_TRUE(schema.ok()) << schema.status();
  ASSERT_TRUE(EnsureSeriesTables(*schema, local_.get()).ok());
  const std::vector<int64_t> values = {9007199254740993,  -5, 9007199254740995, 9007199254740999,
                                       17000000001234567, 3,  -9007199254740993};
  PointWriter writer(*schema, local_.get());
  int64_t second = 0, sum_n = 0, sum_t = 0;
  for (int64_t i = 0; i < 900; ++i) {
    // Small ones first, so that pages begin with numbers; of t, some are missing.
    const int64_t value = i < 600 ? i : values[static_cast<size_t>(i) % values.size()];
    const bool has_t = i % 3 != 0;
    sum_n += value;
    if (has_t) sum_t += value;
    const std::string text = fmt::format("{}", value);
    ASSERT_TRUE(writer.Add({{"h"}, kStart + ++second * kMicrosPerSecond, {text, has_t ? text : ""}}).ok());
  }
  ASSERT_TRUE(writer.Flush().ok());
  for (const bool is_settled : {false, true}) {
    if (is_settled) Settle();
    Watched numbers(local_.get(), true), rows(local_.get(), false);
    for (TableAccess* const tables :
         {static_cast<TableAccess*>(&numbers), static_cast<TableAccess*>(&rows)}) {
      const int64_t first_micros = kStart + kMicrosPerSecond;
      EXPECT_EQ(Ask(*schema, {.aggregates = {Aggregate::kSum, Aggregate::kMin, Aggregate::kMax}}, tables),
                fmt::format("h {} {} -9007199254740993 17000000001234567 {} -9007199254740993 "
                            "17000000001234567\n1500 cells",
                            first_micros, sum_n, sum_t));
      Query last{.fields = {0}, .aggregates = {Aggregate::kFirst, Aggregate::kLast, Aggregate::kAvg}};
      last.selection = {{}, kStart + 602 * kMicrosPerSecond, kStart + 604 * kMicrosPerSecond};
      // 601 is values[5] at 602; 602 is values[0].
      EXPECT_THAT(Ask(*schema, last, tables),
                  testing::StartsWith(fmt::format("h {} {} {} ", kStart + 602 * kMicrosPerSecond,
                                                  values[601 % 7], values[602 % 7])));
      Query windows{.fields = {0}, .every = ParseBucketWidth("1h").value(), .aggregates = {Aggregate::kMax}};
      windows.windows = {1, 2};
      EXPECT_THAT(Ask(*schema, windows, tables), testing::HasSubstr(" 17000000001234567 17000000001234567"));
      Query deltas{.fields = {0}, .change = Change::kDelta};
      deltas.selection = {{}, kStart + 603 * kMicrosPerSecond, kStart + 609 * kMicrosPerSecond};
      std::string expected;
      for (int64_t i = 603; i < 608; ++i) {
        expected += fmt::format("h {} {}\n", kStart + (i + 1) * kMicrosPerSecond,
                                values[static_cast<size_t>(i) % 7] - values[static_cast<size_t>(i - 1) % 7]);
      }
      EXPECT_THAT(Ask(*schema, deltas, tables), testing::StartsWith(expected));
      Query top{.fields = {0}, .top = Top{1, ""}};
      top.selection = {{}, kStart + 604 * kMicrosPerSecond, kStart + 607 * kMicrosPerSecond};
      // The aggregates of 603, 604 and 605.
      EXPECT_THAT(
          Ask(*schema, top, tables),
          testing::StartsWith(fmt::format("h {} 9007199254740999\n", kStart + 606 * kMicrosPerSecond)));
    }
  }
}

TEST_F(QueryNumbersTest, IntsThatLeaveTheir64BitsAreTold) {
  const SeriesSchema schema = ParseSchema(
                                  "series: s\ntags: { host: string }\nfields: { n: int }\nbucket: hour\n"
                                  "key: [host, bucket]\nderive:\n  - rollup: { table: r, every: hour, "
                                  "aggregates: [sum, max] }\n",
                                  "x.yaml")
                                  .value();
  ASSERT_TRUE(EnsureSeriesTables(schema, local_.get()).ok());
  PointWriter writer(schema, local_.get());
  int64_t second = 0;
  for (const char* n : {"9223372036854775807", "-2", "5"}) {
    ASSERT_TRUE(writer.Add({{"h"}, kStart + ++second * kMicrosPerSecond, {n}}).ok());
  }
  ASSERT_TRUE(writer.Flush().ok());
  Watched numbers(local_.get(), true), rows(local_.get(), false);
  for (TableAccess* const tables : {static_cast<TableAccess*>(&numbers), static_cast<TableAccess*>(&rows)}) {
    const auto ask = [&](const Query& query) { return Ask(schema, query, tables); };
    EXPECT_EQ(ask({.aggregates = {Aggregate::kSum}}),
              "OUT_OF_RANGE: sum(n): 9223372036854775810 leaves the 64 bits of an int");
    // What passes them on its way does not.
    Query two{.aggregates = {Aggregate::kSum}};
    two.selection.to_micros = kStart + 3 * kMicrosPerSecond;
    EXPECT_EQ(ask(two), fmt::format("h {} 9223372036854775805\n2 cells", kStart + kMicrosPerSecond));
    EXPECT_EQ(ask({.aggregates = {Aggregate::kAvg}}).substr(0, 40),
              fmt::format("h {} 3.074457346e+18\n3 cells", kStart + kMicrosPerSecond).substr(0, 40));
    EXPECT_EQ(ask({.change = Change::kDelta}),
              "OUT_OF_RANGE: delta(n): -9223372036854775809 leaves the 64 bits of an int");
    EXPECT_EQ(ask({.aggregates = {Aggregate::kSum}, .change = Change::kDelta}),
              fmt::format("h {} -9223372036854775802\n3 cells", kStart + kMicrosPerSecond));
    // A roll-up's row has the digits of its sum, and can be read as it is.  What is made of it is told.
    const SeriesSchema rollup = MakeRollupSchema(schema, schema.rollups[0]);
    const std::string row = fmt::format("h {} 9223372036854775810 9223372036854775807\n", kStart);
    EXPECT_EQ(Ask(rollup, {}, tables), row + "2 cells");
    EXPECT_EQ(Ask(rollup, {.latest = 1}, tables), row + "2 cells");
    EXPECT_EQ(Ask(rollup, {.aggregates = {Aggregate::kMax}}, tables),
              "OUT_OF_RANGE: field 'n_sum': 9223372036854775810 leaves the 64 bits of an int");
    EXPECT_EQ(Ask(rollup, {.fields = {1}}, tables), fmt::format("h {} 9223372036854775807\n1 cells", kStart));
  }
}

// A cell that the declaration never writes is told either way.
TEST_F(QueryNumbersTest, TellOfCellsThatAreNoInts) {
  const SeriesSchema schema =
      ParseSchema(
          "series: s\ntags: { host: string }\nfields: { x: double }\nbucket: hour\nkey: [host, bucket]\n",
          "x.yaml")
          .value();
  const SeriesSchema as_int =
      ParseSchema(
          "series: s\ntags: { host: string }\nfields: { x: int }\nbucket: hour\nkey: [host, bucket]\n",
          "x.yaml")
          .value();
  ASSERT_TRUE(EnsureSeriesTables(schema, local_.get()).ok());
  PointWriter writer(schema, local_.get());
  ASSERT_TRUE(writer.Add({{"h"}, kStart, {"1.5"}}).ok());
  ASSERT_TRUE(writer.Flush().ok());
  ASSERT_TRUE(engine_->SettleAll().ok());
  Watched numbers(local_.get(), true), rows(local_.get(), false);
  const Query query{.fields = {0}, .aggregates = {Aggregate::kSum}};
  EXPECT_EQ(Ask(as_int, query, &numbers), "DATA_LOSS: field 'x': the cell '1.5' is not an int");
  EXPECT_EQ(Ask(as_int, query, &rows), Ask(as_int, query, &numbers));
}

}  // namespace
}  // namespace sonde::series
