#include "work/worker_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

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

// How many of each priority are among the first `turns` that are served, while enough of all wait.
std::string Served(int turns, const std::vector<Priority>& waiting) {
  TurnClock clock(1);
  std::string order;
  {
    std::optional<Plug> plug;
    WorkerPool pool(1, {}, &clock);
    plug.emplace(&pool);
    for (const Priority priority : waiting) {
      for (int i = 0; i < turns; ++i) {
        pool.Submit(
            absl::InfiniteFuture(),
            [&order, priority](const absl::Status& status) {
              EXPECT_EQ(status, absl::OkStatus());
              order.push_back("HML"[static_cast<size_t>(priority)]);
            },
            priority);
      }
    }
    plug.reset();
  }
  order.resize(turns);
  std::string counts;
  for (const char letter : std::string("HML")) {
    counts += letter + std::to_string(std::count(order.begin(), order.end(), letter));
  }
  return counts;
}

TEST(WorkerPool, AHigherPriorityGoesFirstButLeavesEachOfTheOthersATwentieth) {
  EXPECT_EQ(Served(200, {Priority::kLow, Priority::kHigh}), "H190M0L10");
  EXPECT_EQ(Served(200, {Priority::kLow, Priority::kMedium, Priority::kHigh}), "H181M10L9");
  EXPECT_EQ(Served(200, {Priority::kMedium, Priority::kLow}), "H0M190L10");
  EXPECT_EQ(Served(200, {Priority::kLow}), "H0M0L200");
}

TEST(WorkerPool, LowGoesOnThoughHighNeverEnds) {
  TurnClock clock(1);
  constexpr int kLow = 50;
  std::atomic<int> low = 0, high = 0;
  absl::Notification done;
  std::function<void(const absl::Status&)> go_on;
  std::optional<Plug> plug;
  WorkerPool pool(1, {}, &clock);
  plug.emplace(&pool);
  // Each of these is followed by another of its kind, until all of the others are done.
  go_on = [&](const absl::Status& status) {
    EXPECT_EQ(status, absl::OkStatus());
    ++high;
    if (low < kLow) pool.Submit(absl::InfiniteFuture(), go_on);
  };
  for (int i = 0; i < 10; ++i) pool.Submit(absl::InfiniteFuture(), go_on);
  for (int i = 0; i < kLow; ++i) {
    pool.Submit(
        absl::InfiniteFuture(),
        [&](const absl::Status& status) {
          EXPECT_EQ(status, absl::OkStatus());
          if (++low == kLow) done.Notify();
        },
        Priority::kLow);
  }
  plug.reset();
  done.WaitForNotification();
  EXPECT_GE(high.load(), kLow * (kLowerTurn - 1));
}

// What is refused as too old takes no turn, so that a long line of such does not keep the fresh from theirs.
TEST(WorkerPool, LowThatIsTooOldTakesNoTurnOfTheFresh) {
  TurnClock clock(1);
  constexpr int kOld = 30, kHigh = 100;
  std::string order;
  {
    std::optional<Plug> plug;
    WorkerPool pool(1, {.wait = absl::Milliseconds(100)}, &clock);
    plug.emplace(&pool);
    const auto submit = [&](Priority priority, char letter) {
      pool.Submit(
          absl::InfiniteFuture(),
          [&order, letter](const absl::Status& status) { order.push_back(status.ok() ? letter : 'x'); },
          priority);
    };
    for (int i = 0; i < kOld; ++i) submit(Priority::kLow, 'o');
    clock.Beat(absl::Milliseconds(60));
    submit(Priority::kLow, 'f');
    clock.Beat(absl::Milliseconds(60));
    for (int i = 0; i < kHigh; ++i) submit(Priority::kHigh, 'H');
    plug.reset();
  }
  EXPECT_EQ(order.substr(0, kLowerTurn + kOld),
            std::string(kLowerTurn - 1, 'H') + std::string(kOld, 'x') + "f");
}

// Room and waits are those of a priority: what waits below keeps nobody out above.
TEST(WorkerPool, ALineThatIsFullOrOldIsSoForItsPriorityAlone) {
  TurnClock clock(1);
  absl::Status high = absl::InternalError("not called");
  std::optional<Plug> plug;
  WorkerPool pool(1, {.waiting = 2, .wait = absl::Milliseconds(100)}, &clock);
  plug.emplace(&pool);
  EXPECT_TRUE(pool.Submit([] {}, Priority::kLow));
  EXPECT_TRUE(pool.Submit([] {}, Priority::kLow));
  EXPECT_FALSE(pool.Submit([] { ADD_FAILURE() << "must not run"; }, Priority::kLow));
  clock.Beat(absl::Milliseconds(60));
  clock.Beat(absl::Milliseconds(60));
  pool.Submit(absl::InfiniteFuture(), [&](const absl::Status& status) { high = status; });
  EXPECT_EQ(high, absl::InternalError("not called")) << "it waits for its turn";
  plug.reset();
}

}  // namespace
}  // namespace sonde
