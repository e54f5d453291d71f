// Samples of declared series deleted: all tables have what they would have if these points had never come.
#include "series/metric/declared_delete.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "series/index/entity_index.h"
#include "series/index/write/index_repair.h"
#include "series/known/series_tables.h"
#include "series/metric/metric_delete.h"
#include "series/query/query.h"
#include "series/schema/schema_parser.h"
#include "series/write/memory_tables_test_support.h"
#include "series/write/point_writer.h"

namespace sonde::series {
namespace {

using promql::Matcher;
using promql::MatchKind;

constexpr std::string_view kHead =
    "series: s\nindex: yes\ntags: { a: string, b: { type: int, width: 4 } }\nfields: { x: double, n: int }\n"
    "time: { resolution: 1m }\n";
constexpr int64_t kDay = 18690 * kMicrosPerDay;
constexpr int64_t kNow = kDay + 30 * kMicrosPerDay;

constexpr const char* kDerived =
    "derive:\n  - latest: l\n  - period: { table: \"p_{yyyymmdd}\", every: day }\n"
    "  - rollup: { table: r, every: hour, aggregates: [count, sum, min, max, first, last] }\n";

constexpr const char* kShapes[] = {
    "bucket: day\nkey: [a, b, bucket]\n",
    "bucket: hour\nkey: [bucket, { salt: 3, of: b }, a, b]\n",
    "layout: columns\nbucket: day\nkey: [a, b, field, bucket]\n",
    "layout: offsets\nbucket: day\nslot: 1m\nkey: [b, a, bucket]\n",
    "layout: offsets\nbucket: hour\nslot: 1m\nkey: [b, field, a, bucket]\ncorrections: keep\n",
    "layout: row\nkey: [{ salt: 4, of: time }, a, b, time]\n",
    "layout: row\nkey: [b, a, { time: epoch_ms, reverse: true }]\ncorrections: keep\n",
    "layout: blob\nkey: [a, b, time]\n",
    "layout: blob\nblob: { format: protobuf }\nbucket: day\nkey: [a, b, bucket]\n",
};

struct Point {
  std::vector<std::string> tags;
  int64_t time_micros = 0;
  std::vector<std::string> fields;  // x, n; empty: it has none
};

class DeclaredDeleteTest : public testing::TestWithParam<std::string> {
 protected:
  DeclaredDeleteTest() : schema_(ParseSchema(fmt::format("{}{}", kHead, GetParam()), "x.yaml").value()) {}

  void Write(const std::vector<Point>& points, MemoryTables* tables) const {
    ASSERT_TRUE(EnsureSeriesTables(schema_, tables).ok());
    ManualClock clock(kNow);
    PointWriter writer(schema_, tables, {}, &clock);
    for (const Point& point : points) {
      const std::vector<std::string_view> tags(point.tags.begin(), point.tags.end());
      const std::vector<std::string_view> fields(point.fields.begin(), point.fields.end());
      ASSERT_TRUE(writer.Add({tags, point.time_micros, fields}).ok());
    }
    ASSERT_TRUE(writer.Flush().ok());
  }

  std::vector<Point> RandomPoints() {
    std::map<std::pair<std::vector<std::string>, int64_t>, Point> points;
    for (int i = 0; i < 250; ++i) {
      Point point{{fmt::format("a{}", random_.Uniform(3)), fmt::format("{}", random_.Uniform(3))},
                  kDay + static_cast<int64_t>(random_.Uniform(2 * 1440)) * kMicrosPerMinute,
                  {fmt::format("{}.5", random_.Uniform(50)), fmt::format("{}", random_.Uniform(50))}};
      if (random_.Uniform(4) == 0) point.fields[random_.Uniform(2)].clear();
      points[{point.tags, point.time_micros}] = point;
    }
    std::vector<Point> result;
    for (auto& [of, point] : points) result.push_back(point);
    return result;
  }

