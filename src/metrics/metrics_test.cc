#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "metrics/request_metrics.h"
#include "metrics/text_writer.h"

namespace sonde {
namespace {

using testing::HasSubstr;

TEST(MetricText, EscapesWhatLabelsAndHelpMayHold) {
  MetricText text;
  text.Begin("sonde_x_total", MetricKind::kCounter, "a\\b\nc");
  text.Sample(1.5, {{"table", "a\"b\\c\nd"}, {"x", ""}});
  text.Sample(2);
  EXPECT_EQ(text.text(),
            "# HELP sonde_x_total a\\\\b\\nc\n# TYPE sonde_x_total counter\n"
            "sonde_x_total{table=\"a\\\"b\\\\c\\nd\",x=\"\"} 1.5\nsonde_x_total 2\n");
}

TEST(MetricText, WritesAFigureOnceWhoeverTellsOfIt) {
  std::vector<Figure> figures = {Figure::Gauge("sonde_x_bytes", "By user.").Add(1, {{"user", "a"}})};
  MergeFigures({Figure::Counter("sonde_y_total", "Y."),
                Figure::Gauge("sonde_x_bytes", "By user.").Add(2, {{"user", "b"}})},
               &figures);
  MetricText text;
  for (const Figure& figure : figures) text.Write(figure);
  EXPECT_EQ(text.text(),
            "# HELP sonde_x_bytes By user.\n# TYPE sonde_x_bytes gauge\n"
            "sonde_x_bytes{user=\"a\"} 1\nsonde_x_bytes{user=\"b\"} 2\n");
}

TEST(RequestMetrics, CountsByMethodCodeAndDuration) {
  RequestMetrics metrics;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&metrics] {
      for (int i = 0; i < 1'000; ++i) metrics.Record("ReadRows", absl::StatusCode::kOk, 900);
      metrics.Record("ReadRows", absl::StatusCode::kNotFound, 100'000'000);
    });
  }
  for (std::thread& thread : threads) thread.join();
  metrics.Record("MutateRow", absl::StatusCode::kOk, 10);
  const std::vector<RequestMetrics::Method> methods = metrics.Snapshot();
  ASSERT_EQ(methods.size(), 2);
  EXPECT_EQ(methods[1].requests(), 4'004);
  EXPECT_NEAR(methods[1].QuantileSeconds(0.5), 0.00075, 0.0003);
  EXPECT_EQ(methods[1].QuantileSeconds(1), 60);
  MetricText text;
  metrics.Write(&text);
  EXPECT_THAT(text.text(), HasSubstr("sonde_requests_total{method=\"ReadRows\",code=\"NOT_FOUND\"} 4\n"));
  EXPECT_THAT(text.text(),
              HasSubstr("sonde_request_duration_seconds_bucket{method=\"ReadRows\",le=\"0.001\"} 4000\n"));
  EXPECT_THAT(text.text(),
              HasSubstr("sonde_request_duration_seconds_bucket{method=\"ReadRows\",le=\"+Inf\"} 4004\n"));
  EXPECT_THAT(text.text(), HasSubstr("sonde_request_duration_seconds_count{method=\"MutateRow\"} 1\n"));
}

TEST(RequestMetrics, MethodsAreBounded) {
  RequestMetrics metrics;
  for (int i = 0; i < 1'000; ++i) metrics.Record("m" + std::to_string(i), absl::StatusCode::kOk, 1);
  EXPECT_LE(metrics.Snapshot().size(), RequestMetrics::kMethodsMax + 1);
}

}  // namespace
}  // namespace sonde
