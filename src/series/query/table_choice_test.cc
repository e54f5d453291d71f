#include "series/query/table_choice.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/random.h"
#include "series/known/complete_tables.h"
#include "series/known/series_tables.h"
#include "series/query/query.h"
#include "series/schema/schema_parser.h"
#include "series/write/memory_tables_test_support.h"
#include "series/write/point_writer.h"

namespace sonde::series {
namespace {

constexpr int64_t kDay = 18690 * kMicrosPerDay;  // 2021-03-04
constexpr int kHosts = 27;
constexpr int kHours = 44;
constexpr std::string_view kHead =
    "series: s\ntags: { host: string, rack: int }\nfields: { x: double, n: int }\ntime: { resolution: 1s }\n";
constexpr std::string_view kOrder =
    "derive:\n  - order: { table: by_time, key: [{ salt: 4 }, time, host, rack] }\n";

// Series of two declarations with the same points, one with copies and one without; and the answers of both.
class Both {
 public:
  Both(const std::string& keys, const std::string& derive)
      : with_(ParseSchema(std::string(kHead) + keys + derive, "with.yaml").value()), without_(with_) {
    without_.orders.clear();
    without_.periods.clear();
    EXPECT_TRUE(EnsureSeriesTables(with_, &tables_).ok());
  }

  // In no order, some twice, the first with another value.
  void WriteHours(int64_t start_micros) {
    std::vector<int> points;
    for (int i = 0; i < kHosts * kHours; ++i) points.push_back(i);
    for (int i = 0; i < kHosts * kHours; i += 7) points.push_back(i);
    SeededRandom random(4);
    for (size_t i = points.size(); i > 1; --i) std::swap(points[i - 1], points[random.Uniform(i)]);
    PointWriter writer(with_, &tables_);
    for (size_t i = 0; i < points.size(); ++i) {
      const std::string host = fmt::format("h{}", points[i] % kHosts);
      const std::string rack = fmt::format("{}", points[i] % 3);
      const std::string x = fmt::format("{}.5", points[i]);
      const std::string n = points[i] % 5 == 0 ? "" : fmt::format("{}", points[i] % 11);
      const std::vector<std::string_view> tags = {host, rack};
      const std::vector<std::string_view> fields = {x, n};
      EXPECT_TRUE(
          writer.Add({tags, start_micros + points[i] / kHosts * kMicrosPerHour + points[i], fields}).ok());
      EXPECT_TRUE(writer.FlushIfFull().ok());
    }
    EXPECT_TRUE(writer.Flush().ok());
  }

  // Fails where the answers are not the same rows.
  QueryStats Ask(const Query& query) {
    std::vector<std::string> answer = AnswerOf(without_, query);
    EXPECT_EQ(AnswerOf(with_, query), answer);
    results_ += answer.size();
    return stats_;
  }
  size_t results() const { return results_; }
  const SeriesSchema& with() const { return with_; }
  MemoryTables& tables() { return tables_; }

 private:
  std::vector<std::string> AnswerOf(const SeriesSchema& schema, const Query& query) {
    std::vector<std::string> rows;
    const auto stats = RunQuery(schema, query, &tables_, [&](const ResultRow& row) {
      std::string text = fmt::format("{} {}", fmt::join(row.tags, " "), row.time_micros);
      for (const ResultValue& value : row.values) {
        if (const auto* number = std::get_if<double>(&value)) text += fmt::format(" {:.9g}", *number);
        if (const auto* count = std::get_if<int64_t>(&value)) text += fmt::format(" {}", *count);
        if (std::holds_alternative<std::monostate>(value)) text += " -";
      }
      rows.push_back(std::move(text));
      return true;
    });
    EXPECT_TRUE(stats.ok()) << stats.status();
    if (stats.ok()) stats_ = *stats;
    std::sort(rows.begin(), rows.end());
    return rows;
  }

