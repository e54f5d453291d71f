#include "rpc/timer_wheel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

namespace sonde::rpc {
namespace {

using std::chrono::milliseconds;

const Timer::TimePoint kStart{std::chrono::hours(5)};

TEST(TimerWheel, ReachesADeadlineOnceAndNotTooSoon) {
  TimerWheel wheel(kStart);
  Timer timer;
  wheel.Set(&timer, kStart + milliseconds(100));
  int reached = 0;
  for (int ms = 0; ms <= 100; ++ms) wheel.Advance(kStart + milliseconds(ms), [&](Timer*) { ++reached; });
  EXPECT_EQ(reached, 0);
  for (int ms = 101; ms < 5'000; ++ms) {
    wheel.Advance(kStart + milliseconds(ms), [&](Timer*) { ++reached; });
    EXPECT_EQ(reached, ms < 102 ? 0 : 1) << ms;
  }
  EXPECT_EQ(wheel.count(), 0);
}

TEST(TimerWheel, ForgetsARemovedOne) {
  TimerWheel wheel(kStart);
  Timer timer;
  wheel.Set(&timer, kStart + milliseconds(10));
  wheel.Remove(&timer);
  wheel.Remove(&timer);
  EXPECT_FALSE(timer.IsSet());
  wheel.Advance(kStart + milliseconds(1'000), [](Timer*) { FAIL(); });
  EXPECT_EQ(wheel.NextLook(), std::nullopt);
}

TEST(TimerWheel, ReachesWhatIsSetInThePast) {
  TimerWheel wheel(kStart);
  Timer timer;
  wheel.Set(&timer, kStart - std::chrono::hours(1));
  int reached = 0;
  wheel.Advance(kStart + milliseconds(3), [&](Timer*) { ++reached; });
  EXPECT_EQ(reached, 1);
}

TEST(TimerWheel, LetsTimersBeSetAndRemovedWhileItAdvances) {
  TimerWheel wheel(kStart);
  Timer first, second, third;
  wheel.Set(&first, kStart);
  wheel.Set(&second, kStart);
  std::vector<Timer*> reached;
  const auto note = [&](Timer* timer) {
    reached.push_back(timer);
    if (reached.size() > 1) return;
    wheel.Remove(timer == &first ? &second : &first);
    wheel.Set(&third, kStart);
  };
  wheel.Advance(kStart + milliseconds(3), note);
  wheel.Advance(kStart + milliseconds(9), note);
  ASSERT_EQ(reached.size(), 2);
  EXPECT_EQ(reached[1], &third);
}

TEST(TimerWheel, AgreesWithASortedListOverManyRounds) {
  std::mt19937_64 random(7);
  TimerWheel wheel(kStart);
  std::vector<std::unique_ptr<Timer>> timers;
  for (int i = 0; i < 300; ++i) timers.push_back(std::make_unique<Timer>());
  Timer::TimePoint now = kStart;
  size_t reached_count = 0;
  for (int step = 0; step < 20'000; ++step) {
    Timer* const timer = timers[random() % timers.size()].get();
    if (random() % 4 == 0) {
      wheel.Remove(timer);
    } else {
      wheel.Set(timer, now + milliseconds(random() % (random() % 20 == 0 ? 20'000 : 50)));
    }
    now += std::chrono::microseconds(random() % (random() % 500 == 0 ? 9'000'000 : 3'000));
    const auto look = wheel.NextLook();
    bool has_reached = false;
    wheel.Advance(now, [&](Timer* due) {
      EXPECT_LE(due->due(), now);
      EXPECT_FALSE(due->IsSet());
      has_reached = true;
      ++reached_count;
    });
    if (has_reached) {
      EXPECT_LE(*look, now);
    }
    size_t set = 0;
    for (const auto& each : timers) {
      if (!each->IsSet()) continue;
      ++set;
      EXPECT_GT(each->due() + 2 * TimerWheel::kTick, now);
    }
    ASSERT_EQ(set, wheel.count());
  }
  EXPECT_GT(reached_count, 1'000);
  for (const auto& each : timers) wheel.Remove(each.get());
}

}  // namespace
}  // namespace sonde::rpc
