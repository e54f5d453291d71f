// A series in memory, its points, and what questions for them give.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "series/known/series_tables.h"
#include "series/query/query.h"
#include "series/schema/schema_parser.h"
#include "series/write/memory_tables_test_support.h"
#include "series/write/point_writer.h"

namespace sonde::series {

inline constexpr int64_t kDay = 18690 * kMicrosPerDay;  // 2021-03-04, a Thursday

struct NaivePoint {
  std::string a;
  std::string b;
  int64_t time_micros = 0;
  double x = 0;
  std::optional<int64_t> n;
};

inline std::string Text(const ResultRow& row) {
  std::string text = fmt::format("{} {}", fmt::join(row.tags, " "), TimeText(row.time_micros));
  for (const ResultValue& value : row.values) {
    if (const auto* integer = std::get_if<int64_t>(&value)) {
      text += fmt::format(" {}", *integer);
    } else if (const auto* number = std::get_if<double>(&value)) {
      text += fmt::format(" {:.9g}", *number);
    } else if (const auto* string = std::get_if<std::string>(&value)) {
      text += " " + *string;
    } else {
      text += " -";
    }
  }
  return text;
}

class Fixture {
 public:
  explicit Fixture(std::string_view text) { Declare(text); }

  void Declare(std::string_view text) {
    schema_ = ParseSchema(fmt::format("series: s\ntags: {{ a: string, b: int }}\nfields: {{ x: double, n: {{ "
                                      "type: int, encoding: int64_be }}, w: string }}\n{}\n",
                                      text),
                          "x.yaml")
                  .value();
    EXPECT_TRUE(EnsureSeriesTables(schema_, &tables_).ok());
  }

  void WriteTexts(const std::vector<std::string_view>& tags, int64_t time_micros,
                  const std::vector<std::string_view>& fields) {
    PointWriter writer(schema_, &tables_);
    EXPECT_TRUE(writer.Add({tags, time_micros, fields}).ok());
    EXPECT_TRUE(writer.Flush().ok());
  }

  void Write(const std::vector<NaivePoint>& points, const Clock* clock = nullptr) {
    PointWriter writer(schema_, &tables_, {}, clock);
    for (const NaivePoint& point : points) {
      const std::string x = fmt::format("{}", point.x);
      const std::string n = point.n ? fmt::format("{}", *point.n) : "";
      EXPECT_TRUE(writer.Add({{point.a, point.b}, point.time_micros, {x, n, "w"}}).ok());
      EXPECT_TRUE(writer.FlushIfFull().ok());
    }
    EXPECT_TRUE(writer.Flush().ok());
  }

  std::vector<std::string> Ask(const Query& query) {
    std::vector<std::string> result;
    const auto stats = RunQuery(schema_, query, &tables_, [&](const ResultRow& row) {
      result.push_back(Text(row));
      return true;
    });
    EXPECT_TRUE(stats.ok()) << stats.status();
    if (stats.ok()) stats_ = *stats;
    return result;
  }

  std::string ErrorOf(const Query& query) {
    return std::string(
        RunQuery(schema_, query, &tables_, [](const ResultRow&) { return true; }).status().message());
  }

  SeriesSchema schema_;
  MemoryTables tables_;
  QueryStats stats_;
};

using Rows = std::vector<std::string>;

inline const std::vector<NaivePoint> kPoints = {
    {"s", "1", kDay, 1, 10},
    {"s", "1", kDay + kMicrosPerHour, 2, std::nullopt},
    {"s", "1", kDay + 25 * kMicrosPerHour, 4, 30},
    {"t", "2", kDay + kMicrosPerHour, 8, 40},
};

}  // namespace sonde::series
