#include "backup/journal/follower.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "backup/journal/journal_test_support.h"
#include "backup/journal/journal_upkeep.h"

namespace sonde {
namespace {

class FollowerTest : public JournalFilesTest, public JournalSource {
 protected:
  // Cuts from `changes_`, which are complete up to `now_`.
  absl::StatusOr<CutSegment> Cut(const std::string& journal, int64_t after, bool starts) override {
    if (after < forgotten_) return absl::OutOfRangeError("forgotten");
    CutSegment cut{.path = root_ + "/cut", .place = {journal, after + 1, now_}};
    std::vector<SegmentRecord> records;
    for (auto at = changes_.upper_bound(after); at != changes_.end() && *at <= now_; ++at)
      records.push_back({.position = *at, .table = 1, .bytes = "piece"});
    cut.records = records.size();
    if (absl::Status status = WriteSegment(cut.path, after + 1, now_, records, starts); !status.ok())
      return status;
    if (spoils_) std::filesystem::resize_file(cut.path, std::filesystem::file_size(cut.path) - 1);
    return cut;
  }
  Follower Open(int64_t from = 100, int64_t through = 105) {
    absl::StatusOr<Follower> follower =
        Follower::Open(*repository_, this, JournalPlace{kJournal, from, through});
    EXPECT_TRUE(follower.ok()) << follower.status();
    return *std::move(follower);
  }
  std::vector<int64_t> Stored() {
    std::vector<int64_t> positions;
    const SegmentChain chain = ChainFrom(Segments(), 100);
    for (const SegmentFile& segment : chain.segments)
      EXPECT_EQ(ReadWhole(segment.path, &positions), absl::OkStatus());
    return positions;
  }

  std::set<int64_t> changes_;
  int64_t now_ = 110, forgotten_ = 0;
  bool spoils_ = false;
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
