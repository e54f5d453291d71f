#include "series/query/query.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/random.h"
#include "series/query/query_test_support.h"

namespace sonde::series {
namespace {

TEST(Query, RawPointsComeInOrder) {
  for (const char* text : {"bucket: day\nkey: [a, b, bucket]", "layout: row\nkey: [a, b, time]"}) {
    Fixture fixture(text);
    fixture.Write(kPoints);
    EXPECT_EQ(fixture.Ask({}), (Rows{"s 1 2021-03-04T00:00:00Z 1 10 w", "s 1 2021-03-04T01:00:00Z 2 - w",
                                     "s 1 2021-03-05T01:00:00Z 4 30 w", "t 2 2021-03-04T01:00:00Z 8 40 w"}));
    EXPECT_TRUE(fixture.stats_.is_full_scan);
    EXPECT_EQ(
        fixture.Ask({.selection = {{{{"s"}, {}}}, kDay + 1, kDay + 25 * kMicrosPerHour}, .fields = {1, 0}}),
        Rows{"s 1 2021-03-04T01:00:00Z - 2"});
    EXPECT_FALSE(fixture.stats_.is_full_scan);
    EXPECT_EQ(fixture.Ask({.selection = {{{{}, "t"}}}, .fields = {0}}), Rows{"t 2 2021-03-04T01:00:00Z 8"});
    EXPECT_EQ(fixture.Ask({.fields = {0}, .rows_max = 1}), Rows{"s 1 2021-03-04T00:00:00Z 1"});
  }
}

TEST(Query, ConditionsOnValuesLetPointsThrough) {
  using Order = ValueCondition::Order;
  for (const char* text : {"bucket: day\nkey: [a, b, bucket]", "layout: row\nkey: [a, b, time]",
                           "layout: row\nkey: [a, b, { time: epoch_ms, reverse: true }]"}) {
    Fixture fixture(text);
    fixture.Write(kPoints);
    const auto ask = [&](std::vector<ValueCondition> conditions) {
      Rows rows = fixture.Ask({.value_conditions = std::move(conditions)});
      std::sort(rows.begin(), rows.end());
      return rows;
    };
    EXPECT_EQ(ask({{0, Order::kGreater, 2}}),
              (Rows{"s 1 2021-03-05T01:00:00Z 4 30 w", "t 2 2021-03-04T01:00:00Z 8 40 w"}));
    EXPECT_EQ(ask({{0, Order::kGreaterOrEqual, 2}, {0, Order::kLess, 4}}),
              Rows{"s 1 2021-03-04T01:00:00Z 2 - w"});
    // A point without the value is none.
    EXPECT_EQ(ask({{1, Order::kLessOrEqual, 30}}),
              (Rows{"s 1 2021-03-04T00:00:00Z 1 10 w", "s 1 2021-03-05T01:00:00Z 4 30 w"}));
    EXPECT_EQ(ask({{1, Order::kLess, 29.5}, {0, Order::kGreater, 1}}), Rows{});
    EXPECT_EQ(
        fixture.Ask({.value_conditions = {{0, Order::kGreater, 3}}, .fields = {0}, .rows_max = 1}).size(), 1);
    EXPECT_EQ(fixture.ErrorOf({.value_conditions = {{1, Order::kLess, 3}}, .fields = {0}}),
              "--where of field 'n', which is not among --field: ask for it, too");
    EXPECT_EQ(fixture.ErrorOf({.value_conditions = {{2, Order::kLess, 3}}}),
              "--where of field 'w', which is a string; allowed: fields of numbers");
    EXPECT_EQ(
        fixture.ErrorOf({.value_conditions = {{0, Order::kLess, 3}}, .aggregates = {Aggregate::kSum}}),
        "--where of field 'x' asks for points one by one: without --latest, --agg, --every, --group-by and "
        "--change");
  }
}

constexpr char kForgetting[] = "\nretention: { max_age: 1d }\nderive: [ rollup: { table: r, every: day } ]\n";

// Tables that have roll-ups keep points longer than max_age: for these only.
TEST(Query, LeavesOutWhatIsForgotten) {
  const int64_t now_micros = kDay + 25 * kMicrosPerHour;  // the points of 01:00 are a day old
  for (const char* text : {"bucket: day\nkey: [a, b, bucket]", "layout: row\nkey: [a, b, time]",
                           "layout: row\nkey: [{ salt: 3, of: time }, a, b, time]",
                           "layout: columns\nbucket: month\nkey: [a, b, field, bucket]",
                           "layout: offsets\nbucket: month\nslot: 1h\nkey: [a, b, bucket]"}) {
    Fixture fixture(std::string(text) + kForgetting);
    const ManualClock clock(kDay + 2 * kMicrosPerHour);
    fixture.Write(kPoints, &clock);
    std::vector<Query> queries = {{},
                                  {.fields = {0}},
                                  {.latest = 5},
                                  {.aggregates = {Aggregate::kCount}},
                                  {.fields = {0}, .aggregates = {Aggregate::kSum}},
                                  {.fields = {0}, .change = Change::kDelta}};
    queries[3].every = ParseBucketWidth("day").value();
    for (Query query : queries) {
      const Rows all = fixture.Ask(query);
      query.selection.from_micros = kDay + kMicrosPerHour;
      const Rows alive = fixture.Ask(query);
      EXPECT_NE(alive, all) << text;
      query.selection.from_micros = 0;
      query.now_micros = now_micros;
      EXPECT_EQ(fixture.Ask(query), alive) << text;
      query.selection.to_micros = kDay + kMicrosPerHour;
      EXPECT_EQ(fixture.Ask(query), Rows{}) << text;
    }
    EXPECT_EQ(fixture.Ask({.fields = {0}, .latest = 2, .now_micros = now_micros + 1'000}),
              Rows{"s 1 2021-03-05T01:00:00Z 4"});
  }
}

TEST(Query, LeavesOutBlobsThatAreForgotten) {
  for (const char* text : {"layout: blob\nkey: [a, time]", "layout: blob\nbucket: month\nkey: [a, bucket]"}) {
    const SeriesSchema schema =
        ParseSchema(
            fmt::format("series: s\ntags: {{ a: string }}\nfields: {{ x: int }}\n{}{}", text, kForgetting),
            "x.yaml")
            .value();
    MemoryTables tables;
    const ManualClock clock(kDay);
    ASSERT_TRUE(EnsureSeriesTables(schema, &tables, &clock).ok());
    PointWriter writer(schema, &tables, {}, &clock);
    for (const int64_t hour : {0, 1, 2}) {
      ASSERT_TRUE(writer.Add({{"s"}, kDay + hour * kMicrosPerHour, {"1"}}).ok());
    }
    ASSERT_TRUE(writer.Flush().ok());
    for (const std::optional<int64_t> latest : {std::optional<int64_t>(), std::optional<int64_t>(5)}) {
      int64_t rows = 0;
      const Query query{.latest = latest, .now_micros = kDay + 25 * kMicrosPerHour};
      ASSERT_TRUE(RunQuery(schema, query, &tables, [&](const ResultRow&) { return ++rows > 0; }).ok());
      EXPECT_EQ(rows, 2);
    }
  }
}

TEST(Query, LeavesOutWhatFamiliesForget) {
  const SeriesSchema schema =
      ParseSchema(
          std::string("series: s\ntags: { a: string }\nfields: { x: int, n: { type: int, family: f } }\n"
                      "bucket: day\nkey: [a, bucket]\nfamilies: { f: { max_age: 1h } }") +
              kForgetting,
          "x.yaml")
          .value();
  MemoryTables tables;
  const ManualClock clock(kDay + kMicrosPerHour);
  ASSERT_TRUE(EnsureSeriesTables(schema, &tables, &clock).ok());
  PointWriter writer(schema, &tables, {}, &clock);
  for (const int64_t hour : {0, 1, 24}) {
    ASSERT_TRUE(writer.Add({{"s"}, kDay + hour * kMicrosPerHour, {"1", "2"}}).ok());
  }
  ASSERT_TRUE(writer.Flush().ok());
  const auto ask = [&](Query query) {
    Rows rows;
    query.now_micros = kDay + 25 * kMicrosPerHour;
    const auto stats = RunQuery(schema, query, &tables, [&](const ResultRow& row) {
      rows.push_back(Text(row));
      return true;
    });
    EXPECT_TRUE(stats.ok()) << stats.status();
    return rows;
  };
  EXPECT_EQ(ask({}), (Rows{"s 2021-03-04T01:00:00Z 1 -", "s 2021-03-05T00:00:00Z 1 2"}));
  EXPECT_EQ(ask({.fields = {1}}), Rows{"s 2021-03-05T00:00:00Z 2"});
  EXPECT_EQ(ask({.aggregates = {Aggregate::kCount}}), Rows{"s 2021-03-04T01:00:00Z 2 1"});
}

// With corrections, age is that of the value, not of its event.
TEST(Query, CountsTheAgeOfCorrectionsFromTheirWriting) {
  Fixture fixture(std::string("layout: row\nkey: [a, b, time]\ncorrections: keep") + kForgetting);
  const ManualClock clock(kDay + 3 * kMicrosPerHour);
  fixture.Write(kPoints, &clock);
  EXPECT_EQ(fixture.Ask({.now_micros = kDay + 27 * kMicrosPerHour}).size(), 4u);
  EXPECT_EQ(fixture.Ask({.now_micros = kDay + 28 * kMicrosPerHour}), Rows{});
}

// The newest blob of a row may lack the field that is asked for.
TEST(Query, FindsTheNewestOfAFieldInBlobs) {
  const SeriesSchema schema = ParseSchema(
                                  "series: s\ntags: { a: string }\nfields: { x: double, n: int }\n"
                                  "bucket: month\nlayout: blob\nkey: [a, bucket]\n",
                                  "x.yaml")
                                  .value();
  MemoryTables tables;
  ASSERT_TRUE(EnsureSeriesTables(schema, &tables).ok());
  PointWriter writer(schema, &tables);
  ASSERT_TRUE(writer.Add({{"s"}, kDay, {"1", "10"}}).ok());
  ASSERT_TRUE(writer.Add({{"s"}, kDay + kMicrosPerHour, {"2", ""}}).ok());
  ASSERT_TRUE(writer.Flush().ok());
  Rows rows;
  const auto stats = RunQuery(schema, {.fields = {1}, .latest = 1}, &tables, [&](const ResultRow& row) {
    rows.push_back(Text(row));
    return true;
  });
  ASSERT_TRUE(stats.ok()) << stats.status();
  EXPECT_EQ(rows, Rows{"s 2021-03-04T00:00:00Z 10"});
}

TEST(Query, AggregatesOverTheCalendar) {
  Fixture fixture("bucket: day\nkey: [a, b, bucket]");
  fixture.Write(kPoints);
  EXPECT_EQ(fixture.Ask({.every = ParseBucketWidth("day").value(),
                         .aggregates = {Aggregate::kAvg, Aggregate::kMin, Aggregate::kMax, Aggregate::kCount,
                                        Aggregate::kSum, Aggregate::kFirst, Aggregate::kLast}}),
            (Rows{"s 1 2021-03-04T00:00:00Z 1.5 1 2 2 3 1 2 10 10 10 1 10 10 10",
                  "s 1 2021-03-05T00:00:00Z 4 4 4 1 4 4 4 30 30 30 1 30 30 30",
                  "t 2 2021-03-04T00:00:00Z 8 8 8 1 8 8 8 40 40 40 1 40 40 40"}));
  EXPECT_EQ(
      fixture.Ask(
          {.fields = {2}, .every = ParseBucketWidth("week").value(), .aggregates = {Aggregate::kCount}}),
      (Rows{"s 1 2021-03-01T00:00:00Z 3", "t 2 2021-03-01T00:00:00Z 1"}));
}

TEST(Query, SaysWhatItCanNotDo) {
  Fixture fixture("bucket: day\nkey: [a, b, bucket]");
  EXPECT_EQ(fixture.ErrorOf(
                {.fields = {2}, .every = ParseBucketWidth("day").value(), .aggregates = {Aggregate::kAvg}}),
            "avg of field 'w', which is a string; allowed: count");
  EXPECT_EQ(fixture.ErrorOf({.every = ParseBucketWidth("day").value()}),
            "--every and --agg go together; aggregates: " + AggregateNames());
  EXPECT_EQ(fixture.ErrorOf({.aggregates = {Aggregate::kMax}, .windows = {2}}),
            "--window counts buckets: it needs --every");
  EXPECT_EQ(fixture.ErrorOf({.latest = 1, .change = Change::kRate}),
            "the latest points and --change exclude each other");
  EXPECT_EQ(fixture.ErrorOf({.top = Top{2, "max(x)"}}), "--by 'max(x)'; allowed: x, n");
  EXPECT_EQ(fixture.ErrorOf({.top = Top{kTopMax + 1}}), "--top 100001; allowed: 1 to 100000");
  EXPECT_EQ(fixture.ErrorOf({.conditions = {{0, "a("}}}),
            "tag 'a': 'a(' is not a regular expression (RE2): missing ): ^(?:a()$");
  EXPECT_EQ(fixture.ErrorOf({.selection = {{}, 0, 50'000 * kMicrosPerDay},
                             .every = ParseBucketWidth("1ms").value(),
                             .aggregates = {Aggregate::kMax},
                             .fill = Fill::kNull}),
            "");  // no point: no group with gaps
  fixture.Write(kPoints);
  EXPECT_EQ(fixture.ErrorOf({.selection = {{}, 0, 50'000 * kMicrosPerDay},
                             .every = ParseBucketWidth("1ms").value(),
                             .aggregates = {Aggregate::kMax},
                             .fill = Fill::kNull}),
            "filling gaps of more than 1000000 buckets a group; ask for wider buckets or a shorter time");
  EXPECT_EQ(fixture.ErrorOf({.latest = 0}), "the latest 0 points; allowed: 1 and more");
  EXPECT_EQ(fixture.ErrorOf({.selection = {{{{"a#"}, {}}}}}), "tag 'a': value 'a#' holds the delimiter '#'");
}

TEST(Query, PatternsSelectTagsAndNarrowTheScan) {
  Fixture fixture("bucket: day\nkey: [a, b, bucket]");
  fixture.Write(kPoints);
  EXPECT_EQ(fixture.Ask({.conditions = {{0, "[t-z]"}}, .fields = {0}}), Rows{"t 2 2021-03-04T01:00:00Z 8"});
  EXPECT_EQ(fixture.Ask({.conditions = {{0, "t.*"}}, .fields = {0}}), Rows{"t 2 2021-03-04T01:00:00Z 8"});
  EXPECT_EQ(fixture.stats_.rows_read, 1);
  EXPECT_FALSE(fixture.stats_.is_full_scan);
  EXPECT_EQ(fixture.Ask({.conditions = {{0, "x|t"}}, .fields = {0}}), Rows{"t 2 2021-03-04T01:00:00Z 8"});
  EXPECT_EQ(fixture.stats_.ranges.size(), 2);
  EXPECT_EQ(fixture.Ask({.conditions = {{0, "s", true}}, .fields = {0}}), Rows{"t 2 2021-03-04T01:00:00Z 8"});
  EXPECT_TRUE(fixture.stats_.is_full_scan);
  EXPECT_EQ(fixture.Ask({.conditions = {{0, "[st]"}, {1, "2"}}, .fields = {0}}),
            Rows{"t 2 2021-03-04T01:00:00Z 8"});
}

TEST(Query, AggregatesOverAllTimeGroupsAndPercentiles) {
  Fixture fixture("bucket: day\nkey: [a, b, bucket]");
  fixture.Write(kPoints);
  EXPECT_EQ(fixture.Ask({.fields = {0}, .aggregates = {Aggregate::kMax}}),
            (Rows{"s 1 2021-03-04T00:00:00Z 4", "t 2 2021-03-04T01:00:00Z 8"}));
  EXPECT_EQ(
      fixture.Ask({.fields = {0},
                   .aggregates = {Aggregate::Percentile(50), Aggregate::Percentile(100), Aggregate::kStddev},
                   .group_by = std::vector<size_t>{}}),
      Rows{" 2021-03-04T00:00:00Z 3 8 3.09569594"});
  EXPECT_EQ(fixture.Ask({.fields = {0},
                         .every = ParseBucketWidth("day").value(),
                         .aggregates = {Aggregate::kCount},
                         .group_by = std::vector<size_t>{1}}),
            (Rows{"1 2021-03-04T00:00:00Z 2", "1 2021-03-05T00:00:00Z 1", "2 2021-03-04T00:00:00Z 1"}));
  EXPECT_EQ(fixture.Ask({.fields = {0}, .top = Top{2, ""}}),
            (Rows{"t 2 2021-03-04T01:00:00Z 8", "s 1 2021-03-05T01:00:00Z 4"}));
  EXPECT_EQ(fixture.Ask({.fields = {0}, .aggregates = {Aggregate::kMax}, .top = Top{1, "max(x)", true}}),
            Rows{"s 1 2021-03-04T00:00:00Z 4"});
}

TEST(Query, TheTopOfNothingIsNothing) {
  Fixture fixture("bucket: day\nkey: [a, b, bucket]");
  EXPECT_EQ(fixture.Ask({.fields = {0}, .top = Top{2, ""}}), Rows{});
  EXPECT_EQ(fixture.Ask({.fields = {0}, .aggregates = {Aggregate::kMax}, .top = Top{1, "max(x)", true}}),
            Rows{});
}

TEST(Query, FillsGaps) {
  Fixture fixture("bucket: day\nkey: [a, b, bucket]");
  fixture.Write({{"s", "1", kDay, 1, {}}, {"s", "1", kDay + 3 * kMicrosPerHour, 7, {}}});
  Query query = {.selection = {{}, kDay - kMicrosPerHour, kDay + 5 * kMicrosPerHour},
                 .fields = {0},
                 .every = ParseBucketWidth("hour").value(),
                 .aggregates = {Aggregate::kMax, Aggregate::kCount},
                 .fill = Fill::kNull};
  const auto rows = [](std::vector<std::string> values) {
    for (size_t i = 0; i < values.size(); ++i) {
      values[i] =
          fmt::format("s 1 {} {}", TimeText(kDay + (static_cast<int>(i) - 1) * kMicrosPerHour), values[i]);
    }
    return values;
  };
  EXPECT_EQ(fixture.Ask(query), rows({"- 0", "1 1", "- 0", "- 0", "7 1", "- 0"}));
  query.fill = Fill::kPrevious;
  EXPECT_EQ(fixture.Ask(query), rows({"- 0", "1 1", "1 0", "1 0", "7 1", "7 0"}));
  query.fill = Fill::kLinear;
  EXPECT_EQ(fixture.Ask(query), rows({"- 0", "1 1", "3 0", "5 0", "7 1", "- 0"}));
}

TEST(Query, ChangesOfCountersKnowTheirResets) {
  for (const char* text : {"bucket: day\nkey: [a, b, bucket]", "layout: row\nkey: [a, { time: epoch_ms }, b]",
                           "layout: row\nkey: [a, b, { time: epoch_ms, reverse: true }]"}) {
    Fixture fixture(text);
    for (int i = 0; const double x : {10.0, 30.0, 5.0, 6.0}) {
      fixture.Write({{"s", "1", kDay + 10 * kMicrosPerSecond * i++, x, {}}});
    }
    EXPECT_EQ(
        fixture.Ask({.fields = {0}, .change = Change::kDelta}),
        (Rows{"s 1 2021-03-04T00:00:10Z 20", "s 1 2021-03-04T00:00:20Z -25", "s 1 2021-03-04T00:00:30Z 1"}));
    EXPECT_EQ(
        fixture.Ask({.fields = {0}, .change = Change::kRate}),
        (Rows{"s 1 2021-03-04T00:00:10Z 2", "s 1 2021-03-04T00:00:20Z 0.5", "s 1 2021-03-04T00:00:30Z 0.1"}));
    EXPECT_EQ(fixture.Ask({.fields = {0},
                           .every = ParseBucketWidth("day").value(),
                           .aggregates = {Aggregate::kSum},
                           .change = Change::kIncrease}),
              Rows{"s 1 2021-03-04T00:00:00Z 26"});
  }
}

TEST(Query, WindowsLookBackOverBuckets) {
  Fixture fixture("bucket: week\nkey: [a, b, bucket]");
  for (int day = 0; day < 6; ++day) {
    if (day != 3) fixture.Write({{"s", "1", kDay + day * kMicrosPerDay, 1.0 * day, {}}});
  }
  EXPECT_EQ(fixture.Ask({.selection = {{}, kDay + 2 * kMicrosPerDay},
                         .fields = {0},
                         .every = ParseBucketWidth("day").value(),
                         .aggregates = {Aggregate::kAvg},
                         .windows = {1, 3}}),
            (Rows{"s 1 2021-03-06T00:00:00Z 2 1", "s 1 2021-03-08T00:00:00Z 4 3",
                  "s 1 2021-03-09T00:00:00Z 5 4.5"}));
}

TEST(Query, RefusesForeignRows) {
  Fixture fixture("bucket: day\nkey: [a, b, bucket]");
  fixture.tables_.tables["s"].rows["s#x#20210304"][{"m", "x"}][kDay] = "1";
  EXPECT_EQ(fixture.ErrorOf({}),
            "'x' is not a value of tag 'b': this row was not written by this declaration");
}

// All kinds of keys against a straightforward answer.
TEST(Query, AgreesWithANaiveAnswer) {
  SeededRandom random(31);
  for (const char* text :
       {"bucket: day\nkey: [a, b, bucket]", "bucket: week\nkey: [a, bucket, b]",
        "bucket: 7h\nkey: [b, a, bucket]",
        "bucket: hour\nkey: [a, b, { bucket: hour, format: epoch_s, reverse: true }]", "key: [a, b]",
        "layout: row\nkey: [a, b, time]", "layout: row\nkey: [a, { time: epoch_ms, reverse: true }, b]",
        "layout: row\nkey: [b, a, { time: epoch_ms, reverse: true }]",
        "bucket: day\nkey: [{ salt: 4 }, a, b, bucket]",
        "layout: row\nkey: [{ salt: 3, of: time }, a, b, time]",
        "layout: row\nkey: [a, { salt: 3, of: time }, time, b]",
        "layout: columns\nbucket: week\nkey: [a, b, field, bucket]",
        "layout: offsets\nbucket: week\nslot: 30m\nkey: [a, b, bucket]",
        "bucket: day\nkey: [a, b, bucket]\nversions:\n"
        "  - { until: 2021-03-09, table: s1, layout: row, key: [a, time, b] }\n"
        "  - { until: 2021-03-15-0730, table: s2, bucket: week, key: [{ salt: 3 }, b, a, bucket] }"}) {
    Fixture fixture(text);
    std::map<std::tuple<std::string, std::string, int64_t>, NaivePoint> unique;
    for (int i = 0; i < 600; ++i) {
      NaivePoint point;
      point.a = std::array{"u", "uv", "w"}[random.Uniform(3)];
      point.b = std::array{"1", "22"}[random.Uniform(2)];
      point.time_micros = kDay + static_cast<int64_t>(random.Uniform(20 * 24)) * kMicrosPerHour / 2;
      point.x = static_cast<double>(random.Uniform(10'000)) / 7;
      point.n = static_cast<int64_t>(random.Uniform(100)) - 50;
      unique[{point.a, point.b, point.time_micros}] = point;
    }
    std::vector<NaivePoint> points;
    for (const auto& [key, point] : unique) points.push_back(point);
    for (size_t i = points.size(); i > 1; --i) std::swap(points[i - 1], points[random.Uniform(i)]);
    fixture.Write(points);
    for (int q = 0; q < 40; ++q) {
      Query query;
      query.selection.tags.resize(2);
      if (random.Uniform(2) == 0) query.selection.tags[0].prefix = "u";
      if (random.Uniform(2) == 0) query.selection.tags[1].values = {"22"};
      if (random.Uniform(2) == 0)
        query.selection.from_micros = kDay + static_cast<int64_t>(random.Uniform(5 * kMicrosPerDay));
      if (random.Uniform(2) == 0)
        query.selection.to_micros = kDay + static_cast<int64_t>(random.Uniform(10 * kMicrosPerDay));
      query.every = ParseBucketWidth(std::array{"3h", "day", "week", "month"}[random.Uniform(4)]).value();
      query.aggregates = {Aggregate::kAvg,   Aggregate::kMin, Aggregate::kMax,
                          Aggregate::kCount, Aggregate::kSum, Aggregate::kLast};
      query.fields = {0};
      std::map<std::tuple<std::string, std::string, int64_t>, std::vector<double>> buckets;
      std::map<std::pair<std::string, std::string>, Rows> raw;
      for (const auto& [key, point] : unique) {
        const auto& [a, b, time] = key;
        if (query.selection.tags[0].prefix && a[0] != 'u') continue;
        if (!query.selection.tags[1].values.empty() && b != "22") continue;
        if (time < query.selection.from_micros || time >= query.selection.to_micros) continue;
        buckets[{a, b, query.every->Start(time)}].push_back(point.x);
        raw[{a, b}].push_back(fmt::format("{} {} {} {:.9g}", a, b, TimeText(time), point.x));
      }
      Rows expected;
      for (const auto& [key, values] : buckets) {
        double sum = 0;
        for (const double value : values) sum += value;
        expected.push_back(
            fmt::format("{} {} {} {:.9g} {:.9g} {:.9g} {} {:.9g} {:.9g}", std::get<0>(key), std::get<1>(key),
                        TimeText(std::get<2>(key)), sum / static_cast<double>(values.size()),
                        *std::min_element(values.begin(), values.end()),
                        *std::max_element(values.begin(), values.end()), values.size(), sum, values.back()));
      }
      Rows answer = fixture.Ask(query);
      std::sort(answer.begin(), answer.end());
      std::sort(expected.begin(), expected.end());
      EXPECT_EQ(answer, expected) << text;

      query.every.reset();
      query.aggregates.clear();
      Rows all_raw;
      Rows newest;
      for (auto& [series, rows] : raw) {
        all_raw.insert(all_raw.end(), rows.begin(), rows.end());
        newest.insert(newest.end(), rows.rbegin(), rows.rbegin() + std::min<size_t>(3, rows.size()));
      }
      answer = fixture.Ask(query);
      std::sort(answer.begin(), answer.end());
      std::sort(all_raw.begin(), all_raw.end());
      EXPECT_EQ(answer, all_raw) << text;
      query.latest = 3;
      EXPECT_EQ(fixture.Ask(query), newest) << text;
    }
  }
}

}  // namespace
}  // namespace sonde::series
