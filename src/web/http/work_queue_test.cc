#include "web/http/work_queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>

#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"

namespace sonde {
namespace {

TEST(WorkQueue, UrgentTasksHaveThreadsOfTheirOwn) {
  absl::Notification go_on;
  absl::Notification is_urgent_done;
  std::atomic<int> done = 0;
  WorkQueue queue(2, 1);
  for (int i = 0; i < 10; ++i) {
    queue.Add(
        [&] {
          go_on.WaitForNotification();
          ++done;
        },
        false);
  }
  queue.Add([&] { is_urgent_done.Notify(); }, true);
  is_urgent_done.WaitForNotification();
  EXPECT_EQ(done, 0);
  go_on.Notify();
}

TEST(WorkQueue, IsQuietWhileHalfOfItsThreadsHaveNoTask) {
  absl::Notification go_on;
  std::atomic<int> begun = 0;
  WorkQueue queue(4, 1);
  const auto add = [&] {
    queue.Add(
        [&] {
          ++begun;
          go_on.WaitForNotification();
        },
        false);
  };
  const auto becomes = [&](bool is_quiet) {
    for (int i = 0; i < 1'000 && queue.IsQuiet() != is_quiet; ++i) absl::SleepFor(absl::Milliseconds(5));
    return queue.IsQuiet() == is_quiet;
  };
  EXPECT_TRUE(becomes(true));
  for (int i = 0; i < 2; ++i) add();
  while (begun < 2) absl::SleepFor(absl::Milliseconds(1));
  EXPECT_TRUE(becomes(true));
  add();
  while (begun < 3) absl::SleepFor(absl::Milliseconds(1));
  EXPECT_TRUE(becomes(false));
  go_on.Notify();
  EXPECT_TRUE(becomes(true));
}

TEST(WorkQueue, DoesAllBeforeItEnds) {
  std::atomic<int> done = 0;
  {
    WorkQueue queue(3, 1);
    for (int i = 0; i < 1'000; ++i) queue.Add([&] { ++done; }, i % 7 == 0);
  }
  EXPECT_EQ(done, 1'000);
}

}  // namespace
}  // namespace sonde
