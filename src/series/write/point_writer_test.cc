#include "series/write/point_writer.h"

#include <gtest/gtest.h>

#include "model/limits.h"
#include "series/known/series_tables.h"
#include "series/schema/schema_parser.h"
#include "series/schema/status_text.h"
#include "series/write/memory_tables_test_support.h"

namespace sonde::series {
namespace {

SeriesSchema Parse(std::string_view text) { return ParseSchema(text, "x.yaml").value(); }

constexpr std::string_view kMetric =
    "series: metric\ntable: METRIC\ntags: { host: string }\nfields: { cpu: double, mem: int }\nkey: [host, "
    "bucket]\n"
    "bucket: hour\ntime: { resolution: 1s }\nretention: { max_age: 7d }\nderive: [ latest: CURRENT_METRIC "
    "]\n";
constexpr int64_t kHour = 448596 * kMicrosPerHour;  // 2021-03-05T12:00:00Z

using Column = MemoryTables::Column;

TEST(PointWriter, JoinsThePointsOfARow) {
  MemoryTables tables;
  const SeriesSchema schema = Parse(kMetric);
  ASSERT_TRUE(EnsureSeriesTables(schema, &tables).ok());
  PointWriter writer(schema, &tables);
  ASSERT_TRUE(writer.Add({{"h"}, kHour + 1'500'000, {"1.5", "10"}}).ok());
  ASSERT_TRUE(writer.Add({{"h"}, kHour + 2'000'000, {"", "20"}}).ok());
  ASSERT_TRUE(writer.Add({{"h"}, kHour + kMicrosPerHour, {"3", ""}}).ok());
  ASSERT_TRUE(writer.Flush().ok());
  auto& rows = tables.tables["METRIC"].rows;
  ASSERT_EQ(rows.size(), 2);
  const std::pair cpu("m", "cpu");
  const std::pair mem("m", "mem");
  EXPECT_EQ(rows["h#2021-03-05-12"][cpu], (Column{{kHour + 1'000'000, "1.5"}}));
  EXPECT_EQ(rows["h#2021-03-05-12"][mem], (Column{{kHour + 1'000'000, "10"}, {kHour + 2'000'000, "20"}}));
  EXPECT_EQ(rows["h#2021-03-05-13"][cpu], (Column{{kHour + kMicrosPerHour, "3"}}));
  auto& latest = tables.tables["CURRENT_METRIC"].rows;
  ASSERT_EQ(latest.size(), 1);
  EXPECT_EQ(latest["h"][cpu], (Column{{kHour + kMicrosPerHour, "3"}}));
  EXPECT_EQ(latest["h"][mem], (Column{{kHour + 2'000'000, "20"}}));
  EXPECT_EQ(tables.tables["CURRENT_METRIC"].families["m"], GcRule{GcRule::MaxVersions{1}});
  EXPECT_EQ(writer.totals().points, 3);
  EXPECT_EQ(writer.totals().cells, 4);
  EXPECT_EQ(writer.totals().requests, 2);
  EXPECT_EQ(writer.totals().oldest_micros, kHour + 1'000'000);
}

TEST(PointWriter, ALatePointDoesNotHideANewerOne) {
  MemoryTables tables;
  const SeriesSchema schema = Parse(kMetric);
  ASSERT_TRUE(EnsureSeriesTables(schema, &tables).ok());
  PointWriter writer(schema, &tables);
  for (const int64_t second : {50, 10, 30}) {
    ASSERT_TRUE(writer.Add({{"h"}, kHour + second * kMicrosPerSecond, {std::to_string(second), ""}}).ok());
    const absl::Status status = second == 10 ? absl::OkStatus() : writer.Flush();
    ASSERT_TRUE(status.ok());
  }
  const Column& cpu = tables.tables["CURRENT_METRIC"].rows["h"][{"m", "cpu"}];
  EXPECT_EQ(cpu.begin()->second, "50");
}

TEST(PointWriter, RefusesAPointWhole) {
  MemoryTables tables;
  PointWriter writer(Parse(kMetric), &tables);
  EXPECT_EQ(writer.Add({{"h#"}, kHour, {"1", ""}}).message(),
            "tag 'host': value 'h#' holds the delimiter '#'");
  EXPECT_EQ(writer.Add({{"h"}, kHour, {"1", "1.5"}}).message(),
            "field 'mem': value '1.5' is not an int of 64 bits");
  EXPECT_EQ(writer.Add({{"h"}, kHour, {"", ""}}).message(), "the point has no field");
  EXPECT_EQ(writer.Add({{"h"}, -1, {"1", ""}}).message(),
            "time 1969-12-31T23:59:59Z: table 'METRIC' has the times in the timestamps of its cells, which "
            "count from 1970-01-01T00:00:00Z; earlier times take an earlier origin, as in time: { origin: "
            "0001-01-01 }, or layout row with a calendar format such as yyyymmdd in the key");
  EXPECT_TRUE(writer.Flush().ok());
  EXPECT_EQ(tables.mutate_requests, 0);
}

// Whatever a derived table can't hold is found before anything of the point is gathered.
TEST(PointWriter, RefusesByItselfAPointThatARollupCannotHold) {
  MemoryTables tables;
  const SeriesSchema schema = Parse(
      "series: s\ntags: { host: string }\nfields: { x: double }\nlayout: row\n"
      "key: [host, { time: yyyymmddhhmmss }]\ntime: { resolution: 1s }\n"
      "derive: [ rollup: { table: by_day, every: day } ]\n");
  ASSERT_TRUE(EnsureSeriesTables(schema, &tables).ok());
  PointWriter writer(schema, &tables);
  const std::string longest(kRowKeyBytesMax - 15,
                            'h');  // the key of the mark has the series and the table, too
  ASSERT_TRUE(writer.Add({{"h"}, kHour, {"1"}}).ok());
  EXPECT_EQ(writer.Add({{longest}, kHour, {"1"}}).message(),
            "roll-up 'by_day': the mark of its piece has a key of 4104 bytes; allowed: up to 4096");
  ASSERT_TRUE(writer.Add({{"h"}, kHour + kMicrosPerSecond, {"1"}}).ok());
  const absl::Status late = writer.Add({{"h"}, 330 * 366 * kMicrosPerDay, {"1"}});  // in 2300
  EXPECT_TRUE(absl::IsInvalidArgument(late)) << late;
  EXPECT_NE(TextOfStatus(late).find("the keys of table 'by_day' have epoch_ms of width 13"),
            std::string_view::npos)
      << late;
  ASSERT_TRUE(writer.Flush().ok());
  EXPECT_EQ(tables.tables["s"].rows.size(), 2);
  EXPECT_EQ(tables.tables["by_day"].rows.size(), 1);
}

TEST(PointWriter, SaysWhichRowFailed) {
  MemoryTables tables;
  const SeriesSchema schema = Parse(kMetric);
  ASSERT_TRUE(EnsureSeriesTables(schema, &tables).ok());
  tables.refused_rows = {"b#2021-03-05-12", "c#2021-03-05-12"};
  PointWriter writer(schema, &tables);
  for (const char* host : {"a", "b", "c"}) ASSERT_TRUE(writer.Add({{host}, kHour, {"1", ""}}).ok());
  const absl::Status status = writer.Flush();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(status.message(),
            "table 'METRIC': 2 of 3 rows were not written; the first, 'b#2021-03-05-12': the row is away");
}

TEST(PointWriter, IsFullAtItsLimits) {
  MemoryTables tables;
  const SeriesSchema schema = Parse(kMetric);
  PointWriter by_rows(schema, &tables, {.rows_max = 2});
  ASSERT_TRUE(by_rows.Add({{"a"}, kHour, {"1", ""}}).ok());
  EXPECT_FALSE(by_rows.IsFull());
  ASSERT_TRUE(by_rows.Add({{"b"}, kHour, {"1", ""}}).ok());
  EXPECT_TRUE(by_rows.IsFull());
  by_rows.Clear();
  EXPECT_FALSE(by_rows.IsFull());
  PointWriter by_cells(schema, &tables, {.cells_max = 2});
  ASSERT_TRUE(by_cells.Add({{"a"}, kHour, {"1", "2"}}).ok());
  EXPECT_TRUE(by_cells.IsFull());
}

TEST(PointWriter, RowsOfEventsStayApart) {
  MemoryTables tables;
  const SeriesSchema schema =
      Parse("series: s\ntags: { host: string }\nfields: { cpu: double }\nlayout: row\nkey: [host, time]\n");
  ASSERT_TRUE(EnsureSeriesTables(schema, &tables).ok());
  PointWriter writer(schema, &tables);
  for (const int64_t ms : {1, 2, 2}) ASSERT_TRUE(writer.Add({{"h"}, ms * 1000, {"1"}}).ok());
  ASSERT_TRUE(writer.Flush().ok());
  EXPECT_EQ(tables.tables["s"].rows.size(), 2);
  EXPECT_TRUE(tables.tables["s"].rows.contains("h#0000000000002"));
}

}  // namespace
}  // namespace sonde::series
