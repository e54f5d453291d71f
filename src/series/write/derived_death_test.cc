// What is promised of each kind of derived table when its writer dies, at any of its writes.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "base/random.h"
#include "series/known/point_scan.h"
#include "series/known/rollup_marks.h"
#include "series/known/series_tables.h"
#include "series/schema/schema_parser.h"
#include "series/write/memory_tables_test_support.h"
#include "series/write/point_writer.h"

namespace sonde::series {
namespace {

constexpr int64_t kDay = 18690 * kMicrosPerDay;  // 2021-03-04
constexpr int kRequests = 5;
constexpr int kPointsPerRequest = 20;

constexpr std::string_view kSeries =
    "series: s\ntags: { host: string }\nfields: { cpu: double, mem: int }\ntime: { resolution: 1s }\n"
    "bucket: day\nkey: [host, bucket]\nretention: { max_age: 30d }\n"
    "derive:\n  - latest: s_now\n  - period: { table: 's_{yyyymmdd}', every: day, max_age: 30d }\n"
    "  - order: { table: s_by_time, key: [time, host], layout: row }\n"
    "  - rollup: { table: s_1h, every: hour, aggregates: [count, sum] }\n";

// Host, time, field, value.
using Values = std::map<std::tuple<std::string, int64_t, size_t>, std::string>;

Values ValuesOf(const SeriesSchema& schema, TableAccess* tables) {
  Values values;
  const absl::Status status = ScanPoints(
      schema, {}, tables, [&](const DecodedKey& key, const RowPoint& point) -> absl::StatusOr<bool> {
        for (size_t i = 0; i < schema.fields.size(); ++i) {
          if (point.values[i].data() != nullptr)
            values[{key.tags[0], point.time_micros, i}] = point.values[i];
        }
        return true;
      });
  EXPECT_TRUE(status.ok()) << status;
  return values;
}

Values PeriodValues(const SeriesSchema& schema, MemoryTables* tables) {
  Values values;
  for (const auto& [name, table] : std::map(tables->tables)) {
    const std::optional<int64_t> start = schema.periods[0].PeriodOf(name);
    if (start) values.merge(ValuesOf(MakePeriodSchema(schema, schema.periods[0], *start), tables));
  }
  return values;
}

// The newest value of each host and field, with its time.
using Newest = std::map<std::pair<std::string, std::string>, std::pair<int64_t, std::string>>;

Newest NewestOf(const SeriesSchema& schema, const Values& values) {
  Newest newest;
  for (const auto& [of, value] : values) {
    const auto& [host, time_micros, field] = of;  // by time
    newest[{host, schema.fields[field].qualifier}] = {time_micros, value};
  }
  return newest;
}

Newest StoredNewest(MemoryTables* tables) {
  Newest newest;
  for (const auto& [key, row] : tables->tables["s_now"].rows) {
    for (const auto& [column, cells] : row) newest[{key, column.second}] = *cells.begin();
  }
  return newest;
}

void ExpectContains(const Values& all, const Values& some, std::string_view table, int writes) {
  for (const auto& [of, value] : some) {
    const auto found = all.find(of);
    ASSERT_TRUE(found != all.end()) << table << " lacks a point, dead after writes: " << writes;
    EXPECT_EQ(found->second, value) << table << ", dead after writes: " << writes;
  }
}

struct Sample {
  std::string host;
  int64_t time_micros = 0;
  std::string cpu;
  std::string mem;
};

// Late points, and values that are missing; each time comes once.
std::vector<Sample> Samples() {
  SeededRandom random(7);
  std::vector<Sample> samples;
  for (int i = 0; i < kRequests * kPointsPerRequest; ++i) {
    samples.push_back({fmt::format("h{}", random.Uniform(3)), kDay + i * 29 * kMicrosPerMinute,
                       fmt::format("{}.5", i), i % 3 == 0 ? "" : fmt::format("{}", i)});
  }
  for (size_t i = samples.size() - 1; i > 0; --i) std::swap(samples[i], samples[random.Uniform(i + 1)]);
  return samples;
}

absl::Status WriteAll(const SeriesSchema& schema, TableAccess* tables, const Clock* clock) {
  PointWriter writer(schema, tables, {}, clock);
  int gathered = 0;
  for (const Sample& sample : Samples()) {
    const absl::Status added = writer.Add({{sample.host}, sample.time_micros, {sample.cpu, sample.mem}});
    if (!added.ok()) return added;
    if (++gathered % kPointsPerRequest != 0) continue;
    if (absl::Status status = writer.Flush(); !status.ok()) return status;
  }
  return absl::OkStatus();
}

class DerivedDeath : public testing::Test {
 protected:
  DerivedDeath() {
    schema_ = ParseSchema(kSeries, "x.yaml").value();
    schema_.text.clear();
  }

  // False when the writer lived to its end.
  bool DieAfter(int writes, MemoryTables* tables) {
    EXPECT_TRUE(EnsureSeriesTables(schema_, tables).ok());
    DyingTables dying(tables, writes);
    return !WriteAll(schema_, &dying, &clock_).ok();
  }

  SeriesSchema schema_;
  ManualClock clock_{kDay + 3 * kMicrosPerDay};
};

TEST_F(DerivedDeath, TablesHaveEveryPointOfTheSeriesOwn) {
  const SeriesSchema by_time = MakeOrderSchema(schema_, schema_.orders[0]);
  int writes = 0;
  int deaths_with_points = 0;
  for (MemoryTables tables; DieAfter(writes, &tables); tables = MemoryTables(), ++writes) {
    const Values own = ValuesOf(schema_, &tables);
    deaths_with_points += own.empty() ? 0 : 1;
    ExpectContains(ValuesOf(by_time, &tables), own, "order", writes);
    ExpectContains(PeriodValues(schema_, &tables), own, "period", writes);
    const Newest stored = StoredNewest(&tables);
    for (const auto& [of, newest] : NewestOf(schema_, own)) {
      ASSERT_TRUE(stored.contains(of)) << writes;
      EXPECT_GE(stored.at(of), newest) << writes;
    }
  }
  EXPECT_GE(writes, kRequests * 5) << "marks, order, period, latest, own";
  EXPECT_GE(deaths_with_points, writes / 2);
}

TEST_F(DerivedDeath, SendingAgainMakesAllTablesWhatTheyWouldBe) {
  MemoryTables lived;
  int writes = 1'000'000;
  ASSERT_FALSE(DieAfter(writes, &lived));
  // What readers see: no marks; and of a roll-up's cells the newest, which was stamped behind those that an
  // earlier writer had left.
  const auto seen = [this](const MemoryTables& tables) {
    std::map<std::string, std::map<std::string, MemoryTables::Row>> rows;
    for (const auto& [name, table] : tables.tables) {
      if (name != kMarksTable) rows[name] = table.rows;
    }
    for (auto& [key, row] : rows[schema_.rollups[0].table]) {
      for (auto& [column, cells] : row) cells = {{0, cells.begin()->second}};
    }
    return rows;
  };
  writes = 0;
  for (MemoryTables tables; DieAfter(writes, &tables); tables = MemoryTables(), ++writes) {
    ASSERT_TRUE(WriteAll(schema_, &tables, &clock_).ok()) << writes;
    EXPECT_EQ(seen(tables), seen(lived)) << writes;
  }
  EXPECT_GE(writes, kRequests * 5);
}

}  // namespace
}  // namespace sonde::series
