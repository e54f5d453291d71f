#include "engine/rocks/files/disk_guard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <thread>

namespace sonde {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr uint64_t kSize = 1000 * kMiB;  // so the reserve is 50 MiB

class DiskGuardTest : public testing::Test {
 protected:
  void SetUp() override {
    data_dir_ = testing::TempDir() + "/sonde_disk_guard_" + std::to_string(getpid());
    std::filesystem::remove_all(data_dir_);
    std::filesystem::create_directories(data_dir_);
  }
  void TearDown() override { std::filesystem::remove_all(data_dir_); }

  DiskGuard::Options Options() {
    return {.data_dir = data_dir_,
            .measure = [this](const std::string&) -> absl::StatusOr<DiskSpace> {
              return DiskSpace{.size_bytes = kSize, .free_bytes = free_bytes_};
            },
            .unflushed_bytes = [this] { return unflushed_bytes_.load(); },
            .set_compaction_room = [this](uint64_t bytes) { compaction_room_bytes_ = bytes; },
            .flush = [this] { ++flushes_; },
            .tell = {}};
  }
  bool HasBallast() const { return std::filesystem::exists(data_dir_ + "/" + kBallastFile); }
  // Whether it comes true within a second: ten looks.
  template <typename Condition>
  static bool Soon(const Condition& condition) {
    for (int i = 0; i < 100 && !condition(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return condition();
  }

  std::string data_dir_;
  std::atomic<uint64_t> free_bytes_ = 500 * kMiB;
  std::atomic<uint64_t> unflushed_bytes_ = 0;
  std::atomic<uint64_t> compaction_room_bytes_ = 0;
  std::atomic<int> flushes_ = 0;
};

TEST_F(DiskGuardTest, RefusesWritesBelowTheReserveAndGoesOnByItself) {
  DiskGuard guard(Options());
  EXPECT_TRUE(guard.AdmitWrite().ok());
  free_bytes_ = 49 * kMiB;
  ASSERT_TRUE(Soon([&] { return !guard.AdmitWrite().ok(); }));
  const absl::Status status = guard.AdmitWrite();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(status.message()),
              testing::HasSubstr(std::to_string(49 * kMiB) + " bytes are free"));
  EXPECT_EQ(flushes_, 1);
  free_bytes_ = 52 * kMiB;  // not yet: it would go to and fro
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_FALSE(guard.AdmitWrite().ok());
  free_bytes_ = 60 * kMiB;
  EXPECT_TRUE(Soon([&] { return guard.AdmitWrite().ok(); }));
}

TEST_F(DiskGuardTest, KeepsRoomForWhatIsNotFlushed) {
  unflushed_bytes_ = 100 * kMiB;
  free_bytes_ = 140 * kMiB;
  DiskGuard guard(Options());
  EXPECT_FALSE(guard.AdmitWrite().ok());
}

TEST_F(DiskGuardTest, GivesTheBallastBackAndLaysItInAgain) {
  DiskGuard guard(Options());
  EXPECT_EQ(std::filesystem::file_size(data_dir_ + "/" + kBallastFile), 20 * kMiB);
  free_bytes_ = 40 * kMiB;
  ASSERT_TRUE(Soon([&] { return !guard.AdmitWrite().ok(); }));
  EXPECT_TRUE(HasBallast());
  free_bytes_ = 12 * kMiB;
  EXPECT_TRUE(Soon([&] { return !HasBallast(); }));
  free_bytes_ = 500 * kMiB;
  EXPECT_TRUE(Soon([&] { return HasBallast(); }));
}

TEST_F(DiskGuardTest, CountsWhatIsWrittenBetweenItsLooks) {
  free_bytes_ = 60 * kMiB;
  DiskGuard guard(Options());
  absl::Status status;
  int taken = 0;
  // All within one look, or a few: each would find 60 MiB free.
  for (; taken < 100 && status.ok(); ++taken) status = guard.AdmitWrite(4 * kMiB);
  EXPECT_LT(taken, 10);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  // Nothing came of it.
  EXPECT_TRUE(Soon([&] { return guard.AdmitWrite(1).ok(); }));
}

TEST_F(DiskGuardTest, LeavesHalfOfTheReserveToFlushesAndDeletes) {
  unflushed_bytes_ = 10 * kMiB;
  free_bytes_ = 45 * kMiB;
  DiskGuard guard(Options());
  EXPECT_FALSE(guard.AdmitWrite().ok());
  EXPECT_EQ(compaction_room_bytes_, 10 * kMiB);
  EXPECT_TRUE(guard.HasRoomForStep(10 * kMiB));
  EXPECT_FALSE(guard.HasRoomForStep(10 * kMiB + 1));
  free_bytes_ = 30 * kMiB;
  EXPECT_TRUE(Soon([&] { return compaction_room_bytes_ == 0 && !guard.HasRoomForStep(0); }));
}

TEST_F(DiskGuardTest, MeasuresADisk) {
  const auto space = MeasureDisk(data_dir_);
  ASSERT_TRUE(space.ok());
  EXPECT_GT(space->free_bytes, 0u);
  EXPECT_GE(space->size_bytes, space->free_bytes);
  EXPECT_EQ(MeasureDisk(data_dir_ + "/none").status().code(), absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace sonde
