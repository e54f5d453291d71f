#include "series/write/rollup_keeper.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"
#include "series/schema/schema_parser.h"
#include "series/write/memory_tables.h"
#include "series/write/point_scan.h"
#include "series/write/point_writer.h"

namespace sonde::series {
namespace {

constexpr int64_t kDay = 18690 * kMicrosPerDay;  // 2021-03-04

constexpr std::string_view kSeries =
    "series: s\ntags: { host: string }\nfields: { cpu: double, mem: { type: int, encoding: int64_be }, w: "
    "string }\n"
    "time: { resolution: 1s }\nbucket: day\nkey: [host, bucket]\nretention: { max_age: 30d }\n"
    "derive:\n  - rollup: { table: s_1h, every: hour, aggregates: [count, sum, min, max, first, last], "
    "retention: 5y }\n"
    "  - rollup: { table: s_month, every: month, aggregates: [count] }\n"
    "  - order: { table: by_time, key: [time, host] }\n";

SeriesSchema Parse(std::string_view text) {
  SeriesSchema schema = ParseSchema(text, "x.yaml").value();
  schema.text.clear();
  return schema;
}

struct Sample {
  std::string host;
  int64_t time_micros = 0;
  std::string cpu;
  std::string mem;
};

Sample RandomSample(RandomSource& random) {
  return {fmt::format("h{}", random.Uniform(3)),
          kDay + static_cast<int64_t>(random.Uniform(400)) * 3 * kMicrosPerMinute,
          fmt::format("{}.25", random.Uniform(100)),
          random.Uniform(3) == 0 ? "" : fmt::format("{}", random.Uniform(100))};
}

absl::Status Add(const Sample& sample, PointWriter* writer) {
  return writer->Add({{sample.host}, sample.time_micros, {sample.cpu, sample.mem, "w"}});
}

std::string TextOf(const SeriesSchema& rollup, const RowPoint& point) {
  std::string text;
  for (size_t i = 0; i < rollup.fields.size(); ++i) {
    if (point.values[i].data() != nullptr)
      text += fmt::format(" {}={}", rollup.fields[i].name, point.values[i]);
  }
  return text;
}

std::map<std::pair<std::string, int64_t>, std::string> ReadRollup(const SeriesSchema& rollup,
                                                                  TableAccess* tables) {
  std::map<std::pair<std::string, int64_t>, std::string> rows;
  const absl::Status status = ScanPoints(
      rollup, {}, tables, [&](const DecodedKey& key, const RowPoint& point) -> absl::StatusOr<bool> {
        rows[{key.tags[0], point.time_micros}] = TextOf(rollup, point);
        return true;
      });
  EXPECT_TRUE(status.ok()) << status;
  return rows;
}

// What the hourly roll-up must be, from the points that are stored, the slow way.
std::map<std::pair<std::string, int64_t>, std::string> NaiveRollup(const SeriesSchema& schema,
                                                                   MemoryTables* tables) {
  std::map<std::pair<std::string, int64_t>, std::vector<std::pair<double, std::optional<int64_t>>>> pieces;
  const absl::Status status = ScanPoints(
      schema, {}, tables, [&](const DecodedKey& key, const RowPoint& point) -> absl::StatusOr<bool> {
        const double cpu = std::stod(std::string(point.values[0]));
        std::optional<int64_t> mem;
        if (point.values[1].data() != nullptr) mem = static_cast<unsigned char>(point.values[1].back());
        pieces[{key.tags[0], point.time_micros - point.time_micros % kMicrosPerHour}].emplace_back(cpu, mem);
        return true;
      });
  EXPECT_TRUE(status.ok()) << status;
  std::map<std::pair<std::string, int64_t>, std::string> rows;
  for (const auto& [of, values] : pieces) {
    const auto text = [](std::string_view name, const std::vector<double>& numbers) {
      if (numbers.empty()) return std::string();
      double sum = 0;
      for (const double number : numbers) sum += number;
      return fmt::format(" {0}_count={1} {0}_sum={2} {0}_min={3} {0}_max={4} {0}_first={5} {0}_last={6}",
                         name, numbers.size(), sum, *std::min_element(numbers.begin(), numbers.end()),
                         *std::max_element(numbers.begin(), numbers.end()), numbers.front(), numbers.back());
    };
    std::vector<double> cpu;
    std::vector<double> mem;
    for (const auto& [c, m] : values) {
      cpu.push_back(c);
      if (m) mem.push_back(static_cast<double>(*m));
    }
    rows[of] = text("cpu", cpu) + text("mem", mem);
  }
  return rows;
}

TEST(RollupKeeper, IsRightForLateAndRepeatedPoints) {
  SeededRandom random(41);
  const SeriesSchema schema = Parse(kSeries);
  const SeriesSchema hourly = MakeRollupSchema(schema, schema.rollups[0]);
  MemoryTables tables;
  ASSERT_TRUE(EnsureSeriesTables(schema, &tables).ok());
  ManualClock clock(kDay + kMicrosPerDay);
  PointWriter writer(schema, &tables, {}, &clock);
  for (int i = 0; i < 20; ++i) {
    for (int p = 0; p < 30; ++p) ASSERT_TRUE(Add(RandomSample(random), &writer).ok());  // times come again
    ASSERT_TRUE(writer.Flush().ok());
    EXPECT_EQ(ReadRollup(hourly, &tables), NaiveRollup(schema, &tables));
    EXPECT_TRUE(tables.tables[kMarksTable].rows.empty());
    clock.Advance(5'000);
  }
  EXPECT_EQ(ReadRollup(MakeRollupSchema(schema, schema.rollups[1]), &tables).size(), 3);
}

TEST(RollupKeeper, OutlivesADeathAtAnyWrite) {
  const SeriesSchema schema = Parse(kSeries);
  const SeriesSchema hourly = MakeRollupSchema(schema, schema.rollups[0]);
  for (int writes = 0; writes < 40; ++writes) {
    SeededRandom random(42);
    MemoryTables tables;
    ASSERT_TRUE(EnsureSeriesTables(schema, &tables).ok());
    ManualClock clock(kDay + kMicrosPerDay);
    {
      DyingTables dying(&tables, writes);
      PointWriter writer(schema, &dying, {}, &clock);
      absl::Status status;
      for (int i = 0; status.ok() && i < 5; ++i) {
        for (int p = 0; p < 20; ++p) ASSERT_TRUE(Add(RandomSample(random), &writer).ok());
        status = writer.Flush();
        clock.Advance(5'000);
      }
    }
    // The next writer has one point of its own; before it, all is repaired.
    PointWriter writer(schema, &tables, {}, &clock);
    ASSERT_TRUE(Add(RandomSample(random), &writer).ok());
    ASSERT_TRUE(writer.Flush().ok());
    EXPECT_EQ(ReadRollup(hourly, &tables), NaiveRollup(schema, &tables)) << writes;
    // Marks of the dead go once nobody alive can have them.
    clock.Advance(kMicrosPerHour);
    RollupKeeper keeper(schema, &tables, &clock);
    ASSERT_TRUE(keeper.RefreshStale().ok());
    EXPECT_TRUE(tables.tables[kMarksTable].rows.empty()) << writes;
  }
}

TEST(RollupKeeper, OfTwoWritersTheOneThatHasSeenMoreCounts) {
  const SeriesSchema schema = Parse(kSeries);
  const SeriesSchema hourly = MakeRollupSchema(schema, schema.rollups[0]);
  MemoryTables tables;
  ASSERT_TRUE(EnsureSeriesTables(schema, &tables).ok());
  ManualClock clock(kDay + kMicrosPerDay);
  PointWriter a(schema, &tables, {}, &clock);
  PointWriter b(schema, &tables, {}, &clock);
  SeededRandom random(43);
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(Add(RandomSample(random), &a).ok());
    ASSERT_TRUE(Add(RandomSample(random), &b).ok());
    ASSERT_TRUE(a.Flush().ok());
    clock.Advance(1'000);
    ASSERT_TRUE(b.Flush().ok());
    clock.Advance(1'000);
  }
  EXPECT_EQ(ReadRollup(hourly, &tables), NaiveRollup(schema, &tables));
}

TEST(RollupKeeper, OutlivesItsPoints) {
  const SeriesSchema schema = Parse(kSeries);
  const SeriesSchema hourly = MakeRollupSchema(schema, schema.rollups[0]);
  MemoryTables tables;
  ASSERT_TRUE(EnsureSeriesTables(schema, &tables).ok());
  ManualClock clock(kDay + kMicrosPerDay);
  PointWriter writer(schema, &tables, {}, &clock);
  ASSERT_TRUE(writer.Add({{"h"}, kDay, {"1", "", ""}}).ok());
  ASSERT_TRUE(writer.Add({{"h"}, kDay + kMicrosPerMinute, {"2", "", ""}}).ok());
  ASSERT_TRUE(writer.Flush().ok());
  const auto before = ReadRollup(hourly, &tables);
  // The points are forgotten; one that comes now is alone, and must not take their place.
  tables.tables["s"].rows.clear();
  clock.Advance(40 * kMicrosPerDay);
  ASSERT_TRUE(writer.Add({{"h"}, kDay + 2 * kMicrosPerMinute, {"3", "", ""}}).ok());
  ASSERT_TRUE(writer.Flush().ok());
  EXPECT_EQ(ReadRollup(hourly, &tables), before);
  EXPECT_EQ(writer.rollups()->pieces_too_old(), 2);
}

}  // namespace
}  // namespace sonde::series
