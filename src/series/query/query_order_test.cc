// Answers that depend on the order of points or on groups being whole, whatever the order of the row keys.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "series/known/series_tables.h"
#include "series/query/query.h"
#include "series/schema/schema_parser.h"
#include "series/write/memory_tables_test_support.h"
#include "series/write/point_writer.h"

namespace sonde::series {
namespace {

constexpr int64_t kDay = 18690 * kMicrosPerDay;  // 2021-03-04

using Rows = std::vector<std::string>;
// The points of each series (a, b): x by time, in multiples of 0.5 so that sums are exact.
using Points = std::map<std::pair<std::string, std::string>, std::map<int64_t, double>>;

Rows Sorted(Rows rows) {
  std::sort(rows.begin(), rows.end());
  return rows;
}

class QueryOrderTest : public testing::TestWithParam<const char*> {
 protected:
  QueryOrderTest()
      : schema_(
            ParseSchema(fmt::format("series: s\ntags: {{ a: string, b: string }}\nfields: {{ x: double, y: "
                                    "double }}\n{}\n",
                                    GetParam()),
                        "x.yaml")
                .value()) {
    EXPECT_TRUE(EnsureSeriesTables(schema_, &tables_).ok());
    SeededRandom random(11);
    for (const char* a : {"p", "q", "r"}) {
      for (const char* b : {"0", "1", "2", "3", "4", "5", "6"}) {
        for (int i = 0; i < 40; ++i) {
          points_[{a, b}][kDay + static_cast<int64_t>(random.Uniform(20 * 48)) * kMicrosPerHour / 2] =
              0.5 * static_cast<double>(random.Uniform(1'000));
        }
      }
    }
    PointWriter writer(schema_, &tables_);
    for (const auto& [series, values] : points_) {
      for (const auto& [time, x] : values) {
        EXPECT_TRUE(writer.Add({{series.first, series.second}, time, {fmt::format("{}", x), "1"}}).ok());
        EXPECT_TRUE(writer.FlushIfFull().ok());
      }
    }
    EXPECT_TRUE(writer.Flush().ok());
  }

  Rows Ask(const Query& query) {
    Rows rows;
    const auto stats = RunQuery(schema_, query, &tables_, [&](const ResultRow& row) {
      std::string text = fmt::format("{} {}", fmt::join(row.tags, " "), TimeText(row.time_micros));
      for (const ResultValue& value : row.values) {
        if (const auto* integer = std::get_if<int64_t>(&value)) text += fmt::format(" {}", *integer);
        if (const auto* number = std::get_if<double>(&value)) text += fmt::format(" {}", *number);
      }
      rows.push_back(std::move(text));
      return true;
    });
    EXPECT_TRUE(stats.ok()) << stats.status();
    return rows;
  }

  // Delta or increase of each value but the first of its series.
  Points Changes(Change change) const {
    Points changes;
    for (const auto& [series, values] : points_) {
      for (auto value = std::next(values.begin()); value != values.end(); ++value) {
        const double before = std::prev(value)->second;
        const bool is_reset = change == Change::kIncrease && value->second < before;
        changes[series][value->first] = is_reset ? value->second : value->second - before;
      }
    }
    return changes;
  }

  const SeriesSchema schema_;
  MemoryTables tables_;
  Points points_;
};

TEST_P(QueryOrderTest, ChangesAreBetweenNeighboursInTime) {
  for (const Change change : {Change::kDelta, Change::kIncrease}) {
    Rows one_by_one, sums, by_day;
    std::map<std::pair<std::string, int64_t>, double> days;
    for (const auto& [series, values] : Changes(change)) {
      double sum = 0;
      for (const auto& [time, value] : values) {
        one_by_one.push_back(fmt::format("{} {} {} {}", series.first, series.second, TimeText(time), value));
        days[{series.first, time - time % kMicrosPerDay}] += value;
        sum += value;
      }
      const int64_t first = points_[series].begin()->first;
      sums.push_back(fmt::format("{} {} {} {}", series.first, series.second, TimeText(first), sum));
    }
    for (const auto& [day, sum] : days)
      by_day.push_back(fmt::format("{} {} {}", day.first, TimeText(day.second), sum));
    EXPECT_EQ(Sorted(Ask({.fields = {0}, .change = change})), Sorted(one_by_one));
    EXPECT_EQ(Sorted(Ask({.fields = {0}, .aggregates = {Aggregate::kSum}, .change = change})), Sorted(sums));
    Rows answer = Ask({.fields = {0},
                       .every = ParseBucketWidth("day").value(),
                       .aggregates = {Aggregate::kSum},
                       .change = change,
                       .group_by = std::vector<size_t>{0}});
    // A day whose points are the first of their series has none.
    std::erase_if(answer, [](const std::string& row) { return std::count(row.begin(), row.end(), ' ') < 2; });
    EXPECT_EQ(Sorted(answer), Sorted(by_day));
  }
}

// Also of some series only, and of a part of the time.
TEST_P(QueryOrderTest, ChangesOfSelectedPointsAre) {
  for (const auto& [values, prefix] :
       std::vector<std::pair<std::vector<std::string>, std::optional<std::string>>>{
           {{"p"}, {}}, {{"r", "p"}, {}}, {{}, "q"}}) {
    Query query{.fields = {0}, .change = Change::kDelta};
    query.selection = {
        {{values, prefix}, {{"2", "5"}, {}}}, kDay + 3 * kMicrosPerDay, kDay + 15 * kMicrosPerDay};
    Rows expected;
    for (const auto& [series, all] : points_) {
      const bool is_first = prefix ? series.first == *prefix
                                   : std::find(values.begin(), values.end(), series.first) != values.end();
      if (!is_first || (series.second != "2" && series.second != "5")) continue;
      std::optional<double> before;
      for (const auto& [time, value] : all) {
        if (time < query.selection.from_micros || time >= query.selection.to_micros) continue;
        if (before) {
          expected.push_back(
              fmt::format("{} {} {} {}", series.first, series.second, TimeText(time), value - *before));
        }
        before = value;
      }
    }
    EXPECT_EQ(Sorted(Ask(query)), Sorted(expected));
  }
}

TEST_P(QueryOrderTest, GroupsAreWhole) {
  for (const std::vector<size_t>& group_by : std::vector<std::vector<size_t>>{{}, {0}, {1}, {0, 1}, {1, 0}}) {
    std::map<std::string, int64_t> counts;
    std::map<std::string, std::pair<int64_t, double>> firsts, lasts;
    std::map<std::pair<std::string, int64_t>, int64_t> days;
    for (const auto& [series, values] : points_) {
      std::string group;
      for (const size_t tag : group_by)
        group += (group.empty() ? "" : " ") + (tag == 0 ? series.first : series.second);
      for (const auto& [time, x] : values) {
        const std::pair<int64_t, double> point(time, x);
        ++counts[group];
        ++days[{group, time - time % kMicrosPerDay}];
        firsts[group] = counts[group] == 1 ? point : std::min(firsts[group], point);
        lasts[group] = std::max(lasts[group], point);
      }
    }
    Rows groups, pieces;
    std::pair<int64_t, std::string> most;
    for (const auto& [group, count] : counts) {
      groups.push_back(fmt::format("{} {} {} {} {}", group, TimeText(firsts[group].first), count,
                                   firsts[group].second, lasts[group].second));
      if (count > most.first) most = {count, group};
    }
    for (const auto& [day, count] : days)
      pieces.push_back(fmt::format("{} {} {}", day.first, TimeText(day.second), count));
    const std::vector<Aggregate> aggregates = {Aggregate::kCount, Aggregate::kFirst, Aggregate::kLast};
    EXPECT_EQ(Sorted(Ask({.fields = {0}, .aggregates = aggregates, .group_by = group_by})), Sorted(groups));
    EXPECT_EQ(Sorted(Ask({.fields = {0},
                          .every = ParseBucketWidth("day").value(),
                          .aggregates = {Aggregate::kCount},
                          .group_by = group_by})),
              Sorted(pieces));
    Query top{.fields = {0}, .aggregates = {Aggregate::kCount}, .group_by = group_by, .top = Top{1, ""}};
    EXPECT_EQ(Ask(top),
              Rows{fmt::format("{} {} {}", most.second, TimeText(firsts[most.second].first), most.first)});
    // Each bucket of filled gaps comes once.
    const Rows filled = Ask({.selection = {{}, kDay, kDay + 20 * kMicrosPerDay},
                             .fields = {0},
                             .every = ParseBucketWidth("day").value(),
                             .aggregates = {Aggregate::kCount},
                             .group_by = group_by,
                             .windows = {2},
                             .fill = Fill::kNull});
    EXPECT_EQ(filled.size(), 20 * counts.size());
  }
}

TEST_P(QueryOrderTest, TheNewestAreTheNewest) {
  Rows expected;
  for (const auto& [series, values] : points_) {
    auto value = values.rbegin();
    for (int i = 0; i < 3; ++i, ++value)
      expected.push_back(
          fmt::format("{} {} {} {}", series.first, series.second, TimeText(value->first), value->second));
  }
  EXPECT_EQ(Ask({.fields = {0}, .latest = 3}), expected);
}

INSTANTIATE_TEST_SUITE_P(
    Keys, QueryOrderTest,
    testing::Values(
        "bucket: day\nkey: [a, b, bucket]", "bucket: day\nkey: [bucket, b, a]",
        "bucket: hour\nkey: [b, a, { bucket: hour, format: epoch_s, reverse: true }]",
        // Salts of time: in front, between, behind; more than are merged.
        "bucket: day\nkey: [{ salt: 4, of: time }, a, b, bucket]",
        "bucket: day\nkey: [a, { salt: 4, of: time }, b, bucket]",
        "bucket: day\nkey: [a, b, { salt: 4, of: time }, bucket]",
        "bucket: day\nkey: [a, bucket, { salt: 4, of: time }, b]",
        "bucket: day\nkey: [{ salt: 65, of: time }, a, b, bucket]",
        "bucket: day\nkey: [{ const: M }, b, { salt: 70, of: time }, a, bucket]",
        "layout: row\nkey: [a, { salt: 4, of: time }, b, time]",
        "layout: row\nkey: [a, { salt: 4, of: time }, { time: epoch_s, reverse: true }, b]",
        "layout: row\nkey: [{ salt: 100, of: time }, a, b, time]",
        "layout: row\nkey: [a, b, { time: yyyymmdd }, { salt: 4, of: time }, time]",
        "layout: row\nkey: [a, b, { time: yyyymmdd }, { time: epoch_ms, reverse: true }]",
        "layout: blob\nbucket: day\nkey: [a, { salt: 4, of: time }, b, bucket]",
        // If the key has the field, each field comes by time.
        "layout: columns\nbucket: day\nkey: [a, b, field, bucket]",
        "layout: columns\nbucket: day\nkey: [{ salt: 4, of: time }, a, field, b, bucket]",
        "layout: columns\nbucket: day\nkey: [a, { salt: 4, of: time }, field, b, bucket]",
        "layout: offsets\nbucket: day\nslot: 30m\nkey: [a, { salt: 4, of: time }, b, bucket]",
        // Salts of tags.
        "bucket: day\nkey: [{ salt: 8, of: [a, b] }, a, b, bucket]",
        "bucket: day\nkey: [{ salt: 65, of: [a, b] }, a, b, bucket]",
        "bucket: day\nkey: [{ salt: 100, of: [b] }, a, b, bucket]",
        "bucket: day\nkey: [a, { salt: 65, of: [b] }, b, bucket]",
        // Copies and earlier versions whose rows lie otherwise.
        "bucket: day\nkey: [a, b, bucket]\nderive:\n"
        "  - order: { table: o, bucket: day, key: [b, { salt: 4, of: time }, a, bucket] }",
        "bucket: day\nkey: [a, b, bucket]\nversions:\n"
        "  - { until: 2021-03-08, table: s1, layout: row, key: [a, { salt: 4, of: time }, b, time] }\n"
        "  - { until: 2021-03-12, table: s2, bucket: day, key: [{ salt: 65 }, b, a, bucket] }"));

}  // namespace
}  // namespace sonde::series
