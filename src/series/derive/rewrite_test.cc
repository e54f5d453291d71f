#include "series/derive/rewrite.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <map>

#include "series/known/point_scan.h"
#include "series/known/series_tables.h"
#include "series/schema/schema_parser.h"
#include "series/write/memory_tables_test_support.h"
#include "series/write/point_writer.h"

namespace sonde::series {
namespace {

constexpr int64_t kDay = 18690 * kMicrosPerDay;  // 2021-03-04
constexpr std::string_view kOld =
    "series: s\ntable: old\ntags: { host: string }\nfields: { cpu: double, mem: int }\ntime: { resolution: "
    "1m }\n"
    "layout: row\nkey: [host, time]\n";
constexpr std::string_view kNew =
    "series: s\ntable: new\ntags: { host: string }\nfields: { cpu: double, mem: int }\ntime: { resolution: "
    "1m }\n"
    "bucket: day\nkey: [{ salt: 4 }, host, bucket]\n";
constexpr std::string_view kVersions =
    "versions:\n  - { until: 2021-03-06, table: old, layout: row, key: [host, time] }\n";

SeriesSchema Parse(const std::string& text) {
  const auto schema = ParseSchema(text, "x.yaml");
  EXPECT_TRUE(schema.ok()) << schema.status();
  return *schema;
}

std::map<std::pair<std::string, int64_t>, std::string> ReadAll(const SeriesSchema& schema,
                                                               TableAccess* tables) {
  std::map<std::pair<std::string, int64_t>, std::string> points;
  const absl::Status status = ScanPoints(
      schema, {}, tables, [&](const DecodedKey& key, const RowPoint& point) -> absl::StatusOr<bool> {
        points[{key.tags[0], point.time_micros}] = fmt::format("{} {}", point.values[0], point.values[1]);
        return true;
      });
  EXPECT_TRUE(status.ok()) << status;
  return points;
}

void WriteDays(const SeriesSchema& schema, int from_day, int to_day, std::string_view cpu,
               TableAccess* tables) {
  ASSERT_TRUE(EnsureSeriesTables(schema, tables).ok());
  PointWriter writer(schema, tables);
  for (int64_t time = kDay + from_day * kMicrosPerDay; time < kDay + to_day * kMicrosPerDay;
       time += kMicrosPerMinute) {
    for (const char* host : {"a", "b", "c", "d", "e"}) {
      const std::string mem = fmt::format("{}", time / kMicrosPerMinute % 100);
      ASSERT_TRUE(writer.Add({{host}, time, {cpu, mem}}).ok());
      ASSERT_TRUE(writer.FlushIfFull().ok());
    }
  }
  ASSERT_TRUE(writer.Flush().ok());
}

TEST(Rewrite, MovesPointsWhileTheyAreReadAndWritten) {
  MemoryTables tables;
  const ManualClock clock(kDay + 10 * kMicrosPerDay);
  WriteDays(Parse(std::string(kOld)), 0, 2, "1.5", &tables);
  const SeriesSchema both = Parse(std::string(kNew) + std::string(kVersions));
  WriteDays(both, 2, 3, "2.5", &tables);
  const auto points = ReadAll(both, &tables);
  ASSERT_EQ(points.size(), 3 * 1440 * 5);

  // Broken off after each batch, it goes on where it was.
  int calls = 0;
  int64_t rows = 0;
  while (true) {
    const auto totals = CopyVersions(both, &tables, clock, [&](const RewriteTotals& so_far) {
      rows += so_far.rows;
      return false;
    });
    ++calls;
    ASSERT_LT(calls, 100);
    if (totals.ok()) break;
    ASSERT_EQ(totals.status().code(), absl::StatusCode::kCancelled) << totals.status();
    EXPECT_EQ(ReadAll(both, &tables), points);
  }
  EXPECT_GT(calls, 1);
  EXPECT_EQ(rows, 2 * 1440 * 5);

  // A late point comes before the declaration is changed.
  {
    PointWriter writer(both, &tables);
    ASSERT_TRUE(writer.Add({{"late"}, kDay, {"3.5", "1"}}).ok());
    ASSERT_TRUE(writer.Flush().ok());
  }
  EXPECT_EQ(FinishVersions(both, &tables, clock, nullptr).status().message(),
            "x.yaml: the declaration still reads table 'old'; take that version out of 'versions' first");
  const SeriesSchema after = Parse(std::string(kNew));
  ASSERT_TRUE(EnsureSeriesTables(after, &tables).ok());  // nothing is lost: the version was copied
  {
    PointWriter writer(after, &tables);  // a correction, which the older copy must not undo
    ASSERT_TRUE(writer.Add({{"a"}, kDay, {"9.5", "9"}}).ok());
    ASSERT_TRUE(writer.Flush().ok());
  }
  const auto finished = FinishVersions(after, &tables, clock, nullptr);
  ASSERT_TRUE(finished.ok()) << finished.status();
  EXPECT_EQ(finished->points, 1);
  auto expected = points;
  expected[{"late", kDay}] = "3.5 1";
  expected[{"a", kDay}] = "9.5 9";
  EXPECT_EQ(ReadAll(after, &tables), expected);
  EXPECT_FALSE(tables.tables.contains("old"));
  EXPECT_EQ(FinishVersions(after, &tables, clock, nullptr).status().code(),
            absl::StatusCode::kFailedPrecondition);
}

// Between the copy and the change of the declaration, points are corrected in the earlier table; behind it,
// in the new one.  Whichever came later counts, and no table is dropped that alone has it.
TEST(Rewrite, KeepsTheLaterOfTwoCorrections) {
  for (const char* shape :
       {"bucket: day\nkey: [{ salt: 4 }, host, bucket]\n", "layout: blob\nkey: [host, time]\n",
        "layout: blob\nbucket: day\nkey: [host, bucket]\n",
        "layout: row\nkey: [host, time]\ncorrections: keep\n"}) {
    SCOPED_TRACE(shape);
    const std::string now =
        std::string(
            "series: s\ntable: new\ntags: { host: string }\nfields: { cpu: double, mem: int }\ntime: { "
            "resolution: 1m }\nderive: [ rollup: { table: by_day, every: day, aggregates: [sum] } ]\n") +
        shape;
    MemoryTables tables;
    const ManualClock clock(kDay + 10 * kMicrosPerDay);
    const auto write = [&](const SeriesSchema& schema, int64_t minute, std::string_view cpu,
                           std::string_view mem) {
      PointWriter writer(schema, &tables, {}, &clock);
      ASSERT_TRUE(writer.Add({{"h"}, kDay + minute * kMicrosPerMinute, {cpu, mem}}).ok());
      ASSERT_TRUE(writer.Flush().ok());
    };
    const SeriesSchema both = Parse(now +
                                    "versions:\n  - { until: 2021-03-06, table: old, layout: row, "
                                    "corrections: replace, key: [host, time] }\n");
    ASSERT_TRUE(EnsureSeriesTables(both, &tables).ok());
    for (const int64_t minute : {1, 2, 3, 4, 5}) write(both, minute, "1.50", "1");
    ASSERT_TRUE(CopyVersions(both, &tables, clock, nullptr).ok());
    EXPECT_TRUE(tables.tables.contains(CopiedTable("s", "old")));
    write(both, 2, "2", "2");
    write(both, 3, "3", "");
    write(both, 4, "4", "4");
    write(both, 6, "6", "6");
    const SeriesSchema after = Parse(now);
    ASSERT_TRUE(EnsureSeriesTables(after, &tables).ok());
    write(after, 4, "40", "");
    write(after, 5, "50", "50");
    write(after, 7, "7", "7");
    const auto finished = FinishVersions(after, &tables, clock, nullptr);
    ASSERT_TRUE(finished.ok()) << finished.status();
    EXPECT_EQ(finished->points, 4);
    std::map<int64_t, std::pair<double, double>> points;
    for (const auto& [of, text] : ReadAll(after, &tables)) {
      std::pair<double, double>& point = points[(of.second - kDay) / kMicrosPerMinute];
      ASSERT_EQ(std::sscanf(text.c_str(), "%lf %lf", &point.first, &point.second), 2) << text;
    }
    EXPECT_EQ(
        points,
        (std::map<int64_t, std::pair<double, double>>{
            {1, {1.5, 1}}, {2, {2, 2}}, {3, {3, 1}}, {4, {40, 4}}, {5, {50, 50}}, {6, {6, 6}}, {7, {7, 7}}}));
    EXPECT_FALSE(tables.tables.contains("old"));
    EXPECT_FALSE(tables.tables.contains(CopiedTable("s", "old")));
    const auto sums = ReadAll(MakeRollupSchema(after, after.rollups[0]), &tables);
    EXPECT_EQ(sums.begin()->second, "109.5 71") << "it was made of the new table alone before";
  }
}

}  // namespace
}  // namespace sonde::series
