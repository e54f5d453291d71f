#include "server/process/drain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"

namespace sonde {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

// A server that notes what is asked of it, whose calls end when the test says so.
class FakeServer {
 public:
  DrainSteps Steps() {
    return {.stop_serving = [this] { Note("stop_serving"); },
            .shut_down =
                [this](absl::Duration grace) {
                  Note("shut_down " + absl::FormatDuration(grace));
                  calls_end.WaitForNotificationWithTimeout(grace);
                },
            .hurry =
                [this] {
                  Note("hurry");
                  calls_end.Notify();
                },
            .await_signal =
                [this](absl::Duration wait) {
                  const absl::MutexLock lock(&mutex_);
                  if (wait >= absl::Minutes(1)) notes_.push_back("delay " + absl::FormatDuration(wait));
                  const auto has_signal = [this]()
                                              ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return signals_ > 0; };
                  if (!mutex_.AwaitWithTimeout(absl::Condition(&has_signal),
                                               std::min(wait, absl::Milliseconds(20))))
                    return false;
                  --signals_;
                  return true;
                }};
  }
  void Signal(int count = 1) {
    const absl::MutexLock lock(&mutex_);
    signals_ += count;
  }
  std::vector<std::string> notes() {
    const absl::MutexLock lock(&mutex_);
    return notes_;
  }

  absl::Notification calls_end;

 private:
  void Note(std::string text) {
    const absl::MutexLock lock(&mutex_);
    notes_.push_back(std::move(text));
  }

  absl::Mutex mutex_;
  int signals_ ABSL_GUARDED_BY(mutex_) = 0;
  std::vector<std::string> notes_ ABSL_GUARDED_BY(mutex_);
};

TEST(Drain, IsNotReadyForTheDelayBeforeItTakesNoMoreCalls) {
  FakeServer server;
  server.calls_end.Notify();
  EXPECT_FALSE(RunDrain({.delay = absl::Minutes(2), .grace = absl::Seconds(30)}, server.Steps()));
  EXPECT_THAT(server.notes(), ElementsAre("stop_serving", "delay 2m", "shut_down 30s"));
}

TEST(Drain, WithoutADelayNothingIsWaitedFor) {
  FakeServer server;
  server.calls_end.Notify();
  EXPECT_FALSE(RunDrain({.delay = absl::ZeroDuration(), .grace = absl::Seconds(30)}, server.Steps()));
  EXPECT_THAT(server.notes(), ElementsAre("stop_serving", "shut_down 30s"));
}

TEST(Drain, ASignalInTheDelayEndsDelayAndGrace) {
  FakeServer server;
  server.Signal();
  EXPECT_TRUE(RunDrain({.delay = absl::Minutes(2), .grace = absl::Hours(1)}, server.Steps()));
  EXPECT_THAT(server.notes(), ElementsAre("stop_serving", "delay 2m", "shut_down 0"));
}

TEST(Drain, ASignalInTheGraceHurriesOnce) {
  FakeServer server;
  server.Signal(3);
  const absl::Time began = absl::Now();
  EXPECT_TRUE(RunDrain({.delay = absl::ZeroDuration(), .grace = absl::Hours(1)}, server.Steps()));
  EXPECT_LT(absl::Now() - began, absl::Minutes(1));
  // The signal may come before the thread that shuts down has begun.
  EXPECT_THAT(server.notes(), UnorderedElementsAre("stop_serving", "shut_down 1h", "hurry"));
  EXPECT_EQ(server.notes().front(), "stop_serving");
}

TEST(Drain, GoesOnWhenTheGraceIsOver) {
  FakeServer server;
  EXPECT_FALSE(RunDrain({.delay = absl::ZeroDuration(), .grace = absl::Milliseconds(50)}, server.Steps()));
  EXPECT_THAT(server.notes(), ElementsAre("stop_serving", "shut_down 50ms"));
}

}  // namespace
}  // namespace sonde
