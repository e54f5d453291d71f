#include "base/steady_cond_var.h"

#include <gtest/gtest.h>

#include <thread>

#include "absl/time/clock.h"

namespace sonde {
namespace {

struct Flag {
  bool WaitFor(absl::Duration timeout) {
    const absl::MutexLock lock(&mutex);
    return changed.WaitFor(&mutex, timeout, absl::Condition(&value));
  }
  void Set() {
    {
      const absl::MutexLock lock(&mutex);
      value = true;
    }
    changed.SignalAll();
  }

  absl::Mutex mutex;
  SteadyCondVar changed;
  bool value ABSL_GUARDED_BY(mutex) = false;
};

TEST(SteadyCondVar, ReturnsAtOnceWhatIsTrueAlready) {
  Flag flag;
  flag.Set();
  EXPECT_TRUE(flag.WaitFor(absl::InfiniteDuration()));
  EXPECT_TRUE(flag.WaitFor(-absl::Seconds(1)));
}

TEST(SteadyCondVar, GivesUpWhenTheTimeIsOver) {
  Flag flag;
  const absl::Time start = absl::Now();
  EXPECT_FALSE(flag.WaitFor(absl::Milliseconds(20)));
  EXPECT_GE(absl::Now() - start, absl::Milliseconds(20));
  EXPECT_FALSE(flag.WaitFor(-absl::Seconds(1)));
}

TEST(SteadyCondVar, GivesTheMutexBackWhileItWaits) {
  Flag flag;
  std::thread setter([&flag] { flag.Set(); });
  EXPECT_TRUE(flag.WaitFor(absl::InfiniteDuration()));
  setter.join();
}

}  // namespace
}  // namespace sonde
