#include "work/turn_clock.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "base/busy_processes.h"

namespace sonde {
namespace {

constexpr absl::Duration kPause = absl::Milliseconds(50);

// The time that the clock counts of a second in which, on average, so many threads ran and waited.
absl::Duration Second(TurnClock* clock, TurnClock::ProcessorTimes* times, double ran, double waited) {
  const absl::Duration before = clock->Now();
  for (int i = 0; i < 20; ++i) {
    times->passed += kPause;
    times->ran += kPause * ran;
    times->waited += kPause * waited;
    clock->Learn(*times);
    clock->Beat(kPause);
  }
  return clock->Now() - before;
}

TEST(TurnClock, CountsAllTimeOfAServerThatHasItsProcessors) {
  const auto second_of = [](double ran, double waited) {
    TurnClock clock(2);
    TurnClock::ProcessorTimes times;
    return absl::ToDoubleSeconds(Second(&clock, &times, ran, waited));
  };
  EXPECT_NEAR(second_of(0, 0), 1, 0.001);  // idle, or waiting for a disk
  EXPECT_NEAR(second_of(1, 0), 1, 0.001);
  EXPECT_NEAR(second_of(2, 30), 1, 0.001);  // its own load, far too much of it
}

TEST(TurnClock, CountsTheShareOfAServerWhoseProcessorsOthersTook) {
  TurnClock clock(2);
  TurnClock::ProcessorTimes times;
  Second(&clock, &times, 0.5, 30);
  EXPECT_NEAR(absl::ToDoubleSeconds(Second(&clock, &times, 0.5, 30)), 0.25, 0.01);
  Second(&clock, &times, 0.1, 0.9);
  EXPECT_NEAR(absl::ToDoubleSeconds(Second(&clock, &times, 0.1, 0.9)), 0.1, 0.01);
  Second(&clock, &times, 1, 0);
  EXPECT_NEAR(absl::ToDoubleSeconds(Second(&clock, &times, 1, 0)), 1, 0.01);
}

TEST(TurnClock, CountsLittleOfATimeInWhichNothingRan) {
  TurnClock clock(2);
  clock.Beat(absl::Hours(8));
  EXPECT_EQ(clock.Now(), TurnClock::kBeatCountedMax);
  clock.Beat(absl::Milliseconds(10));
  EXPECT_EQ(clock.Now(), TurnClock::kBeatCountedMax + absl::Milliseconds(10));
}

TEST(TurnClock, AShareIsThatOfTheProcessorsThatWereWanted) {
  EXPECT_EQ(ShareOfProcessors(0, 0, 4), 1);
  EXPECT_EQ(ShareOfProcessors(4, 60, 4), 1);
  EXPECT_EQ(ShareOfProcessors(4.1, 0, 4), 1);  // what is measured is never exact
  EXPECT_EQ(ShareOfProcessors(1, 1, 4), 0.5);
  EXPECT_EQ(ShareOfProcessors(1, 30, 4), 0.25);
  EXPECT_EQ(ShareOfProcessors(0.5, 30, 0.5), 1);             // all of a container's quota
  EXPECT_DOUBLE_EQ(ShareOfProcessors(0.01, 0.01, 4), 0.99);  // it hardly wants any
}

TEST(TurnClock, MovesByItself) {
  const auto clock = TurnClock::Start();
  const absl::Time deadline = absl::Now() + absl::Seconds(30);
  while (clock->Now() < absl::Milliseconds(50) && absl::Now() < deadline) absl::SleepFor(TurnClock::kBeat);
  EXPECT_GE(clock->Now(), absl::Milliseconds(50));
}

// The share of a server whose thread wants to work all the time on one processor, which `others_count` others
// want, too.
double ShareBeside(int others_count) {
  const BusyProcesses others(others_count);
  const auto clock = TurnClock::Start();
  std::atomic<bool> ends = false;
  std::thread worker([&] {
    const TurnClock::WatchedThread watched(clock.get());
    while (!ends) {
    }
  });
  absl::SleepFor(absl::Milliseconds(500));  // until it has learned
  const absl::Duration before = clock->Now();
  const absl::Time begin = absl::Now();
  absl::SleepFor(absl::Seconds(1));
  const double share = absl::FDivDuration(clock->Now() - before, absl::Now() - begin);
  ends = true;
  worker.join();
  return share;
}

// By the kernel's own figures.
TEST(TurnClock, IsSlowWhereTheKernelGivesTheProcessorToOthers) {
  if (access("/proc/thread-self/schedstat", R_OK) != 0) GTEST_SKIP() << "this kernel does not count";
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    cpu_set_t set, one;
    sched_getaffinity(0, sizeof set, &set);
    CPU_ZERO(&one);
    for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++i) {
      if (CPU_ISSET(i, &set)) CPU_SET(i, &one);
    }
    if (sched_setaffinity(0, sizeof one, &one) != 0) _exit(77);
    _exit(ShareBeside(7) < 0.5 ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 77) GTEST_SKIP() << "no processor can be chosen here";
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

}  // namespace
}  // namespace sonde
