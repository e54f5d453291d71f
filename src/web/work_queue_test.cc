#include "web/work_queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>

#include "absl/synchronization/notification.h"

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
