// Times of the years 1 to 9999 through every layout: written, read, aggregated, derived, and found again by
// another server on the same directory.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "catalog/catalog.h"
#include "engine/rocks/rocks_engine.h"
#include "series/known/declaration_store.h"
#include "series/known/series_tables.h"
#include "series/query/query.h"
#include "series/schema/schema_parser.h"
#include "series/schema/time_range.h"
#include "series/write/point_writer.h"
#include "table/local_tables.h"

namespace sonde::series {
namespace {

struct Shape {
  const char* name;
  const char* declaration;
  bool needs_origin;  // or else, what is before 1970 is refused
};

constexpr Shape kShapes[] = {
    {"Cells", "layout: cells\nbucket: month\nkey: [host, bucket]\n", true},
    {"CellsWithoutBucket", "layout: cells\nkey: [host]\n", true},
    {"CellsSaltedByTime", "layout: cells\nbucket: week\nkey: [{ salt: 3, of: time }, host, bucket]\n", true},
    {"CellsNewestFirst", "layout: cells\nkey: [host, { bucket: week, format: epoch_ms, reverse: true }]\n",
     true},
    {"CellsByNumber", "layout: cells\nkey: [host, { bucket: month, format: epoch_s }]\n", true},
    {"Columns", "layout: columns\nbucket: day\nkey: [host, field, bucket]\n", true},
    {"Blobs", "layout: blob\nbucket: week\nkey: [host, bucket]\n", true},
    {"BlobOfPoint", "layout: blob\nkey: [host, { time: yyyymmddhhmm }]\n", false},
    {"Offsets", "layout: offsets\nslot: 1m\nbucket: day\nkey: [host, bucket]\n", false},
    {"OffsetsOfWeeks",
     "layout: offsets\nslot: 1m\nkey: [host, { bucket: week, format: epoch_s }]\n"
     "bucket: week\n",
     true},
    {"OffsetsKept", "layout: offsets\nslot: 1m\nbucket: month\nkey: [host, bucket]\ncorrections: keep\n",
     false},
    {"Rows", "layout: row\nkey: [host, { time: yyyy-mm-dd-hhmm }]\n", false},
    {"RowsNewestFirst", "layout: row\nkey: [host, { time: epoch_ms, reverse: true }]\n", false},
    {"RowsByNumber", "layout: row\nkey: [host, time]\n", true},
    {"RowsKept",
     "layout: row\nkey: [{ salt: 3, of: time }, host, { time: yyyymmddhhmm }]\n"
     "corrections: keep\n",
     false},
};

int64_t At(std::string_view text) { return ParseDayOrMinute(text).value(); }

class EveryTimeTest : public testing::TestWithParam<Shape> {
 protected:
  void SetUp() override {
    path_ = fmt::format("{}/sonde_every_time_{}_{}", testing::TempDir(), getpid(), GetParam().name);
    std::filesystem::remove_all(path_);
    Open();
  }
  void TearDown() override {
    Close();
    std::filesystem::remove_all(path_);
  }
  void Open() {
    auto engine = RocksEngine::Open(
        {.data_dir = path_, .memory_bytes = 64 << 20, .sync = false, .page = {.cells_max = 100}});
    ASSERT_TRUE(engine.ok()) << engine.status();
    engine_ = *std::move(engine);
    catalog_ = *Catalog::Open(engine_.get());
    tables_ = std::make_unique<Tables>(engine_.get(), catalog_.get(), &clock_, /*seed=*/1);
    local_ = std::make_unique<LocalTables>(tables_.get(), "projects/p/instances/i");
  }
  void Close() {
    local_.reset();
    tables_.reset();
    catalog_.reset();
    engine_.reset();
  }

  static SeriesSchema Parse(std::string_view time, std::string_view more) {
    auto schema =
        ParseSchema(fmt::format("series: s\ntags: {{ host: string }}\nfields: {{ x: double, n: int }}\n"
                                "{}time: {{ resolution: 1m{} }}\n{}",
                                GetParam().declaration, time, more),
                    "s.yaml");
    EXPECT_TRUE(schema.ok()) << schema.status();
    return *std::move(schema);
  }

  // The value is the minute since the year 1.
  static std::string ValueAt(int64_t time_micros) {
    return fmt::format("{}", (time_micros - kTimeBeginMicros) / kMicrosPerMinute);
  }

