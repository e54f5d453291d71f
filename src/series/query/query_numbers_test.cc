// Questions for fields are answered from numbers where the tables give them: with the same answers as from
// rows, whatever lies in pages and what above them.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/random.h"
#include "series/input/ingest_batch.h"
#include "series/known/declarations.h"
#include "series/known/series_tables.h"
#include "series/query/query_numbers_test_support.h"
#include "work/idle_workers.h"

namespace sonde::series {
namespace {

TEST_P(QueryNumbersTest, AnswerAsRowsDo) {
  const SeriesSchema schema =
      ParseSchema(fmt::format("series: s\ntags: {{ host: string }}\nfields: {{ x: double, n: {{ type: int, "
                              "encoding: int64_be }}, e: double, t: int, w: string }}\n{}\n",
                              GetParam()),
                  "x.yaml")
          .value();
  ASSERT_TRUE(EnsureSeriesTables(schema, local_.get()).ok());
  Watched numbers(local_.get(), true), rows(local_.get(), false);
  IdleWorkers workers(3);
  SeededRandom random(3);
  for (int round = 0; round < 4; ++round) {
    has_gaps_ = round > 0;
    Write(schema, &random, 1'500);
    if (round % 2 == 0) Settle();
    for (int i = 0; i < 50; ++i) {
      Query query = RandomQuery(&random);
      const std::string answer = Ask(schema, query, &rows);
      ASSERT_EQ(Ask(schema, query, &numbers), answer) << "round " << round << ", question " << i;
      query.idle_workers = &workers;
      ASSERT_EQ(Ask(schema, query, &numbers), answer) << "in parts, round " << round << ", question " << i;
    }
  }
  for (const ValueCondition::Order order :
       {ValueCondition::Order::kGreater, ValueCondition::Order::kLessOrEqual}) {
    Query query{.value_conditions = {{1, order, 250}}, .fields = {0, 1}};
    for (const std::optional<int64_t> rows_max : std::vector<std::optional<int64_t>>{std::nullopt, 7, 900}) {
      query.rows_max = rows_max;
      query.idle_workers = nullptr;
      const std::string answer = Ask(schema, query, &rows);
      ASSERT_EQ(Ask(schema, query, &numbers), answer);
      query.idle_workers = &workers;
      ASSERT_EQ(Ask(schema, query, &numbers), answer) << "in parts";
    }
  }
  if (schema.layout == Layout::kOffsets) return;
  EXPECT_GT(numbers.numbers_seen, 10'000u);
  EXPECT_GT(numbers.texts_seen, 1'000u);
}

INSTANTIATE_TEST_SUITE_P(
    Keys, QueryNumbersTest,
    testing::Values("bucket: hour\nkey: [host, bucket]",
                    "bucket: day\nkey: [bucket, host]\nretention: { max_versions: all }",
                    "bucket: hour\nkey: [{ salt: 4, of: time }, host, bucket]",
                    "bucket: hour\nkey: [host, { bucket: hour, format: epoch_s, reverse: true }]",
                    "layout: row\nkey: [host, time]",
                    "layout: row\nkey: [host, { time: epoch_s, reverse: true }]",
                    "layout: row\nkey: [{ salt: 4, of: time }, host, time]",
                    "bucket: hour\nkey: [host, { salt: 4, of: time }, bucket]",
                    "layout: row\nkey: [{ salt: 70, of: time }, host, time]",
                    "layout: row\nkey: [host, time]\nretention: { max_versions: 3 }",
                    // No field of these has a column of its own.
                    "layout: offsets\nbucket: hour\nslot: 1s\nkey: [host, bucket]"));

// Limits, accounts and errors are those of one thread; and several threads do read.
TEST_F(QueryNumbersTest, PartsKeepToWhatOneThreadKeepsTo) {
  const SeriesSchema schema = ParseSchema(
                                  "series: s\ntags: { host: string }\nfields: { n: int }\n"
                                  "bucket: hour\nkey: [host, bucket]\n",
                                  "x.yaml")
                                  .value();
  ASSERT_TRUE(EnsureSeriesTables(schema, local_.get()).ok());
  PointWriter writer(schema, local_.get());
  for (int64_t i = 0; i < 40'000; ++i) {
    const std::string host = fmt::format("h{:04}", i / 40);
    // The sum of the last host leaves 64 bits.
    const std::string n = i < 39'990 ? fmt::format("{}", i) : "4611686018427387904";
    ASSERT_TRUE(writer.Add({{host}, kStart + i % 40 * kMicrosPerSecond, {n}}).ok());
    ASSERT_TRUE(writer.FlushIfFull().ok());
  }
  ASSERT_TRUE(writer.Flush().ok());
  Settle();
  Watched numbers(local_.get(), true);
  IdleWorkers workers(3);
  const auto both = [&](Query query, const std::function<void(Query*)>& begin = {}) {
    if (begin) begin(&query);
    const std::string alone = Ask(schema, query, &numbers);
    query.idle_workers = &workers;
    if (begin) begin(&query);
    EXPECT_EQ(Ask(schema, query, &numbers), alone);
    return alone;
  };
  const std::string most = both({.aggregates = {Aggregate::kMax}}, [&](Query* query) {
    numbers.waits_for_helper = query->idle_workers != nullptr;
  });
  EXPECT_THAT(most, testing::HasSubstr("h0999 "));
  EXPECT_GT(numbers.threads_max, 1);
  EXPECT_THAT(both({.aggregates = {Aggregate::kSum}}),
              testing::HasSubstr("OUT_OF_RANGE: sum(n): 46116860184275078275 leaves the 64 bits of an int"));
  // Percentiles keep all values of all series: more than this account has room for.
  Query percentiles{.aggregates = {Aggregate::Percentile(50)}};
  percentiles.group_by.emplace();
  std::atomic<int64_t> held = 0;
  percentiles.hold = [&](int64_t more_bytes) {
    if ((held += more_bytes) <= 400'000 || more_bytes < 0) return absl::OkStatus();
    held -= more_bytes;
    return absl::ResourceExhaustedError("no more room");
  };
  percentiles.every = ParseBucketWidth("1m").value();
  both(percentiles);
  EXPECT_EQ(held, 0);
  // The caller has enough.
  Query some{.aggregates = {Aggregate::kCount}, .rows_max = 3};
  EXPECT_EQ(std::ranges::count(both(some), '\n'), 3);
}

// All that is asked for lies in pages: nothing has to come as cells.
TEST_F(QueryNumbersTest, SettledNumbersAreNumbers) {
  const SeriesSchema schema =
      ParseSchema(
          "series: s\ntags: { host: string }\nfields: { a: int, b: { type: double, encoding: "
          "float64_be }, c: double }\nbucket: hour\nkey: [host, bucket]\n",
          "x.yaml")
          .value();
  ASSERT_TRUE(EnsureSeriesTables(schema, local_.get()).ok());
  PointWriter writer(schema, local_.get());
  for (int64_t i = 0; i < 500; ++i) {
    ASSERT_TRUE(writer.Add({{"h"}, kStart + i * kMicrosPerSecond, {"3", "0.5", "7.25"}}).ok());
  }
  ASSERT_TRUE(writer.Flush().ok());
  Settle();
  Watched numbers(local_.get(), true);
  EXPECT_EQ(Ask(schema, {.aggregates = {Aggregate::kSum, Aggregate::kCount}}, &numbers),
            fmt::format("h {} 1500 500 250 500 3625 500\n1500 cells", kStart));
  EXPECT_EQ(numbers.numbers_seen, 1'500u);
  EXPECT_EQ(numbers.texts_seen, 0u);
}

TEST_F(QueryNumbersTest, AnswerOfOpenSeriesAsRowsDo) {
  Declarations declarations(local_.get(), &clock_);
  SeededRandom random(5);
  IngestBatch batch(&declarations, local_.get(), {});
  for (int i = 0; i < 2'000; ++i) {
    const std::string host = fmt::format("host{}", random.Uniform(kHosts));
    const std::string value = fmt::format("{}", random.Uniform(1'000));
    const std::vector<std::pair<std::string_view, std::string_view>> labels = {{"host", host}};
    std::vector<LineField> fields = {{"x", LineValueType::kFloat, value}};
    if (random.Uniform(3) != 0) fields.push_back({"y", LineValueType::kFloat, value});
    const std::string identity = "s," + host;
    ASSERT_TRUE(batch
                    .Add({"s", identity, &labels, &fields,
                          kStart + static_cast<int64_t>(random.Uniform(7'200)) * kMicrosPerSecond})
                    .ok());
    ASSERT_TRUE(batch.Flush().ok());
  }
  Settle();
  Watched numbers(local_.get(), true), rows(local_.get(), false);
  IdleWorkers workers(3);
  const KnownSeriesRef series = declarations.Find("s");
  ASSERT_NE(series, nullptr);
  for (const std::vector<size_t>& fields : std::vector<std::vector<size_t>>{{}, {0}, {1}, {1, 0}}) {
    for (const bool has_change : {false, true}) {
      Query query{.fields = fields, .aggregates = {Aggregate::kSum, Aggregate::kCount, Aggregate::kLast}};
      query.selection.tags = {{.values = {"host1", "host4"}}};
      query.every = ParseBucketWidth("10m").value();
      if (has_change) query.change = Change::kIncrease;
      const std::string answer = Ask(*series, query, &rows);
      ASSERT_EQ(Ask(*series, query, &numbers), answer);
      query.selection.tags = {{}};
      const std::string of_all = Ask(*series, query, &rows);
      query.idle_workers = &workers;
      ASSERT_EQ(Ask(*series, query, &numbers), of_all);
    }
  }
  EXPECT_GT(numbers.numbers_seen, 500u);
}

// Also while nothing that is read was asked for.
TEST_F(QueryNumbersTest, EndWhenTheyAreInterrupted) {
  IdleWorkers workers(3);
  for (const char* key : {"bucket: hour\nkey: [host, bucket]", "layout: row\nkey: [host, time]",
                          "layout: row\nkey: [{ salt: 4, of: time }, host, time]"}) {
    const std::string name = fmt::format("s{}", std::string_view(key).size());
    const SeriesSchema schema =
        ParseSchema(
            fmt::format("series: {}\ntags: {{ host: string }}\nfields: {{ x: double }}\n{}\n", name, key),
            "x.yaml")
            .value();
    ASSERT_TRUE(EnsureSeriesTables(schema, local_.get()).ok());
    PointWriter writer(schema, local_.get());
    for (int64_t i = 0; i < 20'000; ++i) {
      const std::string host = fmt::format("h{:04}", i % 2'000);
      ASSERT_TRUE(writer.Add({{host}, kStart + i * kMicrosPerSecond, {"1"}}).ok());
      ASSERT_TRUE(writer.FlushIfFull().ok());
    }
    ASSERT_TRUE(writer.Flush().ok());
    Settle();
    Watched numbers(local_.get(), true), rows(local_.get(), false);
    for (TableAccess* const tables :
         {static_cast<TableAccess*>(&numbers), static_cast<TableAccess*>(&rows)}) {
      std::vector<Query> queries = {
          {}, {.latest = 3}, {.aggregates = {Aggregate::kSum}}, {.change = Change::kDelta}};
      // A pattern that no key begins with: all rows are read, and none is asked for.
      queries.push_back({.conditions = {{0, ".*none"}}, .aggregates = {Aggregate::kSum}});
      for (Query& query : queries) {
        std::atomic<int> asked = 0;
        query.interrupted = [&] {
          return ++asked >= 3 ? absl::CancelledError("nobody waits") : absl::OkStatus();
        };
        EXPECT_EQ(Ask(schema, query, tables), "CANCELLED: nobody waits") << key;
        asked = 0;
        query.idle_workers = &workers;
        EXPECT_EQ(Ask(schema, query, tables), "CANCELLED: nobody waits") << key << " in parts";
        query.interrupted = [] { return absl::OkStatus(); };
        EXPECT_THAT(Ask(schema, query, tables), testing::Not(testing::HasSubstr("CANCELLED"))) << key;
      }
    }
  }
}

// A row of an earlier version, where ints are written as doubles are.
TEST_F(QueryNumbersTest, OldRollupsAreRead) {
  const SeriesSchema schema = ParseSchema(
                                  "series: s\ntags: { host: string }\nfields: { n: int }\nbucket: hour\n"
                                  "key: [host, bucket]\nderive:\n  - rollup: { table: r, every: hour, "
                                  "aggregates: [sum, max] }\n",
                                  "x.yaml")
                                  .value();
  ASSERT_TRUE(EnsureSeriesTables(schema, local_.get()).ok());
  const SeriesSchema rollup = MakeRollupSchema(schema, schema.rollups[0]);
  const KeyCodec codec(rollup);
  for (int64_t hour = 0; hour < 3; ++hour) {
    RowWrite row;
    const std::vector<std::string_view> tags = {"h"};
    ASSERT_TRUE(codec.Encode(tags, kStart + hour * kMicrosPerHour, &row.row_key).ok());
    row.cells.push_back({"m", "n_sum", kStart, hour == 0 ? "1.2e+17" : "12"});
    row.cells.push_back({"m", "n_max", kStart, "9007199254740992"});
    ASSERT_TRUE((*local_->MutateRows("r", {row}))[0].ok());
  }
  for (const bool is_settled : {false, true}) {
    if (is_settled) Settle();
    Watched numbers(local_.get(), true), rows(local_.get(), false);
    for (TableAccess* const tables :
         {static_cast<TableAccess*>(&numbers), static_cast<TableAccess*>(&rows)}) {
      EXPECT_EQ(Ask(rollup, {.aggregates = {Aggregate::kSum}}, tables),
                fmt::format("h {} 120000000000000024 27021597764222976\n6 cells", kStart));
    }
  }
}

// A table that has roll-ups forgets later than its series does.
TEST_F(QueryNumbersTest, LeaveOutWhatIsForgotten) {
  const int64_t now_micros = clock_.NowMicros();
  const int64_t alive_micros = now_micros - 30 * kMicrosPerDay;
  const int64_t late_micros = alive_micros + 10 * kMicrosPerMinute;
  const BucketWidth day = ParseBucketWidth("day").value();
  for (const char* text : {"bucket: day\nkey: [host, bucket]", "layout: row\nkey: [host, time]"}) {
    const std::string name(text[0] == 'b' ? "cells" : "rows");
    const SeriesSchema schema =
        ParseSchema(
            fmt::format("series: {0}\ntags: {{ host: string }}\nfields: {{ x: int }}\n{1}\nretention: {{ "
                        "max_age: 30d }}\nderive: [ rollup: {{ table: {0}_day, every: day, aggregates: "
                        "[count], retention: 5y }} ]\n",
                        name, text),
            "x.yaml")
            .value();
    ASSERT_TRUE(EnsureSeriesTables(schema, local_.get()).ok());
    // They were written when all of them were alive.
    const ManualClock before(now_micros - 2 * kMicrosPerDay);
    PointWriter writer(schema, local_.get(), {}, &before);
    int64_t all = 0, alive = 0, of_day = 0;
    for (int64_t time = day.Start(late_micros); time < alive_micros + kMicrosPerDay;
         time += 10 * kMicrosPerMinute) {
      ASSERT_TRUE(writer.Add({{"h"}, time, {"1"}}).ok());
      ++all;
      if (time >= alive_micros) ++alive;
      if (day.Start(time) == day.Start(late_micros)) ++of_day;
    }
    ASSERT_TRUE(writer.Flush().ok());
    Settle();
    Watched numbers(local_.get(), true), rows(local_.get(), false);
    for (TableAccess* tables : {static_cast<TableAccess*>(&numbers), static_cast<TableAccess*>(&rows)}) {
      const auto count = [&](const Query& query) {
        int64_t points = 0;
        EXPECT_TRUE(RunQuery(schema, query, tables, [&](const ResultRow& row) {
                      const auto* counted = std::get_if<int64_t>(row.values.data());
                      points += query.aggregates.empty() ? 1 : *counted;
                      return true;
                    }).ok());
        return points;
      };
      EXPECT_EQ(count({.aggregates = {Aggregate::kCount}}), all);
      EXPECT_EQ(count({.aggregates = {Aggregate::kCount}, .now_micros = now_micros}), alive);
      EXPECT_EQ(count({.latest = all, .now_micros = now_micros}), alive);
      EXPECT_EQ(count({.now_micros = now_micros}), alive);
    }
    // One comes late, twice: its day is right, though most of it is forgotten.
    for (int times = 0; times < 2; ++times) {
      PointWriter late(schema, local_.get());
      ASSERT_TRUE(late.Add({{"h"}, late_micros + kMicrosPerMinute, {"1"}}).ok());
      ASSERT_TRUE(late.Flush().ok());
      EXPECT_EQ(late.rollups()->pieces_too_old(), 0);
      Query query;
      query.selection = {{{}}, day.Start(late_micros), day.End(late_micros)};
      const int64_t with_late = day.Start(late_micros + kMicrosPerMinute) == day.Start(late_micros) ? 1 : 0;
      EXPECT_THAT(Ask(MakeRollupSchema(schema, schema.rollups[0]), query, local_.get()),
                  testing::StartsWith(fmt::format("h {} {}\n", day.Start(late_micros), of_day + with_late)));
    }
  }
}

}  // namespace
}  // namespace sonde::series
