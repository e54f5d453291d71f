#include "backup/journal/follower.h"

#include <gtest/gtest.h>

#include "backup/journal/journal_test_support.h"
#include "backup/journal/journal_upkeep.h"

namespace sonde {
namespace {

class FollowerTest : public FollowedChangesTest {
 protected:
  Follower Open(int64_t from = 100, int64_t through = 105) {
    absl::StatusOr<Follower> follower =
        Follower::Open(*repository_, this, JournalPlace{kJournal, from, through});
    EXPECT_TRUE(follower.ok()) << follower.status();
    return *std::move(follower);
  }
};

TEST_F(FollowerTest, StoresChangesAndIsIdleWithoutThem) {
  Follower follower = Open();
  ASSERT_EQ(*follower.Step(), false);
  EXPECT_EQ(Places(), "101-110") << "so that the backup can be restored";
  now_ = 120;
  ASSERT_EQ(*follower.Step(), false);
  EXPECT_EQ(Places(), "101-110") << "nothing has changed";
  changes_ = {115};
  ASSERT_EQ(*follower.Step(), false);
  EXPECT_EQ(Places(), "101-110 111-120");
  now_ = 120 + kIdleSegmentMicros;
  ASSERT_EQ(*follower.Step(), false);
  EXPECT_EQ(follower.stored_through(), now_) << "time passes, too";
  EXPECT_EQ(Stored(), (std::vector<int64_t>{115}));
}

TEST_F(FollowerTest, GoesOnBehindWhatIsThere) {
  changes_ = {103, 108};
  {
    Follower follower = Open();
    ASSERT_TRUE(follower.Step().ok());
  }
  changes_.insert({118, 119});
  now_ = 130;
  Follower follower = Open(125, 126);
  ASSERT_TRUE(follower.Step().ok());
  EXPECT_EQ(Stored(), (std::vector<int64_t>{103, 108, 118, 119})) << "earlier backups reach it, too";
}

TEST_F(FollowerTest, BeginsANewChainAtTheBackupWhenChangesAreForgotten) {
  Open().Step().IgnoreError();
  now_ = 300;
  forgotten_ = 200;
  Follower follower = Open(250, 255);
  ASSERT_TRUE(follower.Step().ok());
  EXPECT_EQ(Places(), "101-110 251-300");
  VerifyReport report;
  ASSERT_EQ(VerifyJournals(*repository_, {.reads_data = true}, &report), absl::OkStatus());
  EXPECT_EQ(report.damage, std::vector<std::string>()) << "nothing is missing that was there";
  forgotten_ = 400;
  EXPECT_EQ(follower.Step().status().code(), absl::StatusCode::kOutOfRange);
}

TEST_F(FollowerTest, ADamagedSegmentDoesNotComeIntoTheRepository) {
  Follower follower = Open();
  spoils_ = true;
  EXPECT_EQ(follower.Step().status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(Places(), "");
  spoils_ = false;
  ASSERT_TRUE(follower.Step().ok());
  EXPECT_EQ(Places(), "101-110");
}

TEST_F(FollowerTest, LosesNothingWhileItMerges) {
  Follower follower = Open();
  for (int i = 0; i < 3 * static_cast<int>(kMergeCount); ++i) {
    now_ += 10;
    changes_.insert(now_ - 3);
    ASSERT_TRUE(follower.Step().ok());
  }
  EXPECT_LT(ListSegments(*repository_, kJournal)->size(), kMergeCount);
  EXPECT_EQ(Stored(), std::vector<int64_t>(changes_.begin(), changes_.end()));
}

}  // namespace
}  // namespace sonde
