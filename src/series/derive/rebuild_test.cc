#include "series/derive/rebuild.h"

#include <gtest/gtest.h>

#include "series/known/series_tables.h"
#include "series/schema/schema_parser.h"
#include "series/write/memory_tables_test_support.h"
#include "series/write/point_writer.h"
#include "series/write/rollup_keeper.h"

namespace sonde::series {
namespace {

constexpr int64_t kDay = 18690 * kMicrosPerDay;  // 2021-03-04

SeriesSchema Parse(std::string_view text) {
  SeriesSchema schema = ParseSchema(text, "x.yaml").value();
  schema.text.clear();
  return schema;
}

constexpr std::string_view kSensor =
    "series: SENSOR\ntags: { meter: { type: int, width: 6, column: ID } }\n"
    "fields: { kwh: { type: double, encoding: float64_be, as: '' } }\n"
    "layout: offsets\nslot: 15m\nbucket: day\nfamily: METER\nkey: [meter, bucket]\nretention: { max_age: 1y "
    "}\n"
    "derive:\n  - latest: NOW\n  - period: { table: 'SENSOR_{yyyymmdd}', every: day, max_age: 3d }\n"
    "  - order: { table: BY_DAY, key: [bucket, meter], bucket: day }\n"
    "  - rollup: { table: SENSOR_1D, every: day, aggregates: [count, sum] }\n";

void Write(const SeriesSchema& schema, MemoryTables* tables, const Clock* clock) {
  ASSERT_TRUE(EnsureSeriesTables(schema, tables).ok());
  PointWriter writer(schema, tables, {}, clock);
  for (int64_t slot = 0; slot < 2 * 96; ++slot) {
    for (const char* meter : {"7", "8"}) {
      ASSERT_TRUE(writer.Add({{meter}, kDay + slot * 15 * kMicrosPerMinute, {"1.5"}}).ok());
    }
  }
  ASSERT_TRUE(writer.Flush().ok());
}

TEST(Rebuild, MakesWhatTheWriterMade) {
  const SeriesSchema schema = Parse(kSensor);
  const ManualClock clock(kDay + 2 * kMicrosPerDay);
  MemoryTables tables;
  Write(schema, &tables, &clock);
  const auto written = tables.tables;
  ASSERT_EQ(written.at("SENSOR_20210304").rows.size(), 2);
  ASSERT_EQ(written.at("BY_DAY").rows.begin()->first, "20210304#000007");
  for (const char* table : {"NOW", "SENSOR_20210304", "SENSOR_20210305", "BY_DAY", "SENSOR_1D"}) {
    tables.tables.erase(table);
  }
  int64_t progress = 0;
  const auto totals =
      RebuildDerived(schema, 0, kTimeEndMicros, &tables, clock, [&](const RebuildTotals&) { ++progress; });
  ASSERT_TRUE(totals.ok()) << totals.status();
  EXPECT_EQ(totals->points, 4 * 96);
  EXPECT_EQ(totals->pieces, 4);
  for (const auto& [name, table] : written) EXPECT_EQ(tables.tables[name].rows, table.rows) << name;
}

TEST(Rebuild, LeavesRollupsThatHaveOutlivedTheirPoints) {
  const SeriesSchema schema = Parse(kSensor);
  MemoryTables tables;
  ManualClock clock(kDay + 2 * kMicrosPerDay);
  Write(schema, &tables, &clock);
  const auto before = tables.tables["SENSOR_1D"].rows;
  clock.Advance(366 * kMicrosPerDay);
  const auto totals = RebuildDerived(schema, 0, kTimeEndMicros, &tables, clock, nullptr);
  ASSERT_TRUE(totals.ok()) << totals.status();
  EXPECT_EQ(totals->pieces, 0);
  EXPECT_EQ(totals->pieces_too_old, 4);
  EXPECT_EQ(tables.tables["SENSOR_1D"].rows, before);
}

TEST(Rebuild, PeriodsAreDroppedByAge) {
  const SeriesSchema schema = Parse(kSensor);
  MemoryTables tables;
  ManualClock clock(kDay + 2 * kMicrosPerDay);
  Write(schema, &tables, &clock);
  ASSERT_TRUE(tables.EnsureTable("SENSOR_other", {{"f", {}}}).ok());
  clock.Advance(3 * kMicrosPerDay);
  PointWriter writer(schema, &tables, {}, &clock);
  ASSERT_TRUE(writer.Add({{"7"}, kDay, {"2"}}).ok());  // too old for a copy
  ASSERT_TRUE(writer.Add({{"7"}, kDay + 5 * kMicrosPerDay, {"2"}}).ok());
  ASSERT_TRUE(writer.Flush().ok());
  EXPECT_FALSE(tables.tables.contains("SENSOR_20210304"));
  EXPECT_FALSE(tables.tables.contains("SENSOR_20210305"));
  EXPECT_TRUE(tables.tables.contains("SENSOR_20210309"));
  EXPECT_TRUE(tables.tables.contains("SENSOR_other"));
}

TEST(Rebuild, RefreshesWhatTheDeadLeft) {
  const SeriesSchema schema = Parse(kSensor);
  const ManualClock clock(kDay + 2 * kMicrosPerDay);
  MemoryTables tables;
  Write(schema, &tables, &clock);
  {
    RollupKeeper dying(schema, &tables, &clock);
    const std::string_view tag = "7";
    dying.Touch({&tag, 1}, kDay);
    ASSERT_TRUE(dying.BeforeWrite().ok());
  }
  tables.tables["SENSOR_1D"].rows.clear();
  const auto totals = RefreshStaleRollups(schema, &tables, clock);
  ASSERT_TRUE(totals.ok()) << totals.status();
  EXPECT_EQ(totals->pieces, 1);
  EXPECT_EQ(tables.tables["SENSOR_1D"].rows.size(), 1);
}

}  // namespace
}  // namespace sonde::series
