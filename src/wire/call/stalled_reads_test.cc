#include "wire/call/stalled_reads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "absl/time/clock.h"

namespace sonde {
namespace {

class CountingRead final : public StalledReads::Read {
 public:
  void SuspendIfWaiting(absl::Time since) override {
    EXPECT_LT(since, absl::Now());
    ++asked_;
  }
  int asked() const { return asked_; }

 private:
  std::atomic<int> asked_ = 0;
};

TEST(StalledReads, AsksThoseThatAreThere) {
  StalledReads stalled(absl::Milliseconds(4));
  CountingRead stays, goes;
  stalled.Add(&stays);
  stalled.Add(&goes);
  while (goes.asked() == 0) absl::SleepFor(absl::Milliseconds(1));
  stalled.Remove(&goes);
  const int asked = goes.asked();
  const int stays_asked = stays.asked();
  while (stays.asked() < stays_asked + 3) absl::SleepFor(absl::Milliseconds(1));
  EXPECT_EQ(goes.asked(), asked);
  stalled.Remove(&stays);
}

}  // namespace
}  // namespace sonde
