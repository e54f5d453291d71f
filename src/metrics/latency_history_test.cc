#include "metrics/latency_history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace sonde {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr int64_t kStart = 1'700'000'040;  // a whole minute

class LatencyHistoryTest : public testing::Test {
 protected:
  LatencyHistoryTest()
      : directory_(std::filesystem::path(testing::TempDir()) /
                   ("latency_history_" + std::to_string(getpid()))) {
    std::filesystem::remove_all(directory_);
    Open(kStart);
  }
  ~LatencyHistoryTest() override {
    history_.reset();
    std::filesystem::remove_all(directory_);
  }
  void Open(int64_t now) {
    history_.reset();
    absl::StatusOr<std::unique_ptr<LatencyHistory>> history = LatencyHistory::Open(directory_, now);
    ASSERT_TRUE(history.ok()) << history.status();
    history_ = *std::move(history);
  }
  void Record(const std::string& method, int64_t micros, int times,
              absl::StatusCode code = absl::StatusCode::kOk) {
    for (int i = 0; i < times; ++i) metrics_.Record(method, code, micros);
  }
  uint64_t CountOf(int64_t end, int64_t seconds, const std::string& method = "") const {
    uint64_t sum = 0;
    for (const LatencyHistory::Point& point : history_->Read(end, seconds, method).points)
      sum += point.counts.requests();
    return sum;
  }

  const std::filesystem::path directory_;
  RequestMetrics metrics_;
  std::unique_ptr<LatencyHistory> history_;
};

TEST_F(LatencyHistoryTest, TellsWhatEndedInEachStep) {
  Record("ReadRows", 300, 99);
  Record("ReadRows", 2'000'000, 1, absl::StatusCode::kInternal);
  history_->Tick(metrics_, kStart + 10);
  history_->Tick(metrics_, kStart + 20);
  Record("MutateRow", 80, 7);
  history_->Tick(metrics_, kStart + 30);

  const LatencyHistory::Answer answer = history_->Read(kStart + 30, 300, "");
  EXPECT_EQ(answer.step_seconds, LatencyHistory::kShortStep);
  ASSERT_THAT(answer.points, SizeIs(2));
  EXPECT_EQ(answer.points[0].start_seconds, kStart);
  EXPECT_EQ(answer.points[0].counts.requests(), 100U);
  EXPECT_EQ(answer.points[0].counts.errors, 1U);
  EXPECT_LE(RequestMetrics::QuantileSeconds(answer.points[0].counts.buckets, 0.5), 0.0005);
  EXPECT_GE(RequestMetrics::QuantileSeconds(answer.points[0].counts.buckets, 0.995), 1);
  EXPECT_EQ(answer.points[1].start_seconds, kStart + 20);
  EXPECT_EQ(answer.points[1].counts.requests(), 7U);

  EXPECT_EQ(CountOf(kStart + 30, 300, "MutateRow"), 7U);
  EXPECT_THAT(history_->ListMethods(kStart + 30, 300), ElementsAre("MutateRow", "ReadRows"));
  EXPECT_THAT(history_->ListMethods(kStart + 10, 300), ElementsAre("ReadRows"));
}

TEST_F(LatencyHistoryTest, LeavesTheRequestsOfPagesOut) {
  Record("GET /api/v1/overview", 300, 5);
  Record("GET /api/v1/series/{name}/query", 300, 3);
  Record("ReadRows", 300, 2);
  history_->Tick(metrics_, kStart + 10);
  EXPECT_EQ(CountOf(kStart + 10, 300), 5U);
  EXPECT_EQ(CountOf(kStart + 10, 300, "GET /api/v1/overview"), 5U);
}

TEST_F(LatencyHistoryTest, KeepsMinutesForTwoWeeksAndOverARestart) {
  int64_t now = kStart;
  for (int minute = 0; minute < 120; ++minute) {
    for (int i = 0; i < 6; ++i) {
      Record("ReadRows", 300, 1);
      history_->Tick(metrics_, now += 10);
    }
  }
  EXPECT_EQ(CountOf(now, 24 * 3'600), 720U);
  EXPECT_EQ(CountOf(now, 3'600), 360U);
  Open(now + 60);
  EXPECT_EQ(CountOf(now + 60, 24 * 3'600), 720U);
  EXPECT_EQ(CountOf(now, 3'600), 360U);  // by the minute, as seconds are not kept
  const LatencyHistory::Answer answer = history_->Read(now, LatencyHistory::kLongKept, "");
  EXPECT_EQ(answer.step_seconds, 1'680);
  EXPECT_LE(answer.points.size(), LatencyHistory::kPointsMax);
  Open(now + LatencyHistory::kLongKept + 3'600);
  EXPECT_THAT(history_->ListMethods(now + LatencyHistory::kLongKept, LatencyHistory::kLongKept), IsEmpty());
}

TEST_F(LatencyHistoryTest, PassesOverWhatIsTornOrForeign) {
  Record("ReadRows", 300, 5);
  history_->Tick(metrics_, kStart + 10);
  Open(kStart + 120);  // writes the minute
  std::filesystem::path file;
  for (const auto& entry : std::filesystem::directory_iterator(directory_)) file = entry.path();
  std::ofstream(file, std::ios::app | std::ios::binary) << std::string("\0\0\0\x50torn", 8);
  std::ofstream(directory_ / "day-abc.log") << "foreign";
  std::ofstream(directory_ / "day-1700000000.log") << "foreign";
  Open(kStart + 120);
  EXPECT_EQ(CountOf(kStart + 120, 24 * 3'600), 5U);
  // What comes after the torn end is found again.
  RequestMetrics metrics;
  metrics.Record("MutateRow", absl::StatusCode::kOk, 100);
  history_->Tick(metrics, kStart + 190);
  Open(kStart + 300);
  EXPECT_EQ(CountOf(kStart + 300, 24 * 3'600), 6U);
}

TEST_F(LatencyHistoryTest, CountsManyMethodsTogether) {
  for (int i = 0; i < 200; ++i) Record("method " + std::to_string(i), 100, 1);
  history_->Tick(metrics_, kStart + 10);
  EXPECT_EQ(CountOf(kStart + 10, 300), 200U);
  EXPECT_LE(history_->ListMethods(kStart + 10, 300).size(), LatencyHistory::kMethodsMax + 1);
}

}  // namespace
}  // namespace sonde
