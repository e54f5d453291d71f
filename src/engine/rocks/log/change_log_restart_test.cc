// What a change log promises over restarts: no position that is at or below a frontier which was told before.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "engine/rocks/log/change_log.h"
#include "rocksdb/db.h"

namespace sonde {
namespace {

constexpr TableId kTable = 7;
constexpr int64_t kSecond = 1'000'000;
constexpr int64_t kTold = 5 * kSecond;

class ChangeLogRestartTest : public testing::Test {
 protected:
  void SetUp() override {
    path_ = testing::TempDir() + "/sonde_change_log_" + std::to_string(getpid());
    std::filesystem::remove_all(path_);
    Open();
  }
  void TearDown() override {
    Close();
    std::filesystem::remove_all(path_);
    std::filesystem::remove_all(CrashedPath());
  }

  std::string CrashedPath() const { return path_ + ".crashed"; }

  void Open() {
    rocksdb::Options options;
    options.create_if_missing = true;
    ASSERT_TRUE(rocksdb::DB::Open(options, path_, &db_).ok());
    OpenLog();
  }
  void OpenLog() {
    auto log = ChangeLog::Open(db_.get(), db_->DefaultColumnFamily(), /*syncs=*/true);
    ASSERT_EQ(log.status(), absl::OkStatus());
    log_ = *std::move(log);
  }
  void Close() {
    log_.reset();
    db_.reset();
  }
  // Goes on with the files as they are now.
  void Crash() {
    std::filesystem::remove_all(CrashedPath());
    std::filesystem::copy(path_, CrashedPath(), std::filesystem::copy_options::recursive);
    Close();
    std::filesystem::remove_all(path_);
    std::filesystem::rename(CrashedPath(), path_);
    Open();
  }

  RowLog::End FindEnd(int64_t frontier_min) {
    const absl::StatusOr<RowLog::End> end = log_->FindEnd(kTable, frontier_min);
    EXPECT_EQ(end.status(), absl::OkStatus());
    return end.value_or(RowLog::End{});
  }

  // Returns the position of a change that is made when the clock shows `now`.
  int64_t Change(int64_t now) {
    const std::vector<std::string> pieces = {"x"};
    RowChange change;
    change.row_key = "row";
    change.delta.log = {now, pieces};
    rocksdb::WriteBatch batch;
    ChangeLog::Commit commit(log_.get());
    EXPECT_EQ(commit.Add(kTable, {&change, 1}, &batch), absl::OkStatus());
    EXPECT_TRUE(db_->Write(rocksdb::WriteOptions(), &batch).ok());
    return FindEnd(0).last_record;
  }

  std::string path_;
  std::unique_ptr<rocksdb::DB> db_;
  std::unique_ptr<ChangeLog> log_;
};

TEST_F(ChangeLogRestartTest, AfterACrashAClockThatWasSetBackGivesNoPositionThatWasPast) {
  EXPECT_EQ(FindEnd(kTold).frontier, kTold);
  Crash();
  const int64_t position = Change(kSecond);
  EXPECT_GT(position, kTold);
  EXPECT_LE(position, kTold + kSecond + 1);
  EXPECT_EQ(Change(kTold + 3 * kSecond), kTold + 3 * kSecond) << "the clock gives positions again";
}

TEST_F(ChangeLogRestartTest, AfterASecondCrashItIsStillSo) {
  EXPECT_EQ(FindEnd(kTold).frontier, kTold);
  Crash();
  const int64_t told = FindEnd(0).frontier;
  EXPECT_GE(told, kTold);
  Crash();
  EXPECT_GT(Change(0), told);
}

TEST_F(ChangeLogRestartTest, AfterAnEndPositionsGoOnFromWhatWasTold) {
  EXPECT_EQ(FindEnd(kTold).frontier, kTold);
  Close();
  Open();
  EXPECT_EQ(FindEnd(0).frontier, kTold);
  EXPECT_EQ(Change(0), kTold + 1);
  Close();
  Open();
  EXPECT_EQ(FindEnd(0).frontier, kTold + 1);
  EXPECT_EQ(FindEnd(0).last_record, kTold + 1);
}

TEST_F(ChangeLogRestartTest, ASecondCostsAWriteAndAChangeNone) {
  FindEnd(kTold);
  const uint64_t before = db_->GetLatestSequenceNumber();
  for (int64_t now = kTold; now < kTold + 10 * kSecond; now += kSecond / 1'000) FindEnd(now);
  EXPECT_LE(db_->GetLatestSequenceNumber() - before, 10U);
  FindEnd(kTold + 10 * kSecond);
  const uint64_t changes_before = db_->GetLatestSequenceNumber();
  for (int i = 0; i < 100; ++i) Change(0);
  EXPECT_EQ(db_->GetLatestSequenceNumber() - changes_before, 100U);
}

TEST_F(ChangeLogRestartTest, ADiskThatTakesNoWritesHoldsTheFrontierBack) {
  FindEnd(kTold);
  Close();
  ASSERT_TRUE(rocksdb::DB::OpenForReadOnly(rocksdb::Options(), path_, &db_).ok());
  OpenLog();
  EXPECT_EQ(FindEnd(kTold).frontier, kTold);
  EXPECT_EQ(FindEnd(kTold + 1).frontier, kTold);
}

TEST_F(ChangeLogRestartTest, ABoundThatIsDamagedIsDataLoss) {
  FindEnd(kTold);
  log_.reset();
  ASSERT_TRUE(db_->Put(rocksdb::WriteOptions(), std::string(16, '\0'), "xyz").ok());
  EXPECT_EQ(ChangeLog::Open(db_.get(), db_->DefaultColumnFamily(), true).status().code(),
            absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace sonde
