#include "series/output/plot.h"

#include <gtest/gtest.h>

#include <set>
#include <sstream>
#include <string>
#include <utility>

#include "base/text_table.h"
#include "series/output/plot_axis.h"
#include "series/output/result_writer.h"
#include "series/schema/calendar.h"
#include "series/schema/time_format.h"

namespace sonde::series {
namespace {

constexpr int64_t kDay = 18628 * kMicrosPerDay;  // 2021-01-01

PlotLine Ramp(std::string name, int points, int64_t step_micros) {
  PlotLine line{std::move(name), {}};
  for (int i = 0; i < points; ++i) line.points.emplace_back(kDay + i * step_micros, i);
  return line;
}

TEST(Plot, DrawsARamp) {
  EXPECT_EQ(RenderPlot({.title = "ramp", .width = 44, .height = 6}, {Ramp("up", 11, kMicrosPerDay)}),
            R"(                    ramp
 10 ┤                                 ⣀⠤⠔⠒⠊⠉
    │                          ⣀⣀⠤⠤⠒⠒⠉
    │                    ⢀⡠⠔⠒⠉⠉
  5 ┤            ⢀⣀⡠⠤⠔⠒⠊⠉⠁
    │      ⣀⠤⠔⠒⠊⠉⠁
  0 ┤⣀⠤⠤⠒⠒⠉
    └───────────┬──────────────────────────┬
              Jan 4                   Jan 11
     up  min 0        avg 5        max 10       last 10
)");
}

TEST(Plot, EveryLineFits) {
  for (const bool has_color : {false, true}) {
    for (int lines = 1; lines <= 6; ++lines) {
      std::vector<PlotLine> all;
      for (int i = 0; i < lines; ++i) all.push_back(Ramp("series " + std::to_string(i), 200, kMicrosPerHour));
      const std::string text =
          RenderPlot({.title = "t", .width = 70, .height = 12, .has_color = has_color}, all);
      EXPECT_EQ(text.find("2 more series are not drawn") != std::string::npos, lines == 6);
      std::istringstream stream(text);
      for (std::string line; std::getline(stream, line);) {
        for (size_t at = line.find('\x1b'); at != std::string::npos; at = line.find('\x1b')) {
          line.erase(at, line.find('m', at) - at + 1);
        }
        EXPECT_LE(DisplayWidth(line), 70) << line;
      }
    }
  }
}

TEST(Plot, ManagesOnePointAndNone) {
  EXPECT_EQ(RenderPlot({}, {}), "");
  EXPECT_EQ(RenderPlot({}, {{"x", {}}}), "");
  EXPECT_NE(RenderPlot({}, {{"x", {{kDay, 0}}}}), "");
  EXPECT_NE(RenderPlot({}, {{"x", {{kDay, 1e300}, {kDay + 1, -1e300}}}}), "");
}

TEST(PlotAxis, ValuesAreRound) {
  const auto labels = [](double min, double max) {
    std::string text;
    for (const auto& [value, label] : MakeValueAxis(min, max, 5).ticks) text += label + " ";
    return text;
  };
  EXPECT_EQ(labels(-7.1, 35.6), "-20 0 20 40 ");
  EXPECT_EQ(labels(0, 1), "0.0 0.5 1.0 ");
  EXPECT_EQ(labels(5, 5), labels(4.5, 5.5));
  EXPECT_EQ(labels(1.2e9, 3.9e9), "1G 2G 3G 4G ");
}

TEST(PlotAxis, LabelsOfLargeValuesDiffer) {
  for (const auto& [span, first] : {std::pair{9e6, "1017.95G"}, {9e3, "1017950M"}}) {
    const ValueAxis axis = MakeValueAxis(1.01795e12, 1.01795e12 + span, 4);
    std::set<std::string> labels;
    for (const auto& [value, label] : axis.ticks) labels.insert(label);
    EXPECT_EQ(labels.size(), axis.ticks.size()) << span;
    EXPECT_EQ(axis.ticks.front().second, first);
  }
}

TEST(PlotAxis, TimesAreRound) {
  const auto labels = [](int64_t span_micros, int width) {
    std::string text;
    for (const TimeTick& tick : MakeTimeTicks(kDay + 1, kDay + span_micros, width)) text += tick.label + "|";
    return text;
  };
  EXPECT_EQ(labels(4 * 365 * kMicrosPerDay, 60), "2022|2023|2024|");
  EXPECT_EQ(labels(365 * kMicrosPerDay, 70), "Mar 2021|May 2021|Jul 2021|Sep 2021|Nov 2021|Jan 2022|");
  EXPECT_EQ(labels(28 * kMicrosPerDay, 60), "Jan 4|Jan 11|Jan 18|Jan 25|");
  EXPECT_EQ(labels(36 * kMicrosPerHour, 60), "06:00|12:00|18:00|Jan 2|06:00|12:00|");
  EXPECT_EQ(labels(20 * kMicrosPerSecond, 60), "00:00:05|00:00:10|00:00:15|00:00:20|");
}

TEST(PlotAxis, TimesBefore1970AreRound) {
  const auto labels = [](std::string_view first, std::string_view last) {
    std::string text;
    for (const TimeTick& tick : MakeTimeTicks(*ParseDayOrMinute(first), *ParseDayOrMinute(last), 60)) {
      text += tick.label + "|";
    }
    return text;
  };
  EXPECT_EQ(labels("1848-05-01", "1890-01-01"), "1850|1855|1860|1865|1870|1875|1880|1885|1890|");
  EXPECT_EQ(labels("1850-01-01", "1850-01-29"), "Jan 7|Jan 14|Jan 21|Jan 28|");  // Mondays
  EXPECT_EQ(labels("1969-12-31-2300", "1970-01-01-0200"), "23:00|23:30|Jan 1|00:30|01:00|01:30|02:00|");
}

}  // namespace
}  // namespace sonde::series
