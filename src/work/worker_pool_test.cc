#include "work/worker_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <optional>

#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"

namespace sonde {
namespace {

using ::testing::HasSubstr;

// Keeps the only worker busy until it goes.
class Plug {
 public:
  explicit Plug(WorkerPool* pool) {
    EXPECT_TRUE(pool->Submit([this] {
      plugged_.Notify();
      pulled_.WaitForNotification();
    }));
    plugged_.WaitForNotification();
  }
  ~Plug() { pulled_.Notify(); }

 private:
  absl::Notification plugged_, pulled_;
};

TEST(WorkerPool, RunsEverythingBeforeItEnds) {
  std::atomic<int> runs = 0;
  TurnClock clock(1);
  {
    WorkerPool pool(3, {}, &clock);
    for (int i = 0; i < 1000; ++i) {
      EXPECT_TRUE(pool.Submit([&runs] { ++runs; }));
      pool.Submit(absl::InfiniteFuture(), [&runs](const absl::Status& status) {
        EXPECT_TRUE(status.ok()) << status;
        ++runs;
      });
    }
  }
  EXPECT_EQ(runs, 2000);
}

TEST(WorkerPool, RefusesWhatFindsNoRoom) {
  TurnClock clock(1);
  std::optional<Plug> plug;
  WorkerPool pool(1, {.waiting = 2}, &clock);
  plug.emplace(&pool);
  EXPECT_TRUE(pool.Submit([] {}));
  EXPECT_TRUE(pool.Submit([] {}));
  EXPECT_FALSE(pool.Submit([] { ADD_FAILURE() << "must not run"; }));
  absl::Status refused;
  pool.Submit(absl::InfiniteFuture(), [&refused](const absl::Status& status) { refused = status; });
  EXPECT_EQ(refused.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(refused.message(), HasSubstr("2 requests are waiting"));
  plug.reset();
}

TEST(WorkerPool, RefusesWhatHasWaitedTooLong) {
  TurnClock clock(1);
  absl::Status in_time, too_long, too_late;
  bool part_ran = false;
  {
    std::optional<Plug> plug;
    WorkerPool pool(1, {.wait = absl::Milliseconds(100)}, &clock);
    plug.emplace(&pool);
    pool.Submit(absl::InfiniteFuture(), [&](const absl::Status& status) { too_long = status; });
    pool.Submit(absl::Now(), [&](const absl::Status& status) { too_late = status; });
    EXPECT_TRUE(pool.Submit([&] { part_ran = true; }));
    clock.Beat(absl::Milliseconds(60));
    pool.Submit(absl::InfiniteFuture(), [&](const absl::Status& status) { in_time = status; });
    clock.Beat(absl::Milliseconds(60));
    plug.reset();
  }
  EXPECT_TRUE(in_time.ok()) << in_time;
  EXPECT_EQ(too_long.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(too_long.message(), HasSubstr("the limit is 100 ms"));
  EXPECT_EQ(too_late.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_TRUE(part_ran);
}

TEST(WorkerPool, LetsNobodyWaitLongInAQueueThatStays) {
  TurnClock clock(1);
  absl::Status in_time, too_long;
  {
    std::optional<Plug> plug;
    WorkerPool pool(1, {.wait = absl::Milliseconds(50), .wait_when_overloaded = absl::Milliseconds(5)},
                    &clock);
    plug.emplace(&pool);
    EXPECT_TRUE(pool.Submit([] {}));  // from now on the queue is not empty
    clock.Beat(absl::Milliseconds(55));
    // What is in front has waited too long already.
    pool.Submit(absl::InfiniteFuture(), [&](const absl::Status& status) { too_long = status; });
    EXPECT_EQ(too_long.code(), absl::StatusCode::kUnavailable);
    plug.reset();
  }
  EXPECT_EQ(too_long.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(too_long.message(), HasSubstr("the limit is 5 ms"));
  {
    std::optional<Plug> plug;
    WorkerPool pool(1, {.wait = absl::Seconds(50), .wait_when_overloaded = absl::Milliseconds(5)}, &clock);
    plug.emplace(&pool);
    pool.Submit(absl::InfiniteFuture(), [&](const absl::Status& status) { in_time = status; });
    clock.Beat(absl::Milliseconds(10));
    plug.reset();
  }
  EXPECT_TRUE(in_time.ok()) << in_time;
}

// A machine that stands still, or is somebody else's, is slow: nobody is refused for that.
TEST(WorkerPool, LetsWaitWhileTheServerHasNoProcessor) {
  TurnClock clock(1);
  absl::Status stopped, starved;
  {
    std::optional<Plug> plug;
    WorkerPool pool(1, {.wait = absl::Milliseconds(500)}, &clock);
    plug.emplace(&pool);
    pool.Submit(absl::InfiniteFuture(), [&](const absl::Status& status) { stopped = status; });
    clock.Beat(absl::Seconds(60));
    plug.reset();
  }
  {
    std::optional<Plug> plug;
    WorkerPool pool(1, {.wait = absl::Milliseconds(500)}, &clock);
    plug.emplace(&pool);
    pool.Submit(absl::InfiniteFuture(), [&](const absl::Status& status) { starved = status; });
    TurnClock::ProcessorTimes times;
    for (int i = 0; i < 20; ++i) {  // for a second, nine tenths of it taken by others
      times.passed += absl::Milliseconds(50);
      times.ran += absl::Milliseconds(5);
      times.waited += absl::Milliseconds(45);
      clock.Learn(times);
      clock.Beat(absl::Milliseconds(50));
    }
    plug.reset();
  }
  EXPECT_TRUE(stopped.ok()) << stopped;
  EXPECT_TRUE(starved.ok()) << starved;
}

}  // namespace
}  // namespace sonde