  void Write(const SeriesSchema& schema, const std::vector<int64_t>& times) {
    ASSERT_TRUE(EnsureSeriesTables(schema, local_.get(), &clock_).ok());
    PointWriter writer(schema, local_.get());
    for (const int64_t time_micros : times) {
      const std::string value = ValueAt(time_micros);
      const absl::Status status = writer.Add({{"h"}, time_micros + 30 * kMicrosPerSecond, {value, value}});
      ASSERT_TRUE(status.ok()) << status;
      ASSERT_TRUE(writer.FlushIfFull().ok());
    }
    const absl::Status flushed = writer.Flush();
    ASSERT_TRUE(flushed.ok()) << flushed;
  }

  std::vector<std::string> Ask(const SeriesSchema& schema, const Query& query) {
    std::vector<std::string> answer;
    const auto stats = RunQuery(schema, query, local_.get(), [&](const ResultRow& row) {
      std::string& line = answer.emplace_back(TimeText(row.time_micros));
      for (const ResultValue& value : row.values) {
        if (const auto* integer = std::get_if<int64_t>(&value)) line += fmt::format(" {}", *integer);
        if (const auto* number = std::get_if<double>(&value)) line += fmt::format(" {}", *number);
      }
      return true;
    });
    EXPECT_TRUE(stats.ok()) << stats.status();
    return answer;
  }

  static std::vector<std::string> Raw(std::vector<int64_t> times, int values = 2) {
    std::vector<std::string> answer;
    for (const int64_t time_micros : times) {
      std::string& line = answer.emplace_back(TimeText(time_micros));
      for (int i = 0; i < values; ++i) line += " " + ValueAt(time_micros);
    }
    return answer;
  }

  // By time, whatever the order of the keys.
  std::vector<std::string> AskSorted(const SeriesSchema& schema, const Query& query) {
    std::vector<std::string> answer = Ask(schema, query);
    std::sort(answer.begin(), answer.end());
    return answer;
  }

  void CheckAnswers(const SeriesSchema& schema, const std::vector<int64_t>& times) {
    // In layout columns, each field of a point is a row of its own.
    Query all;
    if (schema.layout == Layout::kColumns) all.fields = {0};
    const int values = all.fields.empty() ? 2 : 1;
    EXPECT_EQ(AskSorted(schema, all), Raw(times, values));
    // One field at a time, as cells and (where the layout has numbers) from pages.
    Query one;
    one.fields = {1};
    EXPECT_EQ(AskSorted(schema, one), Raw(times, 1));
    for (const auto& [from, to] :
         {std::pair("1840-01-01", "1850-01-01-0001"), std::pair("1850-01-01-0001", "1970-01-01"),
          std::pair("0001-01-01", "1969-12-31"), std::pair("1969-12-31", "2200-01-01"),
          std::pair("2100-01-01", "9999-12-31")}) {
      Query part = all;
      part.selection.from_micros = At(from);
      part.selection.to_micros = At(to);
      std::vector<int64_t> inside;
      std::copy_if(times.begin(), times.end(), std::back_inserter(inside),
                   [&](int64_t time) { return time >= At(from) && time < At(to); });
      EXPECT_EQ(AskSorted(schema, part), Raw(inside, values)) << from << " " << to;
      part.aggregates = {Aggregate::kCount, Aggregate::kMin, Aggregate::kMax};
      part.fields = {0};
      const std::vector<std::string> total = Ask(schema, part);
      if (inside.empty()) {
        EXPECT_TRUE(total.empty());
      } else {
        EXPECT_EQ(total,
                  std::vector<std::string>{fmt::format("{} {} {} {}", TimeText(inside.front()), inside.size(),
                                                       ValueAt(inside.front()), ValueAt(inside.back()))});
      }
    }
    Query months;
    months.aggregates = {Aggregate::kCount};
    months.every = BucketWidth{BucketWidth::Kind::kMonth, 0};
    months.fields = {0};
    std::map<int64_t, int> counts;
    for (const int64_t time : times) ++counts[months.every->Start(time)];
    std::vector<std::string> expected;
    for (const auto& [start, count] : counts)
      expected.push_back(fmt::format("{} {}", TimeText(start), count));
    EXPECT_EQ(Ask(schema, months), expected);
    Query latest;
    latest.latest = 1;
    EXPECT_EQ(Ask(schema, latest), Raw({times.back()}));
    latest.selection.to_micros = times.back();
    EXPECT_EQ(Ask(schema, latest), Raw({times[times.size() - 2]}));
  }