  // All points of a table, as texts.
  static std::vector<std::string> ReadTable(const SeriesSchema& table, MemoryTables* tables, bool is_newest) {
    std::vector<std::string> rows;
    Query query;
    if (is_newest) query.latest = 1;
    const auto stats = RunQuery(table, query, tables, [&](const ResultRow& row) {
      std::string text = fmt::format("{} {}", fmt::join(row.tags, " "), TimeText(row.time_micros));
      for (const ResultValue& value : row.values) {
        const std::optional<double> number = NumberOf(value);
        text += number ? fmt::format(" {}", *number) : " -";
      }
      rows.push_back(std::move(text));
      return true;
    });
    EXPECT_TRUE(stats.ok() || absl::IsNotFound(stats.status())) << stats.status();
    std::sort(rows.begin(), rows.end());
    return rows;
  }

  void ExpectSame(MemoryTables* found, MemoryTables* wanted) const {
    std::vector<SeriesSchema> all = MakeDerivedSchemas(schema_);
    all.push_back(schema_);
    for (int day = 0; day < 2 && !schema_.periods.empty(); ++day)
      all.push_back(MakePeriodSchema(schema_, schema_.periods[0], kDay + day * kMicrosPerDay));
    for (const SeriesSchema& table : all)
      EXPECT_EQ(ReadTable(table, found, false), ReadTable(table, wanted, false)) << table.table;
    EXPECT_EQ(ReadTable(schema_, found, true), ReadTable(schema_, wanted, true));
  }

  absl::StatusOr<DeletedCounts> Delete(std::vector<Matcher> matchers, int64_t from_micros, int64_t to_micros,
                                       TableAccess* tables) {
    const std::vector<KnownSeriesRef> known = {
        std::make_shared<const KnownSeries>(KnownSeries{schema_, schema_.text, {}})};
    ManualClock clock(kNow + kMicrosPerHour);
    MetricDelete what;
    what.sets = {std::move(matchers)};
    what.start_millis = from_micros / 1000;
    what.end_millis = to_micros / 1000 - 1;
    what.index = &index_;
    what.clock = &clock;
    return DeleteMetrics(known, what, tables);
  }

