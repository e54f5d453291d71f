#include "upkeep/repeated_work.h"

#include <gtest/gtest.h>

#include <atomic>

#include "absl/synchronization/notification.h"

namespace sonde {
namespace {

TEST(RepeatedWork, TellsTheFirstOfErrorsInARow) {
  // An error twice, then success, then an error: two are told.
  std::atomic<int> calls = 0, told = 0;
  absl::Notification done;
  {
    const RepeatedWork work(
        absl::ZeroDuration(),
        [&]() -> absl::Status {
          const int call = ++calls;
          if (call == 5) done.Notify();
          return call == 3 || call >= 5 ? absl::OkStatus() : absl::InternalError("no");
        },
        [&](const absl::Status& error) {
          EXPECT_EQ(error, absl::InternalError("no"));
          ++told;
        });
    done.WaitForNotification();
  }
  EXPECT_EQ(told.load(), 2);
}

TEST(RepeatedWork, EndsWithoutWaitingForTheNextTime) {
  std::atomic<int> calls = 0;
  absl::Notification begun;
  {
    const RepeatedWork work(
        absl::Hours(1),
        [&] {
          ++calls;
          begun.Notify();
          return absl::OkStatus();
        },
        [](const absl::Status&) {});
    begun.WaitForNotification();
  }
  EXPECT_EQ(calls.load(), 1);
}

}  // namespace
}  // namespace sonde
