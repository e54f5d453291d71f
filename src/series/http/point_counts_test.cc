#include "series/http/point_counts.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "series/http/series_http_test_support.h"

namespace sonde::series {
namespace {

// "points{cpu,influx}=2 ...", samples of 0 left out.
std::string TextOf(const PointCounts& counts) {
  std::string text;
  for (const Figure& figure : counts.Figures()) {
    for (const Figure::Sample& sample : figure.samples) {
      if (sample.value == 0) continue;
      std::string labels;
      for (const auto& [name, value] : sample.labels) labels += (labels.empty() ? "" : ",") + value;
      text +=
          fmt::format("{}{}{{{}}}={}", text.empty() ? "" : " ", figure.name.substr(13), labels, sample.value);
    }
  }
  return text;
}

TEST(PointCounts, CountsWhatWasWrittenAndWhyPointsWereRefused) {
  Fixture fixture;
  EXPECT_EQ(
      fixture.Call("POST", "/write?precision=s", "cpu,host=a use=1 100\ncpu,host=b use=2 90\nno point\n")
          .code,
      400);
  EXPECT_EQ(
      fixture.Call("POST", "/write?precision=s", "cpu,host=a use=\"text\" 100\nmem,host=a free=1 120").code,
      400);
  EXPECT_EQ(TextOf(*fixture.service_->points()),
            "total{cpu,influx}=2 total{mem,influx}=1 refused_total{unreadable}=1 refused_total{invalid}=1 "
            "newest_seconds{cpu}=100 newest_seconds{mem}=120");
}

TEST(PointCounts, CountsDeclaredSeries) {
  Fixture fixture;
  ASSERT_EQ(fixture.Call("PUT", "/api/v1/series/meters", kMeters).code, 200);
  const std::string body = MeterLine("m", kNow, 1) + MeterLine("m", kNow + kMicrosPerSecond, 2) + "{}\n";
  fixture.Call("POST", "/api/v1/series/meters/write?time_format=epoch_ms", body);
  EXPECT_EQ(TextOf(*fixture.service_->points()),
            fmt::format("total{{meters,json}}=2 refused_total{{invalid}}=1 newest_seconds{{meters}}={}",
                        static_cast<double>(kNow / kMicrosPerSecond + 1)));
}

TEST(PointCounts, RefusesUndeclaredSeries) {
  Fixture fixture({.takes_undeclared = false});
  fixture.Call("POST", "/write", "cpu,host=a use=1 100");
  EXPECT_EQ(TextOf(*fixture.service_->points()), "refused_total{undeclared}=1");
}

TEST(PointCounts, CountsSeriesBeyondTheLimitTogether) {
  PointCounts counts;
  for (size_t i = 0; i < PointCounts::kSeriesMax + 2; ++i)
    counts.AddWritten(fmt::format("s{:04}", i), kSenderInflux, {1, 1'000'000});
  const std::string text = TextOf(counts);
  EXPECT_NE(text.find("total{(other),influx}=2"), std::string::npos);
  EXPECT_EQ(text.find("s1001"), std::string::npos);
}

}  // namespace
}  // namespace sonde::series
