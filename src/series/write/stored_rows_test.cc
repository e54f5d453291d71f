#include "series/write/stored_rows.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <thread>

#include "base/random.h"
#include "series/key/field_codec.h"
#include "series/known/point_scan.h"
#include "series/known/series_tables.h"
#include "series/schema/schema_parser.h"
#include "series/write/memory_tables_test_support.h"
#include "series/write/point_writer.h"

namespace sonde::series {
namespace {

constexpr int64_t kDay = 18690 * kMicrosPerDay;  // 2021-03-04
constexpr std::string_view kHead =
    "series: s\ntags: { host: string }\nfields: { x: int, n: int }\ntime: { resolution: 1m }\n";

SeriesSchema Parse(std::string_view rest) {
  const auto schema = ParseSchema(std::string(kHead) + std::string(rest), "x.yaml");
  EXPECT_TRUE(schema.ok()) << schema.status();
  return *schema;
}

// Host and minute to the values of x and n.
using Points = std::map<std::pair<std::string, int64_t>, std::map<size_t, std::string>>;

Points ReadAll(const SeriesSchema& schema, TableAccess* tables) {
  Points points;
  const absl::Status status = ScanPoints(
      schema, {}, tables, [&](const DecodedKey& key, const RowPoint& point) -> absl::StatusOr<bool> {
        for (size_t i = 0; i < 2; ++i) {
          if (point.values[i].data() == nullptr) continue;
          points[{key.tags[0], (point.time_micros - kDay) / kMicrosPerMinute}][i] = point.values[i];
        }
        return true;
      });
  EXPECT_TRUE(status.ok()) << status;
  return points;
}

struct Change {
  std::string host;
  int64_t minute = 0;
  std::vector<std::string> values;
};

absl::Status Write(const SeriesSchema& schema, const std::vector<Change>& changes, TableAccess* tables,
                   const Clock* clock) {
  PointWriter writer(schema, tables, {}, clock);
  for (const Change& change : changes) {
    const std::vector<std::string_view> values(change.values.begin(), change.values.end());
    const absl::Status status = writer.Add({{change.host}, kDay + change.minute * kMicrosPerMinute, values});
    if (!status.ok()) return status;
  }
  return writer.Flush();
}

constexpr const char* kKept[] = {
    "layout: row\nkey: [host, time]\ncorrections: keep\n",
    "layout: blob\nkey: [host, time]\ncorrections: keep\n",
    "layout: offsets\nbucket: day\nslot: 1m\nkey: [host, bucket]\ncorrections: keep\n",
};

size_t VersionsOf(const MemoryTables& tables) {
  size_t versions = 0;
  for (const auto& [key, row] : tables.tables.at("s").rows) {
    for (const auto& [column, cells] : row) versions = std::max(versions, cells.size());
  }
  return versions;
}

// A request with many corrections of a point is stamped ahead of the clock; the next one comes before the
// clock is there.
TEST(StoredRows, TheLaterCorrectionWinsHoweverSoonItComes) {
  for (const char* text : kKept) {
    SCOPED_TRACE(text);
    MemoryTables tables;
    const SeriesSchema schema = Parse(text);
    ASSERT_TRUE(EnsureSeriesTables(schema, &tables).ok());
    ManualClock clock(kDay + kMicrosPerDay);
    std::vector<Change> many;
    for (int i = 0; i < 200; ++i) many.push_back({"h", 7, {fmt::format("{}", i), "1"}});
    ASSERT_TRUE(Write(schema, many, &tables, &clock).ok());
    EXPECT_EQ(VersionsOf(tables), 200);
    ASSERT_TRUE(Write(schema, {{"h", 7, {"999", "1"}}}, &tables, &clock).ok());
    EXPECT_EQ(ReadAll(schema, &tables), (Points{{{"h", 7}, {{0, "999"}, {1, "1"}}}}));
    EXPECT_EQ(VersionsOf(tables), 201);
  }
}

TEST(StoredRows, TheLaterCorrectionWinsThoughTheClockWasSetBack) {
  for (const char* text : kKept) {
    SCOPED_TRACE(text);
    MemoryTables tables;
    const SeriesSchema schema = Parse(text);
    ASSERT_TRUE(EnsureSeriesTables(schema, &tables).ok());
    const ManualClock ahead(kDay + 2 * kMicrosPerDay);
    const ManualClock behind(kDay + kMicrosPerDay);
    ASSERT_TRUE(Write(schema, {{"h", 7, {"1", "1"}}, {"h", 8, {"1", "1"}}}, &tables, &ahead).ok());
    ASSERT_TRUE(Write(schema, {{"h", 7, {"2", "2"}}, {"h", 9, {"2", "2"}}}, &tables, &behind).ok());
    ASSERT_TRUE(Write(schema, {{"h", 7, {"3", ""}}}, &tables, &behind).ok());
    EXPECT_EQ(ReadAll(schema, &tables), (Points{{{"h", 7}, {{0, "3"}, {1, "2"}}},
                                                {{"h", 8}, {{0, "1"}, {1, "1"}}},
                                                {{"h", 9}, {{0, "2"}, {1, "2"}}}}));
    EXPECT_EQ(VersionsOf(tables), 3);
  }
}

// A field that a correction leaves out stays as it is, in each layout and in each derived table.
TEST(StoredRows, ACorrectionMeansTheSameInEveryTable) {
  for (const char* text :
       {"layout: blob\nkey: [host, time]\n", "layout: blob\nkey: [host, time]\ncorrections: keep\n",
        "layout: blob\nbucket: day\nkey: [host, bucket]\n",
        "layout: blob\nblob: { format: protobuf }\nbucket: 1h\nkey: [{ salt: 2 }, host, bucket]\n",
        "bucket: day\nkey: [host, bucket]\n", "layout: row\nkey: [host, time]\n",
        "layout: row\nkey: [host, time]\ncorrections: keep\n",
        "layout: offsets\nbucket: day\nslot: 1m\nkey: [host, bucket]\n"}) {
    SCOPED_TRACE(text);
    MemoryTables tables;
    const bool is_blob_of_bucket = std::string_view(text).find("bucket: ") != std::string_view::npos &&
                                   std::string_view(text).starts_with("layout: blob");
    const SeriesSchema schema =
        Parse(std::string(text) +
              "derive:\n  - latest: now\n  - period: { table: \"p_{yyyymmdd}\", every: day }\n" +
              (is_blob_of_bucket
                   ? "  - order: { table: o, bucket: 1h, key: [bucket, host] }\n"
                   : "  - order: { table: o, layout: row, key: [{ salt: 2, of: host }, time, host] }\n") +
              "  - rollup: { table: r, every: day, aggregates: [count, sum] }\n");
    ASSERT_TRUE(EnsureSeriesTables(schema, &tables).ok());
    const ManualClock clock(kDay + kMicrosPerDay);
    SeededRandom random(5);
    Points expected;
    for (int request = 0; request < 40; ++request) {
      std::vector<Change> changes;
      for (uint64_t i = 0; i <= random.Uniform(6); ++i) {
        Change& change = changes.emplace_back();
        change.host = random.Uniform(2) == 0 ? "a" : "b";
        change.minute = static_cast<int64_t>(random.Uniform(12)) * 15;
        change.values = {fmt::format("{}", random.Uniform(100)), fmt::format("{}", random.Uniform(100))};
        if (random.Uniform(2) == 0) change.values[random.Uniform(2)].clear();
        for (size_t field = 0; field < 2; ++field) {
          if (!change.values[field].empty())
            expected[{change.host, change.minute}][field] = change.values[field];
        }
      }
      ASSERT_TRUE(Write(schema, changes, &tables, &clock).ok());
    }
    EXPECT_EQ(ReadAll(schema, &tables), expected);
    EXPECT_EQ(ReadAll(MakeOrderSchema(schema, schema.orders[0]), &tables), expected);
    EXPECT_EQ(ReadAll(MakePeriodSchema(schema, schema.periods[0], kDay), &tables), expected);
    std::map<std::string, std::map<size_t, int64_t>> sums;
    for (const auto& [of, values] : expected) {
      for (const auto& [field, value] : values) sums[of.first][field] += std::stoll(value);
    }
    const SeriesSchema rollup = MakeRollupSchema(schema, schema.rollups[0]);
    const absl::Status status = ScanPoints(
        rollup, {}, &tables, [&](const DecodedKey& key, const RowPoint& point) -> absl::StatusOr<bool> {
          for (size_t field = 0; field < 2; ++field) {
            EXPECT_EQ(std::stod(std::string(point.values[2 * field + 1])), sums[key.tags[0]][field]);
          }
          return true;
        });
    EXPECT_TRUE(status.ok()) << status;
    const SeriesSchema latest = MakeLatestSchema(schema, schema.latest[0]);
    for (const auto& [key, row] : tables.tables["now"].rows) {
      for (size_t field = 0; field < 2; ++field) {
        const auto& cells = row.at({"m", latest.fields[field].qualifier});
        const int64_t minute = (cells.begin()->first - kDay) / kMicrosPerMinute;
        const auto& newest = expected.at({key, minute});
        EXPECT_EQ(newest.at(field), cells.begin()->second);
      }
    }
  }
}

TEST(StoredRows, OrdinaryPointsAreNotRead) {
  for (const char* text :
       {"layout: blob\nkey: [host, time]\n", "layout: blob\nbucket: day\nkey: [host, bucket]\n",
        "layout: row\nkey: [host, time]\n"}) {
    MemoryTables tables;
    const SeriesSchema schema = Parse(text);
    ASSERT_TRUE(EnsureSeriesTables(schema, &tables).ok());
    const ManualClock clock(kDay + kMicrosPerDay);
    const int reads = tables.read_requests;
    ASSERT_TRUE(Write(schema, {{"h", 7, {"1", "1"}}, {"h", 7, {"2", "2"}}}, &tables, &clock).ok());
    EXPECT_EQ(tables.read_requests, reads) << text;
  }
}

// Several requests correct different fields of one point at once, and no correction is lost.
TEST(StoredRows, CorrectionsOfOtherFieldsDoNotUndoEachOther) {
  MemoryTables tables;
  const SeriesSchema schema = Parse("layout: blob\nkey: [host, time]\n");
  ASSERT_TRUE(EnsureSeriesTables(schema, &tables).ok());
  const ManualClock clock(kDay + kMicrosPerDay);
  constexpr int kPoints = 500;
  const auto write = [&](size_t field) {
    for (int i = 0; i < kPoints; ++i) {
      std::vector<std::string> values(2);
      values[field] = fmt::format("{}", i);
      ASSERT_TRUE(Write(schema, {{"h", i, values}}, &tables, &clock).ok());
    }
  };
  std::thread other([&] { write(1); });
  write(0);
  other.join();
  const Points points = ReadAll(schema, &tables);
  ASSERT_EQ(points.size(), kPoints);
  for (const auto& [of, values] : points) EXPECT_EQ(values.size(), 2) << of.second;
}

}  // namespace
}  // namespace sonde::series
