#include "base/large_room.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <thread>
#include <vector>

#include "absl/time/clock.h"

namespace sonde {
namespace {

constexpr int64_t kMiB = 1 << 20;

LargeRoom::Options Small() { return {.bytes_max = 100 * kMiB, .wait_max = absl::Milliseconds(50)}; }

TEST(LargeRoom, GivesPlacesUntilItIsFull) {
  LargeRoom room(Small());
  absl::StatusOr<LargeRoom::Place> first = room.TryTake("A", 60 * kMiB);
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ(room.TryTake("B", 41 * kMiB).status().code(), absl::StatusCode::kUnavailable);
  absl::StatusOr<LargeRoom::Place> second = room.TryTake("B", 40 * kMiB);
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_EQ(room.taken_bytes(), 100 * kMiB);
  first->Shrink(10 * kMiB);
  EXPECT_EQ(room.taken_bytes(), 50 * kMiB);
  *second = LargeRoom::Place();
  EXPECT_EQ(room.taken_bytes(), 10 * kMiB);
}

TEST(LargeRoom, SaysWhichMemoryIsNeededForWhatNeverFits) {
  LargeRoom room(Small());
  const absl::Status status = room.Take("A request of 5 bytes", 150 * kMiB).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(
      status.message(),
      "A request of 5 bytes takes up to 150 MiB of memory while it is worked on, and the --memory of this "
      "server is 100 MiB: start it with --memory 192MiB, or ask for less at a time");
}

TEST(LargeRoom, RefusesWhoWaitsForTooLong) {
  LargeRoom room(Small());
  const absl::StatusOr<LargeRoom::Place> first = room.TryTake("A", 60 * kMiB);
  ASSERT_TRUE(first.ok());
  const absl::Time begin = absl::Now();
  const absl::Status status = room.Take("B", 60 * kMiB).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_GE(absl::Now() - begin, absl::Milliseconds(50));
  EXPECT_THAT(status.message(), testing::HasSubstr("try again"));
}

TEST(LargeRoom, LetsThoseInWhoWaitOneAfterTheOther) {
  LargeRoom::Options options = Small();
  options.wait_max = absl::Seconds(30);
  LargeRoom room(options);
  std::atomic<int64_t> most = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int j = 0; j < 20; ++j) {
        const absl::StatusOr<LargeRoom::Place> place = room.Take("A", 40 * kMiB);
        ASSERT_TRUE(place.ok()) << place.status();
        const int64_t taken = room.taken_bytes();
        for (int64_t seen = most; taken > seen && !most.compare_exchange_weak(seen, taken);) {
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(most, 100 * kMiB);
  EXPECT_EQ(room.taken_bytes(), 0);
}

TEST(LargeRoom, DoesNotLetSmallOnesPassLargeOnesThatWait) {
  LargeRoom::Options options = Small();
  options.wait_max = absl::Seconds(30);
  LargeRoom room(options);
  absl::StatusOr<LargeRoom::Place> first = room.TryTake("A", 60 * kMiB);
  ASSERT_TRUE(first.ok());
  std::thread waits([&] { EXPECT_TRUE(room.Take("B", 100 * kMiB).ok()); });
  while (room.TryTake("C", 10 * kMiB).ok()) absl::SleepFor(absl::Milliseconds(1));
  first->Shrink(0);
  waits.join();
  EXPECT_TRUE(room.TryTake("C", 10 * kMiB).ok());
}

TEST(LargeRoom, LetsWorkThatCannotBeRefusedInAfterAWhile) {
  LargeRoom::Options options = Small();
  options.sure_wait_max = absl::Milliseconds(50);
  LargeRoom room(options);
  const absl::StatusOr<LargeRoom::Place> first = room.TryTake("A", 60 * kMiB);
  ASSERT_TRUE(first.ok());
  const absl::Time begin = absl::Now();
  const LargeRoom::Place second = room.TakeSurely(70 * kMiB, LargeRoom::Turn::kAfterAll);
  EXPECT_GE(absl::Now() - begin, absl::Milliseconds(50));
  // It counts nevertheless, so that others wait for it.
  EXPECT_EQ(room.taken_bytes(), 130 * kMiB);
  EXPECT_EQ(room.TryTake("B", kMiB).status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(room.TakeSurely(500 * kMiB, LargeRoom::Turn::kAfterAll).bytes(), 100 * kMiB);
}

TEST(LargeRoom, LetsWorkPassThoseThatWaitIfItIsToComeFirst) {
  LargeRoom::Options options = Small();
  options.wait_max = absl::Seconds(30);
  LargeRoom room(options);
  for (const auto turn : {LargeRoom::Turn::kBeforeAll, LargeRoom::Turn::kAfterAll}) {
    absl::StatusOr<LargeRoom::Place> first = room.TryTake("A", 60 * kMiB);
    ASSERT_TRUE(first.ok());
    std::atomic<int> came = 0;
    int write_came = 0, work_came = 0;
    std::thread write([&] {
      const absl::StatusOr<LargeRoom::Place> place = room.Take("B", 60 * kMiB);
      write_came = ++came;
    });
    absl::SleepFor(absl::Milliseconds(50));
    std::thread work([&] {
      const LargeRoom::Place place = room.TakeSurely(60 * kMiB, turn);
      work_came = ++came;
    });
    absl::SleepFor(absl::Milliseconds(50));
    first->Shrink(0);
    write.join();
    work.join();
    EXPECT_EQ(work_came < write_came, turn == LargeRoom::Turn::kBeforeAll);
  }
}

TEST(LargeRoom, GivesAReaderAPlaceForItsLongestEntry) {
  LargeRoom room(Small());
  {
    const std::function<absl::Status(size_t)> take = TakeForEntries(&room, WhenFull::kRefuse);
    ASSERT_TRUE(take(20 * kMiB).ok());
    ASSERT_TRUE(take(10 * kMiB).ok());
    EXPECT_EQ(room.taken_bytes(), 20 * kMiB * kLargeReadCopies);
    ASSERT_TRUE(take(50 * kMiB).ok());
    EXPECT_EQ(room.taken_bytes(), 100 * kMiB);
    EXPECT_EQ(TakeForEntries(&room, WhenFull::kRefuse)(kMiB).code(), absl::StatusCode::kUnavailable);
    EXPECT_EQ(TakeForEntries(&room, WhenFull::kWait)(kMiB).code(), absl::StatusCode::kUnavailable);
  }
  EXPECT_EQ(room.taken_bytes(), 0);
}

TEST(LargeRoom, ForgetsWhoIsGone) {
  LargeRoom::Options options = Small();
  options.wait_max = absl::Seconds(30);
  LargeRoom room(options);
  absl::StatusOr<LargeRoom::Place> first = room.TryTake("A", 60 * kMiB);
  ASSERT_TRUE(first.ok());
  std::atomic<bool> gone = false;
  absl::Status left;
  const absl::Time begin = absl::Now();
  std::thread waits(
      [&] { left = room.Take("B", 60 * kMiB, {.gone = [&] { return gone.load(); }}).status(); });
  gone = true;
  waits.join();
  EXPECT_EQ(left.code(), absl::StatusCode::kUnavailable);
  EXPECT_LT(absl::Now() - begin, absl::Seconds(20));
  first->Shrink(0);
  EXPECT_TRUE(room.TryTake("C", 60 * kMiB).ok());
}

TEST(LargeRoom, LetsWhoHoldsNothingWaitForLonger) {
  LargeRoom room(Small());
  absl::StatusOr<LargeRoom::Place> first = room.TryTake("A", 60 * kMiB);
  ASSERT_TRUE(first.ok());
  absl::Status status = absl::UnknownError("not told");
  std::thread waits([&] { status = room.Take("B", 60 * kMiB, {.wait_max = absl::Seconds(30)}).status(); });
  absl::SleepFor(3 * Small().wait_max);
  first->Shrink(0);
  waits.join();
  EXPECT_TRUE(status.ok()) << status;
}

TEST(LargeRoom, RefusesWhoseDeadlinePasses) {
  LargeRoom::Options options = Small();
  options.wait_max = absl::Seconds(30);
  LargeRoom room(options);
  const absl::StatusOr<LargeRoom::Place> first = room.TryTake("A", 60 * kMiB);
  ASSERT_TRUE(first.ok());
  const absl::Time begin = absl::Now();
  const absl::Status late = room.Take("B", 60 * kMiB, {.deadline = begin + absl::Milliseconds(30)}).status();
  EXPECT_EQ(late.code(), absl::StatusCode::kUnavailable);
  EXPECT_GE(absl::Now() - begin, absl::Milliseconds(30));
  EXPECT_LT(absl::Now() - begin, absl::Seconds(10));
}

TEST(LargeRoom, TellsWhatIsLeft) {
  LargeRoom room(Small());
  std::atomic<int64_t> others = 0;
  int64_t left_bytes = -1;
  int released = 0;
  room.set_taken_by_others([&] { return others.load(); });
  room.set_left([&](int64_t bytes) { left_bytes = bytes; });
  room.set_release([&] { ++released; });
  room.Adjust();
  EXPECT_EQ(left_bytes, 100 * kMiB);
  {
    const absl::StatusOr<LargeRoom::Place> place = room.TryTake("A", 60 * kMiB);
    ASSERT_TRUE(place.ok());
    EXPECT_EQ(left_bytes, 40 * kMiB);
    others = 30 * kMiB;
    room.Adjust();
    EXPECT_EQ(left_bytes, 10 * kMiB);
    EXPECT_FALSE(room.TryTake("B", 20 * kMiB).ok());  // small requests have it
    EXPECT_EQ(released, 0);
  }
  EXPECT_EQ(released, 1);
  EXPECT_EQ(left_bytes, 70 * kMiB);
}

TEST(LargeRoom, LetsOneInThatIsAloneAsLongAsTheReserveIsEnoughForOthers) {
  LargeRoom::Options options = Small();
  options.reserve_bytes = 20 * kMiB;
  LargeRoom room(options);
  int64_t others = 20 * kMiB;
  room.set_taken_by_others([&] { return others; });
  EXPECT_TRUE(room.TryTake("A", 100 * kMiB).ok());
  others = 21 * kMiB;
  EXPECT_FALSE(room.TryTake("A", 100 * kMiB).ok());
  const absl::StatusOr<LargeRoom::Place> first = room.TryTake("A", 59 * kMiB);
  ASSERT_TRUE(first.ok());
  EXPECT_FALSE(room.TryTake("B", kMiB).ok());
}

TEST(LargeRoom, TakesWhatAWriteHasLeftOutOfMemoryBeforeTheNext) {
  LargeRoom room(Small());
  int64_t taken_then = -1;
  room.set_after_write([&] { taken_then = room.taken_bytes(); });
  {
    const absl::StatusOr<LargeRoom::Place> read = room.TryTake("A", 50 * kMiB);
  }
  EXPECT_EQ(taken_then, -1);
  absl::StatusOr<LargeRoom::Place> write = room.TryTake("A", 50 * kMiB);
  ASSERT_TRUE(write.ok());
  write->MarkWrite();
  write->Shrink(0);
  EXPECT_EQ(taken_then, 50 * kMiB);
  EXPECT_EQ(room.taken_bytes(), 0);
}

}  // namespace
}  // namespace sonde