  SeededRandom random_{17};
  const SeriesSchema schema_;
  EntityIndex index_;
};

TEST_P(DeclaredDeleteTest, LeavesWhatTheOtherPointsSay) {
  const bool is_blob = schema_.layout == Layout::kBlob;
  for (int round = 0; round < 6; ++round) {
    SCOPED_TRACE(round);
    std::vector<Point> points = RandomPoints();
    MemoryTables tables;
    Write(points, &tables);
    const int64_t from_micros =
        round == 0 ? 0 : kDay + static_cast<int64_t>(random_.Uniform(2 * 1440)) * kMicrosPerMinute;
    const int64_t to_micros =
        round < 2 ? kNow : from_micros + static_cast<int64_t>(random_.Uniform(1440)) * kMicrosPerMinute;
    // Of one metric, or all; of one value of the tag that does not lead, or of all but one, or a whole measurement.
    const bool is_of_x = !is_blob && round % 2 == 1;
    std::vector<Matcher> matchers = {is_of_x ? *Matcher::Create(MatchKind::kEqual, "__name__", "s_x")
                                             : *Matcher::Create(MatchKind::kMatches, "__name__", "s(_.*)?")};
    if (round % 3 == 1) matchers.push_back(*Matcher::Create(MatchKind::kEqual, "b", "1"));
    if (round % 3 == 2) matchers.push_back(*Matcher::Create(MatchKind::kMatchesNot, "b", "1"));
    const auto counts = Delete(matchers, from_micros, to_micros, &tables);
    ASSERT_TRUE(counts.ok()) << counts.status();
    EXPECT_GT(counts->rows, 0);
    for (Point& point : points) {
      const bool is_one = point.tags[1] == "1";
      const bool is_meant = round % 3 == 0 || (round % 3 == 1) == is_one;
      if (!is_meant || point.time_micros < from_micros || point.time_micros >= to_micros) continue;
      point.fields[0].clear();
      if (!is_of_x) point.fields[1].clear();
    }
    std::erase_if(points,
                  [](const Point& point) { return point.fields[0].empty() && point.fields[1].empty(); });
    MemoryTables wanted;
    Write(points, &wanted);
    ExpectSame(&tables, &wanted);
    // The index has all of what there is, and what was written again is there.
    const KnownSeries known{schema_, schema_.text, {}};
    const auto report = CheckIndex(known, &tables);
    ASSERT_TRUE(report.ok()) << report.status();
    EXPECT_TRUE(report->is_sound() && report->is_whole);
    // A second time, there is nothing to delete.
    const auto again = Delete(matchers, from_micros, to_micros, &tables);
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ(again->rows, 0);
  }
}

TEST_P(DeclaredDeleteTest, IsCompletedByTheSameCall) {
  const std::vector<Point> points = RandomPoints();
  MemoryTables wanted;
  std::vector<Point> rest = points;
  const int64_t to_micros = kDay + 30 * kMicrosPerHour;
  std::erase_if(rest,
                [&](const Point& point) { return point.tags[0] == "a1" && point.time_micros < to_micros; });
  Write(rest, &wanted);
  const std::vector<Matcher> matchers = {*Matcher::Create(MatchKind::kMatches, "__name__", "s_.*"),
                                         *Matcher::Create(MatchKind::kEqual, "a", "a1")};
  for (int writes = 0; writes < 12; ++writes) {
    SCOPED_TRACE(writes);
    MemoryTables tables;
    Write(points, &tables);
    DyingTables dying(&tables, writes);
    (void)Delete(matchers, 0, to_micros, &dying);
    ASSERT_TRUE(Delete(matchers, 0, to_micros, &tables).ok());
    // What a writer that died has marked, the next one refreshes.
    ManualClock clock(kNow + kMicrosPerDay);
    ASSERT_TRUE(schema_.rollups.empty() || RollupKeeper(schema_, &tables, &clock).RefreshStale().ok());
    ExpectSame(&tables, &wanted);
  }
}

std::vector<std::string> AllShapes() {
  std::vector<std::string> shapes;
  for (const char* shape : kShapes) {
    shapes.emplace_back(shape);
    shapes.push_back(std::string(shape) + kDerived);
  }
  shapes.push_back(std::string(kShapes[0]) + kDerived +
                   "  - order: { table: o, layout: row, key: [{ salt: 4, of: time }, time, b, a] }\n");
  shapes.push_back(
      std::string(kShapes[0]) +
      "versions:\n"
      "  - { until: 2021-03-05, table: s1, layout: row, key: [b, { salt: 4, of: time }, a, time] }\n");
  return shapes;
}

INSTANTIATE_TEST_SUITE_P(Shapes, DeclaredDeleteTest, testing::ValuesIn(AllShapes()));

TEST(DeclaredDelete, RefusesWhatItCannotDelete) {
  const auto schema = ParseSchema(std::string(kHead) + kShapes[7] + kDerived, "x.yaml");
  ASSERT_TRUE(schema.ok());
  MemoryTables tables;
  const auto refusal = [&](const std::string& metric) {
    MetricDelete what;
    what.sets = {{*Matcher::Create(MatchKind::kEqual, "__name__", metric)}};
    what.end_millis = 1;
    const std::vector<KnownSeriesRef> known = {
        std::make_shared<const KnownSeries>(KnownSeries{*schema, schema->text, {}})};
    const absl::Status status = DeleteMetrics(known, what, &tables).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
    return std::string(status.message());
  };
  EXPECT_EQ(refusal("s_x"),
            "the selector means 1 of the 2 metrics of series 's', which has all fields of a point in one "
            "value (layout blob): "
            "single ones are not deleted; name all: {__name__=~\"s(_.*)?\"}");
  EXPECT_EQ(refusal("s_r_x_count"),
            "the selector means 's_r_x_count', of a derived table, which follows its series; name a metric "
            "of the series");
}

}  // namespace
}  // namespace sonde::series
