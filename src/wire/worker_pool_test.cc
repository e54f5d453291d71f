#include "wire/worker_pool.h"

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
  {
    WorkerPool pool(3, {});
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
  std::optional<Plug> plug;
  WorkerPool pool(1, {.waiting = 2});
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
  absl::Status too_long, too_late;
  bool part_ran = false;
  {
    std::optional<Plug> plug;
    WorkerPool pool(1, {.wait = absl::Milliseconds(100)});
    plug.emplace(&pool);
    pool.Submit(absl::InfiniteFuture(), [&](const absl::Status& status) { too_long = status; });
    pool.Submit(absl::Now() + absl::Milliseconds(50), [&](const absl::Status& status) { too_late = status; });
    EXPECT_TRUE(pool.Submit([&] { part_ran = true; }));
    absl::SleepFor(absl::Milliseconds(150));
    plug.reset();
  }
  EXPECT_EQ(too_long.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(too_long.message(), HasSubstr("the limit is 100 ms"));
  EXPECT_EQ(too_late.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_TRUE(part_ran);
}

TEST(WorkerPool, LetsNobodyWaitLongInAQueueThatStays) {
  absl::Status in_time, too_long;
  {
    std::optional<Plug> plug;
    WorkerPool pool(1, {.wait = absl::Milliseconds(50), .wait_when_overloaded = absl::Milliseconds(5)});
    plug.emplace(&pool);
    EXPECT_TRUE(pool.Submit([] {}));  // from now on the queue is not empty
    absl::SleepFor(absl::Milliseconds(55));
    // What is in front has waited too long already.
    pool.Submit(absl::InfiniteFuture(), [&](const absl::Status& status) { too_long = status; });
    EXPECT_EQ(too_long.code(), absl::StatusCode::kUnavailable);
    plug.reset();
  }
  EXPECT_EQ(too_long.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(too_long.message(), HasSubstr("the limit is 5 ms"));
  {
    std::optional<Plug> plug;
    WorkerPool pool(1, {.wait = absl::Seconds(50), .wait_when_overloaded = absl::Milliseconds(5)});
    plug.emplace(&pool);
    pool.Submit(absl::InfiniteFuture(), [&](const absl::Status& status) { in_time = status; });
    absl::SleepFor(absl::Milliseconds(10));
    plug.reset();
  }
  EXPECT_TRUE(in_time.ok()) << in_time;
}

}  // namespace
}  // namespace sonde