  void CheckDerived(const SeriesSchema& schema, const std::vector<int64_t>& times) {
    if (!schema.orders.empty()) {
      EXPECT_EQ(AskSorted(SchemaOfTable(schema, "by_time").value(), {}), Raw(times));
    }
    std::vector<std::string> expected;
    std::map<int64_t, std::vector<int64_t>> pieces;
    const int64_t origin_micros = schema.Origin();
    const BucketWidth week{BucketWidth::Kind::kWeek, 0};
    for (const int64_t time : times) pieces[std::max(week.Start(time), origin_micros)].push_back(time);
    for (const auto& [start, of_piece] : pieces) {
      expected.push_back(fmt::format("{} {} {}", TimeText(start), of_piece.size(), ValueAt(of_piece.back())));
    }
    Query counts;
    counts.fields = {0, 1};  // x_count, x_last
    EXPECT_EQ(AskSorted(SchemaOfTable(schema, "by_week").value(), counts), expected);
    EXPECT_EQ(Ask(SchemaOfTable(schema, "now").value(), {}), Raw({times.back()}));
    if (schema.periods.empty()) return;
    EXPECT_EQ(AskSorted(SchemaOfTable(schema, "p_1850-01").value(), {}), Raw({times[2], times[3]}));
  }

  std::string path_;
  SystemClock clock_;
  std::unique_ptr<RocksEngine> engine_;
  std::unique_ptr<Catalog> catalog_;
  std::unique_ptr<Tables> tables_;
  std::unique_ptr<LocalTables> local_;
};

constexpr char kDerived[] =
    "derive:\n  - latest: now\n  - rollup: { table: by_week, every: week, aggregates: [count, last] }\n";
constexpr char kOrder[] = "  - order: { table: by_time, layout: row, key: [{ time: yyyymmddhhmm }, host] }\n";
constexpr char kPeriod[] = "  - period: { table: 'p_{yyyy-mm}', every: month }\n";

TEST_P(EveryTimeTest, FromTheYear1To9999) {
  const auto is_of = [](std::string_view word) {
    return std::string_view(GetParam().declaration).find(word) != std::string_view::npos;
  };
  // Not every layout may have a copy by another key, and rows may not be cut by periods.
  std::string derived = kDerived;
  if (is_of("layout: cells") || is_of("layout: row")) derived += kOrder;
  if (is_of("month") || is_of("layout: row")) derived += kPeriod;
  const std::vector<int64_t> times = {At("0001-01-01"),      At("1582-10-15"),      At("1850-01-01"),
                                      At("1850-01-31-2359"), At("1969-12-31-2359"), At("1970-01-01"),
                                      At("1970-01-05"),      At("2026-02-28"),      At("2200-01-01"),
                                      At("2286-11-20-1747"), At("9999-12-31-2359")};
  const SeriesSchema schema = Parse(", origin: 0001-01-01", derived);
  EXPECT_EQ(TimesOfSeries(schema), TimeRange());
  Write(schema, times);
  Write(schema, {times[3], times[0]});  // again: the same points
  CheckAnswers(schema, times);
  CheckDerived(schema, times);
  ASSERT_TRUE(engine_->SettleAll().ok());
  CheckAnswers(schema, times);
  Close();
  Open();
  // As it is stored.
  const absl::StatusOr<SeriesSchema> stored = FindDeclaration("s", local_.get());
  ASSERT_TRUE(stored.ok()) << stored.status();
  CheckAnswers(*stored, times);
  CheckDerived(*stored, times);
}

TEST_P(EveryTimeTest, FromAnOriginInTheMiddleOfItsBuckets) {
  const std::vector<int64_t> times = {At("1850-01-03"), At("1850-01-06-2359"), At("1850-01-31"),
                                      At("1970-01-01"), At("2026-02-28"),      At("2200-01-01")};
  const SeriesSchema schema = Parse(
      ", origin: 1850-01-03", "derive:\n  - latest: now\n  - rollup: { table: by_week, every: week }\n");
  Write(schema, times);
  CheckAnswers(schema, times);
  Query counts;
  counts.fields = {0};
  EXPECT_EQ(
      AskSorted(SchemaOfTable(schema, "by_week").value(), counts),
      (std::vector<std::string>{"1850-01-03T00:00:00Z 2", "1850-01-28T00:00:00Z 1", "1969-12-29T00:00:00Z 1",
                                "2026-02-23T00:00:00Z 1", "2199-12-30T00:00:00Z 1"}));
  PointWriter writer(schema, local_.get());
  const absl::Status refused = writer.Add({{"h"}, At("1850-01-03") - 1, {"1", "1"}});
  EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(refused.message().find("from the origin 1850-01-03T00:00:00Z") != std::string::npos) << refused;
}

TEST_P(EveryTimeTest, WithoutAnOriginWhatTheKeySays) {
  const SeriesSchema schema = Parse("", "");
  std::vector<int64_t> times = {At("1970-01-01"), At("2026-02-28"), At("2200-01-01")};
  if (!GetParam().needs_origin) times.insert(times.begin(), {At("0001-01-01"), At("1850-01-01")});
  Write(schema, times);
  CheckAnswers(schema, times);
  if (!GetParam().needs_origin) return;
  PointWriter writer(schema, local_.get());
  const absl::Status refused = writer.Add({{"h"}, At("1850-01-01"), {"1", "1"}});
  EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(refused.message().find("earlier times take an earlier origin") != std::string::npos) << refused;
  // The others are written.
  ASSERT_TRUE(
      writer.Add({{"h"}, At("2201-01-01"), {ValueAt(At("2201-01-01")), ValueAt(At("2201-01-01"))}}).ok());
  ASSERT_TRUE(writer.Flush().ok());
  times.push_back(At("2201-01-01"));
  CheckAnswers(schema, times);
}

INSTANTIATE_TEST_SUITE_P(Layouts, EveryTimeTest, testing::ValuesIn(kShapes),
                         [](const auto& shape) { return std::string(shape.param.name); });

// A point of 1850 is older than any max_age.  No point that is kept is lost to the origin.
TEST(EveryTimeAges, AnOriginDoesNotChangeWhatMaxAgeForgets) {
  const std::string path = fmt::format("{}/sonde_every_time_ages_{}", testing::TempDir(), getpid());
  std::filesystem::remove_all(path);
  auto engine = RocksEngine::Open({.data_dir = path, .memory_bytes = 64 << 20, .sync = false});
  ASSERT_TRUE(engine.ok()) << engine.status();
  const std::unique_ptr<Catalog> catalog = *Catalog::Open(engine->get());
  const ManualClock clock(At("2026-03-01"));
  Tables tables(engine->get(), catalog.get(), &clock, /*seed=*/1);
  LocalTables local(&tables, "projects/p/instances/i");
  for (const char* shape : {
           "bucket: month\nkey: [host, bucket]\ntime: { origin: 2000-01-01 }\nretention: { max_age: 90d }\n",
           "bucket: month\nkey: [host, bucket]\ntime: { origin: 1960-01-01 }\nretention: { max_age: 12y }\n",
           "layout: row\nkey: [host, time]\ntime: { origin: 1850-01-01 }\nretention: { max_age: 90d }\n",
           "layout: offsets\nslot: 1h\nbucket: day\nkey: [host, bucket]\nretention: { max_age: 90d }\n",
           "bucket: month\nkey: [host, bucket]\ntime: { origin: 2000-01-01 }\nretention: { max_age: 90d }\n"
           "derive: [ rollup: { table: r, every: day } ]\n",
       }) {
    SCOPED_TRACE(shape);
    SeriesSchema schema =
        ParseSchema(fmt::format("series: s\ntags: {{ host: string }}\nfields: {{ x: double }}\n{}", shape),
                    "s.yaml")
            .value();
    schema.text.clear();
    ASSERT_TRUE(EnsureSeriesTables(schema, &local, &clock).ok());
    PointWriter writer(schema, &local, {}, &clock);
    const int64_t edge = clock.NowMicros() - *schema.retention.max_age_micros;
    for (const int64_t time : {edge - 2 * kMicrosPerHour, edge + 2 * kMicrosPerHour, At("2026-02-28")}) {
      ASSERT_TRUE(writer.Add({{"h"}, time, {"1"}}).ok());
    }
    if (TimesOfSeries(schema).Holds(At("1850-01-01"))) {
      ASSERT_TRUE(writer.Add({{"h"}, At("1850-01-01"), {"1"}}).ok());
    }
    ASSERT_TRUE(writer.Flush().ok());
    std::vector<int64_t> found;
    Query query;
    query.now_micros = clock.NowMicros();
    const auto stats = RunQuery(schema, query, &local, [&](const ResultRow& row) {
      found.push_back(row.time_micros);
      return true;
    });
    ASSERT_TRUE(stats.ok()) << stats.status();
    EXPECT_EQ(found, (std::vector<int64_t>{edge + 2 * kMicrosPerHour, At("2026-02-28")}));
    for (const char* table : {"s", "r"}) (void)local.DropTable(table);
  }
  std::filesystem::remove_all(path);
}

}  // namespace
}  // namespace sonde::series
