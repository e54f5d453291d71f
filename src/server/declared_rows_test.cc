#include "server/declared_rows.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "series/known/series_tables.h"
#include "series/schema/schema_parser.h"
#include "series/write/memory_tables_test_support.h"
#include "series/write/point_writer.h"

namespace sonde {
namespace {

using series::kMicrosPerSecond;

constexpr int64_t kStartMicros = 1'700'000'000 * kMicrosPerSecond;

class DeclaredRowsTest : public testing::TestWithParam<const char*> {
 protected:
  DeclaredRowsTest()
      : schema_(series::ParseSchema(fmt::format("series: s\ntable: T\ntags: {{ host: string, port: int "
                                                "}}\nfields: {{ x: double, n: int, note: string }}\n{}\n",
                                                GetParam()),
                                    "x.yaml")
                    .value()) {
    EXPECT_TRUE(series::EnsureSeriesTables(schema_, &tables_).ok());
  }

  const series::SeriesSchema schema_;
  series::MemoryTables tables_;
};

TEST_P(DeclaredRowsTest, SayWhatWasWritten) {
  std::map<std::string, std::map<std::string, std::string>> written;
  series::PointWriter writer(schema_, &tables_);
  for (int i = 0; i < 40; ++i) {
    const std::string host = fmt::format("h{}", i % 3);
    const std::string port = fmt::format("{}", 80 + i % 2);
    const std::string x = fmt::format("{}", i + 0.5);
    const std::string n = fmt::format("{}", 10 * i);
    const int64_t time_micros = kStartMicros + i * kMicrosPerSecond;
    ASSERT_TRUE(writer
                    .Add({{host, port},
                          time_micros,
                          {x, n, i % 4 == 0 ? std::string_view("well") : std::string_view()}})
                    .ok());
    std::map<std::string, std::string>& values = written[fmt::format("{}:{} {}", host, port, time_micros)];
    values = {{"x", x}, {"n", n}};
    if (i % 4 == 0) values["note"] = "well";
  }
  ASSERT_TRUE(writer.Flush().ok());

  const std::unique_ptr<RowMeaning> meaning = MakeDeclaredRows("s", schema_);
  EXPECT_EQ(meaning->series(), "s");
  std::map<std::string, std::map<std::string, std::string>> read;
  const auto look = [&](ReadRow&& row) {
    const auto tags = meaning->TakeKey(row.row_key);
    EXPECT_TRUE(tags.has_value()) << row.row_key;
    if (!tags) return false;
    EXPECT_EQ((*tags)[0].first, "host");
    EXPECT_EQ((*tags)[1].first, "port");
    for (const ReadCell& cell : row.cells) {
      const auto points = meaning->PointsOf(cell.family, cell.qualifier, cell.timestamp_micros, cell.value);
      EXPECT_FALSE(points.empty()) << row.row_key << ' ' << cell.qualifier;
      for (const MeantPoint& point : points) {
        auto& values = read[fmt::format("{}:{} {}", (*tags)[0].second, (*tags)[1].second, point.time_micros)];
        for (const auto& [field, value] : point.values) values[field] = value;
      }
    }
    return true;
  };
  ASSERT_TRUE(tables_.ReadRows("T", {.ranges = {RowRange::All()}}, look).ok());
  EXPECT_EQ(read, written);
}

TEST_P(DeclaredRowsTest, SayNothingOfWhatTheSeriesNeverWrites) {
  const std::unique_ptr<RowMeaning> meaning = MakeDeclaredRows("s", schema_);
  EXPECT_FALSE(meaning->TakeKey(std::string_view("\0\xff", 2)).has_value());
  EXPECT_TRUE(meaning->PointsOf("f", "x", 0, "1").empty());
  EXPECT_FALSE(meaning->TakeKey("").has_value());
}

INSTANTIATE_TEST_SUITE_P(Layouts, DeclaredRowsTest,
                         testing::Values("bucket: hour\nkey: [host, port, bucket]",
                                         "layout: row\nkey: [host, port, time]",
                                         "layout: offsets\nbucket: hour\nslot: 1s\nkey: [host, port, bucket]",
                                         "layout: columns\nbucket: hour\nkey: [host, port, field, bucket]",
                                         "layout: blob\nbucket: hour\nkey: [host, port, bucket]",
                                         "bucket: hour\nkey: [{ salt: 4, of: [host] }, host, port, bucket]"));

}  // namespace
}  // namespace sonde
