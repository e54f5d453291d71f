#include "series/write/rollup_keeper.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"
#include "series/known/point_scan.h"
#include "series/known/rollup_marks.h"
#include "series/known/series_tables.h"
#include "series/known/table_rules.h"
#include "series/schema/schema_parser.h"
#include "series/write/memory_tables_test_support.h"
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
  EXPECT_TRUE(tables.tables["s"].rows.empty());
}

// Like a server: cells that a rule forgets by their age are gone.
void ForgetOld(MemoryTables* tables, int64_t now_micros) {
  for (auto& [name, table] : tables->tables) {
    for (auto& [key, row] : table.rows) {
      for (auto& [column, cells] : row) {
        const auto* age = std::get_if<GcRule::MaxAge>(&table.families.at(column.first).rule);
        if (age == nullptr) continue;
        std::erase_if(cells, [&](const auto& cell) { return cell.first < now_micros - age->micros; });
      }
      std::erase_if(row, [](const auto& column) { return column.second.empty(); });
    }
    std::erase_if(table.rows, [](const auto& row) { return row.second.empty(); });
  }
}

std::string DailySeries(int age_days, std::string_view more = "") {
  return fmt::format(
      "series: s\ntags: {{ host: string }}\nfields: {{ cpu: double, mem: {{ type: double, family: short }} "
      "}}\n"
      "time: {{ resolution: 1s }}\nbucket: day\nkey: [host, bucket]\nretention: {{ max_age: {}d }}\n{}"
      "derive:\n  - rollup: {{ table: s_1d, every: day, aggregates: [count, sum], retention: 5y }}\n"
      "  - rollup: {{ table: s_1h, every: hour, aggregates: [count], retention: 5y }}\n",
      age_days, more);
}

