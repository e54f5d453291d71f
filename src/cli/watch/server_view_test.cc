#include "cli/watch/server_view.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace sonde {
namespace {

MetricSamples Samples(const std::string& text) {
  auto samples = MetricSamples::Parse(text);
  EXPECT_TRUE(samples.ok()) << samples.status();
  return *std::move(samples);
}

TEST(ServerView, ShowsRatesBetweenTwoAnswers) {
  const std::string fixed =
      "sonde_build_info{version=\"1.2\"} 1\n"
      "process_start_time_seconds 1000\n"
      "sonde_requests_load{kind=\"reads\"} 0.5\n"
      "sonde_table_bytes{table=\"idle\"} 900\n"
      "sonde_table_bytes{table=\"busy\"} 100\n";
  const MetricSamples before = Samples(fixed +
                                       "sonde_requests_total{method=\"ReadRows\",code=\"OK\"} 100\n"
                                       "sonde_requests_total{method=\"MutateRow\",code=\"OK\"} 10\n"
                                       "sonde_table_rows_total{table=\"busy\",kind=\"read\"} 5\n"
                                       "process_cpu_seconds_total 1\n");
  const MetricSamples now =
      Samples(fixed +
              "sonde_requests_total{method=\"ReadRows\",code=\"OK\"} 180\n"
              "sonde_requests_total{method=\"ReadRows\",code=\"UNAVAILABLE\"} 20\n"
              "sonde_requests_total{method=\"MutateRow\",code=\"OK\"} 10\n"
              "sonde_request_duration_seconds_bucket{method=\"ReadRows\",le=\"0.001\"} 50\n"
              "sonde_request_duration_seconds_bucket{method=\"ReadRows\",le=\"0.01\"} 100\n"
              "sonde_request_duration_seconds_bucket{method=\"ReadRows\",le=\"+Inf\"} 100\n"
              "sonde_table_rows_total{table=\"busy\",kind=\"read\"} 25\n"
              "sonde_table_rows_total{table=\"busy\",kind=\"write\"} 40\n"
              "process_cpu_seconds_total 4\n"
              "sonde_backup_last_seconds 1060\n"
              "sonde_disk_full 1\n");
  const ServerView view = ViewServer(&before, now, 10, 1090);
  EXPECT_EQ(view.version, "1.2");
  EXPECT_EQ(view.uptime_seconds, 90);
  EXPECT_DOUBLE_EQ(view.processors, 0.3);
  EXPECT_EQ(view.backup_age_seconds, 30);
  ASSERT_EQ(view.loads.size(), 1u);
  EXPECT_EQ(view.loads[0].part, 0.5);
  EXPECT_EQ(view.warnings, std::vector<std::string>{"Writes are refused: the disk is full"});
  ASSERT_EQ(view.methods.size(), 1u) << "MutateRow had no calls meanwhile";
  EXPECT_EQ(view.methods[0].name, "ReadRows");
  EXPECT_DOUBLE_EQ(view.methods[0].per_second, 10);
  EXPECT_DOUBLE_EQ(view.methods[0].errors_per_second, 2);
  EXPECT_DOUBLE_EQ(view.methods[0].p50_seconds, 0.001);
  EXPECT_NEAR(view.methods[0].p99_seconds, 0.00982, 1e-9);
  ASSERT_EQ(view.tables.size(), 2u);
  EXPECT_EQ(view.tables[0].name, "busy");
  EXPECT_DOUBLE_EQ(view.tables[0].rows_read_per_second, 2);
  EXPECT_DOUBLE_EQ(view.tables[0].rows_written_per_second, 4);
}

TEST(ServerView, AServerThatStartedAgainHasNoNegativeRates) {
  const MetricSamples before = Samples("sonde_requests_total{method=\"ReadRows\",code=\"OK\"} 100\n");
  const MetricSamples now = Samples("sonde_requests_total{method=\"ReadRows\",code=\"OK\"} 5\n");
  EXPECT_TRUE(ViewServer(&before, now, 1, 0).methods.empty());
}

TEST(ServerView, QuantilesLieInTheirBucket) {
  const double infinite = std::numeric_limits<double>::infinity();
  EXPECT_EQ(QuantileOf({}, {}, 0.5), 0);
  EXPECT_EQ(QuantileOf({1, infinite}, {0, 0}, 0.5), 0);
  EXPECT_DOUBLE_EQ(QuantileOf({1, 2, infinite}, {0, 10, 0}, 0.5), 1.5);
  EXPECT_DOUBLE_EQ(QuantileOf({1, 2, infinite}, {1, 1, 98}, 0.5), 2);
}

}  // namespace
}  // namespace sonde
