#include "metrics/query_metrics.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sonde {
namespace {

const absl::Time kStart = absl::FromUnixSeconds(1'700'000'000);

EndedQuery Query(const std::string& text, absl::Duration took, absl::Time ended = kStart) {
  return {.text = text,
          .method = "ExecuteQuery",
          .ended = ended,
          .took = took,
          .rows = 2,
          .bytes = 10,
          .rows_scanned = 5};
}

TEST(QueryMetrics, AddsUpWhatQueriesReturnScanAndHold) {
  QueryMetrics metrics;
  metrics.Record(Query("SELECT 1", absl::Milliseconds(1)));
  metrics.Record(Query("SELECT 2", absl::Milliseconds(1)));
  metrics.Hold(100);
  metrics.Hold(-30);
  std::vector<double> values;
  for (const Figure& figure : metrics.Figures()) values.push_back(figure.samples[0].value);
  EXPECT_EQ(values, (std::vector<double>{4, 20, 10, 70}));
  EXPECT_TRUE(metrics.Slowest(kStart).empty());  // none of them was slow
}

TEST(QueryMetrics, KeepsTheSlowestOfADay) {
  QueryMetrics metrics;
  metrics.Record(Query("old", absl::Hours(1), kStart - QueryMetrics::kSlowFor - absl::Seconds(1)));
  for (int i = 1; i <= 60; ++i) metrics.Record(Query(std::to_string(i), i * QueryMetrics::kSlow));
  const std::vector<EndedQuery> slow = metrics.Slowest(kStart);
  ASSERT_EQ(slow.size(), QueryMetrics::kSlowMax);
  EXPECT_EQ(slow.front().text, "60");
  EXPECT_EQ(slow.back().text, "11");
  EXPECT_TRUE(metrics.Slowest(kStart + QueryMetrics::kSlowFor + absl::Seconds(1)).empty());
}

}  // namespace
}  // namespace sonde
