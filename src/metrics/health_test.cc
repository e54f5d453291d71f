#include "metrics/health.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace sonde {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr double kNow = 1'700'000'000;

std::vector<std::string> Texts(const std::map<std::string, double, std::less<>>& figures) {
  const auto largest = [&](std::string_view name) -> std::optional<double> {
    const auto found = figures.find(name);
    return found == figures.end() ? std::nullopt : std::optional(found->second);
  };
  std::vector<std::string> texts;
  for (const HealthReason& reason : FindHealthReasons(largest, kNow)) {
    texts.push_back((reason.level == HealthReason::Level::kFailing ? "failing: " : "warning: ") +
                    reason.text);
  }
  return texts;
}

TEST(HealthTest, SaysNothingWhereAllGoesWell) {
  EXPECT_THAT(Texts({}), IsEmpty());
  EXPECT_THAT(Texts({{"sonde_disk_full", 0},
                     {"sonde_requests_load", 0.89},
                     {"sonde_disk_free_bytes", 11},
                     {"sonde_disk_size_bytes", 100},
                     {"sonde_backup_last_seconds", kNow - 3'600},
                     {"sonde_tls_certificate_expiry_seconds", 30 * 86'400}}),
              IsEmpty());
}

TEST(HealthTest, PutsTheWorstFirst) {
  EXPECT_THAT(
      Texts({{"sonde_insecure_remote", 1}, {"sonde_disk_full", 1}, {"sonde_scrub_damaged_files", 3}}),
      ElementsAre("failing: Writes are refused: the disk is full",
                  "failing: Damaged files: 3; the log names them",
                  "warning: Other machines are let in without authentication (--insecure-allow-remote)"));
}

TEST(HealthTest, TellsOfViews) {
  EXPECT_THAT(Texts({{"sonde_view_failing", 1}, {"sonde_view_cannot_keep_up", 1}}),
              ElementsAre("warning: A materialized view is not kept: its rows are as they were",
                          "warning: A materialized view cannot keep up with its table"));
  EXPECT_THAT(Texts({{"sonde_view_failing", 0}, {"sonde_view_cannot_keep_up", 0}}), IsEmpty());
}

TEST(HealthTest, TellsSizesAndTimes) {
  EXPECT_THAT(Texts({{"sonde_disk_free_bytes", 5},
                     {"sonde_disk_size_bytes", 100},
                     {"sonde_backup_last_seconds", kNow - 3 * 86'400},
                     {"sonde_journal_lag_seconds", 90},
                     {"sonde_tls_certificate_expiry_seconds", 36 * 3'600}}),
              ElementsAre("warning: The disk is 95% full",
                          "warning: The journal for recovery to a moment is behind by 90 seconds",
                          "warning: The newest backup is 3 days old",
                          "warning: The certificate expires in 36 hours"));
  EXPECT_THAT(Texts({{"sonde_tls_certificate_expiry_seconds", -1}}),
              ElementsAre("warning: The certificate has expired"));
}

}  // namespace
}  // namespace sonde