  MemoryTables tables_;
  SeriesSchema with_;
  SeriesSchema without_;
  QueryStats stats_;
  size_t results_ = 0;
};

Query AllForAnHour(int64_t from_micros) {
  Query query;
  query.selection.from_micros = from_micros;
  query.selection.to_micros = from_micros + kMicrosPerHour;
  return query;
}

TEST(TableChoice, ReadsTheOrderThatBeginsWithTheTime) {
  Both both("bucket: day\nkey: [host, rack, bucket]\nretention: { max_versions: all }\n",
            std::string(kOrder));
  both.WriteHours(kDay);
  const QueryStats stats = both.Ask(AllForAnHour(kDay + 5 * kMicrosPerHour));
  EXPECT_EQ(stats.results, kHosts);
  EXPECT_EQ(stats.rows_read, kHosts);
  EXPECT_FALSE(stats.is_full_scan);
  ASSERT_EQ(stats.tables.size(), 1);
  EXPECT_EQ(stats.tables[0].table, "by_time");
  EXPECT_EQ(stats.tables[0].ranges, 4);

  Query one = AllForAnHour(kDay);
  one.selection.tags = {{{"h1"}, {}}, {{"1"}, {}}};
  EXPECT_EQ(both.Ask(one).table, "s");
  EXPECT_EQ(both.Ask(Query()).table, "s");
}

TEST(TableChoice, ReadsThePeriodsThatHoldTheTime) {
  Both both("bucket: day\nkey: [host, rack, bucket]\nretention: { max_versions: all }\n",
            "derive:\n  - period: { table: \"s_{yyyymmdd}\", every: day }\n");
  both.WriteHours(kDay);
  Query query = AllForAnHour(kDay + 20 * kMicrosPerHour);
  query.selection.to_micros += 5 * kMicrosPerHour;
  QueryStats stats = both.Ask(query);
  ASSERT_EQ(stats.tables.size(), 2);
  EXPECT_EQ(stats.tables[0].table, "s_20210304");
  EXPECT_EQ(stats.tables[1].table, "s_20210305");
  EXPECT_EQ(stats.results, 6 * kHosts);
  // Days without a point have no table.
  query.selection.from_micros -= 2 * kMicrosPerDay;
  stats = both.Ask(query);
  EXPECT_EQ(stats.tables.size(), 4);
  EXPECT_EQ(stats.results, 26 * kHosts);
}

TEST(TableChoice, ReadsOnlyWhatIsComplete) {
  Both both("bucket: day\nkey: [host, rack, bucket]\nretention: { max_versions: all }\n",
            std::string(kOrder));
  both.WriteHours(kDay);
  ASSERT_TRUE(DeleteNote("s", kCompleteNote, "by_time", &both.tables()).ok());
  EXPECT_EQ(both.Ask(AllForAnHour(kDay)).table, "s");
  ASSERT_TRUE(NoteComplete(both.with(), &both.tables(), SystemClock()).ok());
  EXPECT_EQ(both.Ask(AllForAnHour(kDay)).table, "by_time");
}

TEST(TableChoice, ReadsNothingThatForgetsAnotherPart) {
  const std::string order =
      "derive:\n  - order: { table: by_time, key: [{ salt: 4 }, time, host, rack], retention: ";
  const std::string keys = "bucket: day\nkey: [host, rack, bucket]\nretention: ";
  const int64_t now = kDay + 3 * kMicrosPerDay;
  const auto table_of = [&](const std::string& own, const std::string& copy,
                            std::optional<int64_t> now_micros) {
    Both both(keys + own + "\n", order + copy + " }\n");
    both.WriteHours(kDay);
    Query query = AllForAnHour(kDay + kMicrosPerDay);
    query.now_micros = now_micros;
    return both.Ask(query).table;
  };
  EXPECT_EQ(table_of("{ max_age: 90d }", "{ max_age: 90d }", std::nullopt), "by_time");
  EXPECT_EQ(table_of("{ max_age: 90d }", "{ max_age: 7d }", now), "by_time");
  EXPECT_EQ(table_of("{ max_age: 90d }", "{ max_age: 7d }", std::nullopt), "s");
  EXPECT_EQ(table_of("{ max_age: 90d }", "{ max_age: 2d }", now), "s");  // forgets in this minute
  EXPECT_EQ(table_of("{ max_age: 1d }", "{ max_age: 90d }", now), "s");
  EXPECT_EQ(table_of("{ max_versions: 2 }", "{ max_versions: all }", now), "s");
  EXPECT_EQ(table_of("{ max_versions: all }", "{ max_versions: 1 }", now),
            "by_time");  // a row for each point
}

// Every kind of question, of random tags and times: a copy must never change an answer.
TEST(TableChoice, GivesTheAnswersOfTheSeries) {
  const std::string period = "  - period: { table: \"s_{yyyymmdd}\", every: day }\n";
  const std::string by_rack =
      "  - order: { table: by_rack, layout: cells, bucket: hour, key: [rack, bucket, host] }\n";
  const std::vector<std::string> keys = {"bucket: day\nkey: [host, rack, bucket]\n",
                                         "layout: row\nkey: [host, rack, time]\n",
                                         "bucket: hour\nkey: [{ salt: 3 }, host, rack, bucket]\n"};
  int copies_read = 0;
  size_t results = 0;
  for (const std::string& key : keys) {
    Both both(key + "retention: { max_versions: all }\n", std::string(kOrder) + by_rack + period);
    both.WriteHours(kDay);
    SeededRandom random(11);
    for (int i = 0; i < 120; ++i) {
      Query query;
      query.selection.tags.resize(2);
      if (random.Uniform(3) == 0)
        query.selection.tags[0].values = {fmt::format("h{}", random.Uniform(kHosts))};
      if (random.Uniform(6) == 0) query.selection.tags[0] = {{}, "h1"};
      if (random.Uniform(2) == 0) query.selection.tags[1].values = {fmt::format("{}", random.Uniform(3))};
      if (random.Uniform(8) != 0) {
        query.selection.from_micros =
            kDay + static_cast<int64_t>(random.Uniform(kHours)) * kMicrosPerHour - 3'000'000;
        query.selection.to_micros =
            query.selection.from_micros + static_cast<int64_t>(random.Uniform(9) + 1) * kMicrosPerHour;
      }
      if (random.Uniform(2) == 0) query.fields = {random.Uniform(2)};
      switch (random.Uniform(4)) {
        case 0:
          query.latest = static_cast<int64_t>(random.Uniform(3)) + 1;
          break;
        case 1:
          query.aggregates = {Aggregate::kCount, Aggregate::kSum, Aggregate::kMin, Aggregate::kLast};
          if (random.Uniform(2) == 0) query.every = ParseBucketWidth("2h").value();
          if (random.Uniform(2) == 0) query.group_by = std::vector<size_t>{1};
          break;
        case 2:
          query.change = Change::kDelta;
          break;
        default:
          break;
      }
      copies_read += both.Ask(query).table == "s" ? 0 : 1;
    }
    results += both.results();
  }
  EXPECT_GT(copies_read, 100);
  EXPECT_GT(results, 5'000);
}

}  // namespace
}  // namespace sonde::series