class LateRollupTest : public testing::Test {
 protected:
  void Declare(const std::string& text) {
    schema_ = Parse(text);
    const absl::Status status = EnsureSeriesTables(schema_, &tables_, &clock_);
    ASSERT_TRUE(status.ok()) << status;
  }
  // One point; what was forgotten before is gone.
  void Write(int64_t time_micros, const std::string& cpu, const std::string& mem = "") {
    ForgetOld(&tables_, clock_.NowMicros());
    PointWriter writer(schema_, &tables_, {}, &clock_);
    ASSERT_TRUE(writer.Add({{"h"}, time_micros, {cpu, mem}}).ok());
    ASSERT_TRUE(writer.Flush().ok());
    too_old_ = writer.rollups()->pieces_too_old();
    clock_.Advance(1'000);
  }
  void WriteDay(const std::string& mem = "") {
    clock_.Set(kDay + kMicrosPerDay);
    for (int hour = 0; hour < 24; ++hour) Write(kDay + hour * kMicrosPerHour, "1", mem);
  }
  std::string Day() {
    return ReadRollup(MakeRollupSchema(schema_, schema_.rollups[0]), &tables_)[{"h", kDay}];
  }

  SeriesSchema schema_;
  MemoryTables tables_;
  ManualClock clock_{kDay};
  int64_t too_old_ = 0;
};

TEST_F(LateRollupTest, APointThatLivesIsInItsPiece) {
  Declare(DailySeries(30));
  WriteDay();
  EXPECT_EQ(Day(), " cpu_count=24 cpu_sum=24");
  // The point is younger than max_age, and its day began long before that.
  const int64_t late = kDay + 23 * kMicrosPerHour + kMicrosPerMinute;
  clock_.Set(late + 30 * kMicrosPerDay);
  for (int times = 0; times < 3; ++times) {
    Write(late, "5");
    EXPECT_EQ(Day(), " cpu_count=25 cpu_sum=29");
    EXPECT_EQ(too_old_, 0);
    clock_.Set(late + 30 * kMicrosPerDay);
  }
}

TEST_F(LateRollupTest, WhatIsForgottenBeforeItComesStaysOut) {
  Declare(DailySeries(30));
  WriteDay();
  const int64_t late = kDay + 23 * kMicrosPerHour + kMicrosPerMinute;
  clock_.Set(late + 30 * kMicrosPerDay + 1);
  Write(late, "5");
  EXPECT_EQ(Day(), " cpu_count=24 cpu_sum=24");
  // Nor does it come in with another.
  Write(late + kMicrosPerSecond, "7");
  EXPECT_EQ(Day(), " cpu_count=25 cpu_sum=31");
}

TEST_F(LateRollupTest, APieceThatLacksPointsStaysAsItIs) {
  Declare(DailySeries(30));
  WriteDay();
  // The mark is of a writer that has died long ago.
  clock_.Set(kDay + 32 * kMicrosPerDay);
  ForgetOld(&tables_, clock_.NowMicros());
  RollupKeeper keeper(schema_, &tables_, &clock_);
  const std::string_view host = "h";
  keeper.LeaveOthers();
  keeper.Touch({&host, 1}, kDay);
  ASSERT_TRUE(keeper.BeforeWrite().ok());
  ASSERT_TRUE(keeper.Refresh().ok());
  EXPECT_EQ(keeper.pieces_too_old(), 2);
  EXPECT_EQ(Day(), " cpu_count=24 cpu_sum=24");
}

// A rule that keeps points longer does not bring back what is forgotten.
TEST_F(LateRollupTest, APieceThatLackedPointsBeforeTheRuleIsLeftAsItIs) {
  Declare(DailySeries(10));
  WriteDay();
  clock_.Set(kDay + 12 * kMicrosPerDay);  // half the day is gone
  ForgetOld(&tables_, clock_.NowMicros());
  Declare(DailySeries(60));
  Write(kDay + 23 * kMicrosPerHour + kMicrosPerMinute, "5");
  EXPECT_EQ(Day(), " cpu_count=24 cpu_sum=24");
  EXPECT_EQ(too_old_, 2);
  // For as long as the points would be kept.
  clock_.Set(kDay + 59 * kMicrosPerDay);
  Write(kDay + 23 * kMicrosPerHour + 2 * kMicrosPerMinute, "5");
  EXPECT_EQ(Day(), " cpu_count=24 cpu_sum=24");
  // All points of later days are there.
  Write(kDay + 4 * kMicrosPerDay, "5");
  EXPECT_EQ(too_old_, 0);
}

TEST_F(LateRollupTest, ATableOfAnotherBuildGetsItsRuleFirst) {
  Declare(DailySeries(30));
  tables_.tables["s"].families = {{"m", GcRule{GcRule::MaxAge{30 * kMicrosPerDay}}},
                                  {"short", GcRule{GcRule::MaxAge{30 * kMicrosPerDay}}}};
  WriteDay();
  const int64_t late = kDay + 23 * kMicrosPerHour + kMicrosPerMinute;
  clock_.Set(late + 30 * kMicrosPerDay);
  Write(late, "5");  // by the rule that the table has, points are gone
  EXPECT_EQ(Day(), " cpu_count=24 cpu_sum=24");
  EXPECT_EQ(too_old_, 2);
  ASSERT_TRUE(UpdateOwnRules(schema_, &tables_, clock_).ok());
  Write(late + kMicrosPerMinute, "5");
  EXPECT_EQ(Day(), " cpu_count=24 cpu_sum=24");
  EXPECT_EQ(too_old_, 2);
}

TEST_F(LateRollupTest, FieldsOfFamiliesAreKeptForTheirTime) {
  Declare(DailySeries(30, "families: { short: { max_age: 5d } }\n"));
  WriteDay("2");
  EXPECT_EQ(Day(), " cpu_count=24 cpu_sum=24 mem_count=24 mem_sum=48");
  const int64_t late = kDay + 23 * kMicrosPerHour + kMicrosPerMinute;
  clock_.Set(late + 5 * kMicrosPerDay);
  Write(late, "3", "4");
  EXPECT_EQ(Day(), " cpu_count=25 cpu_sum=27 mem_count=25 mem_sum=52");
  clock_.Set(late + 8 * kMicrosPerDay);
  Write(late + kMicrosPerMinute, "3", "4");
  EXPECT_EQ(Day(), " cpu_count=26 cpu_sum=30 mem_count=25 mem_sum=52");
}

// Rows are stamped with the time when they are made; a clock that was set back does not hide the newer ones.
TEST(RollupKeeper, IsRightThoughTheClockWasSetBack) {
  MemoryTables tables;
  const SeriesSchema schema = Parse(kSeries);
  ASSERT_TRUE(EnsureSeriesTables(schema, &tables).ok());
  for (const int64_t now_micros :
       {kDay + 5 * kMicrosPerDay, kDay + kMicrosPerDay, kDay + 2 * kMicrosPerDay}) {
    const ManualClock clock(now_micros);
    PointWriter writer(schema, &tables, {}, &clock);
    const std::string cpu = fmt::format("{}.25", now_micros / kMicrosPerDay % 100);
    ASSERT_TRUE(Add({"h1", kDay, cpu, "7"}, &writer).ok());
    ASSERT_TRUE(Add({"h1", kDay + now_micros % 1'000 * kMicrosPerMinute, cpu, ""}, &writer).ok());
    ASSERT_TRUE(writer.Flush().ok());
    EXPECT_EQ(ReadRollup(MakeRollupSchema(schema, schema.rollups[0]), &tables), NaiveRollup(schema, &tables));
  }
}

// Counters and ids are larger than what doubles tell apart.
TEST(RollupKeeper, KeepsIntsExactly) {
  for (const char* encoding : {"text", "int64_be"}) {
    const SeriesSchema schema = Parse(
        fmt::format("series: s\ntags: {{ host: string }}\nfields: {{ n: {{ type: int, encoding: {} }}, x: "
                    "double }}\nkey: [host, bucket]\nbucket: day\nderive:\n  - rollup: {{ table: r, every: "
                    "hour, aggregates: [count, sum, min, max, first, last] }}\n",
                    encoding));
    MemoryTables tables;
    ASSERT_TRUE(EnsureSeriesTables(schema, &tables).ok());
    PointWriter writer(schema, &tables);
    const auto add = [&](int64_t hour, int64_t minute, std::string_view n, std::string_view x) {
      ASSERT_TRUE(writer.Add({{"h"}, kDay + hour * kMicrosPerHour + minute * kMicrosPerMinute, {n, x}}).ok());
    };
    add(0, 0, "9007199254740993", "0.5");
    add(0, 1, "9007199254740999", "0.25");
    add(0, 2, "9007199254740995", "");
    add(1, 0, "-9223372036854775808", "");
    add(1, 1, "9223372036854775807", "");
    // A sum that leaves 64 bits keeps all of its digits.
    add(2, 0, "9223372036854775807", "");
    add(2, 1, "9223372036854775807", "");
    add(2, 2, "1", "");
    ASSERT_TRUE(writer.Flush().ok());
    const SeriesSchema rollup = MakeRollupSchema(schema, schema.rollups[0]);
    auto rows = ReadRollup(rollup, &tables);
    EXPECT_EQ((rows[{"h", kDay}]),
              " n_count=3 n_sum=27021597764222987 n_min=9007199254740993 n_max=9007199254740999 "
              "n_first=9007199254740993 n_last=9007199254740995 x_count=2 x_sum=0.75 x_min=0.25 x_max=0.5 "
              "x_first=0.5 x_last=0.25");
    EXPECT_EQ((rows[{"h", kDay + kMicrosPerHour}]),
              " n_count=2 n_sum=-1 n_min=-9223372036854775808 n_max=9223372036854775807 "
              "n_first=-9223372036854775808 n_last=9223372036854775807");
    EXPECT_EQ((rows[{"h", kDay + 2 * kMicrosPerHour}]),
              " n_count=3 n_sum=18446744073709551615 n_min=1 n_max=9223372036854775807 "
              "n_first=9223372036854775807 n_last=1");
    // Those of an int are ints, those of a double doubles.
    for (const Field& field : rollup.fields) {
      const bool is_int = field.name.starts_with("n_") || field.name == "x_count";
      EXPECT_EQ(field.type, is_int ? FieldType::kInt : FieldType::kDouble) << field.name;
    }
  }
}

}  // namespace
}  // namespace sonde::series
