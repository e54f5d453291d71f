#include "engine/hbase/log/hbase_leases.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "base/random.h"
#include "hbase/fake_hbase_test_support.h"

namespace sonde {
namespace {

using hbase::FakeHBase;

absl::Time Soon() { return absl::Now() + absl::Seconds(30); }

class LeasesTest : public testing::Test {
 protected:
  std::unique_ptr<HBaseLeases> Open() {
    return std::make_unique<HBaseLeases>(
        client_.get(), FakeHBase::kTableName,
        HBaseLeasesOptions{.held = absl::Milliseconds(300), .lease = absl::Milliseconds(700)});
  }
  static bool Holds(Leases* leases, std::string_view name) {
    const absl::StatusOr<absl::Duration> held = leases->Hold(name, Soon());
    EXPECT_TRUE(held.ok()) << held.status();
    return held.ok() && *held > absl::ZeroDuration();
  }

  FakeHBase hbase_;
  std::unique_ptr<hbase::Client> client_ =
      *hbase::Client::Create({.roots = hbase_.roots(), .timeout = absl::Seconds(2)});
};

TEST_F(LeasesTest, OneServerHoldsAName) {
  const std::unique_ptr<HBaseLeases> one = Open(), other = Open();
  EXPECT_TRUE(Holds(one.get(), "views"));
  EXPECT_FALSE(Holds(other.get(), "views"));
  EXPECT_TRUE(Holds(other.get(), "another"));
  for (int i = 0; i < 10; ++i) {
    absl::SleepFor(absl::Milliseconds(100));
    EXPECT_TRUE(Holds(one.get(), "views"));
    EXPECT_FALSE(Holds(other.get(), "views"));
  }
  ASSERT_TRUE(one->Release("views", Soon()).ok());
  EXPECT_TRUE(Holds(other.get(), "views"));
  EXPECT_FALSE(Holds(one.get(), "views"));
  ASSERT_TRUE(one->Release("views", Soon()).ok()) << "it is not its own";
  EXPECT_FALSE(Holds(one.get(), "views"));
  // A server that is gone is missed after its lease.
  absl::SleepFor(absl::Milliseconds(800));
  EXPECT_TRUE(Holds(one.get(), "views"));
}

TEST_F(LeasesTest, NoTwoServersHoldANameAtOnce) {
  hbase_.SetFaults({.lost_calls = 30, .lost_answers = 30, .refusals = 30});
  std::atomic<int> holders = 0, turns = 0;
  std::atomic<bool> ends = false;
  std::vector<std::thread> servers;
  for (int i = 0; i < 4; ++i) {
    servers.emplace_back([&, i] {
      SeededRandom random(i);
      while (!ends) {
        const std::unique_ptr<HBaseLeases> leases = Open();
        for (int step = 0; step < 20 && !ends; ++step) {
          const absl::StatusOr<absl::Duration> held = leases->Hold("name", Soon());
          if (held.ok() && *held > absl::Milliseconds(100)) {
            EXPECT_EQ(++holders, 1);
            ++turns;
            absl::SleepFor(absl::Milliseconds(random.Uniform(50)));
            --holders;
          }
          absl::SleepFor(absl::Milliseconds(random.Uniform(100)));
        }
        if (random.Uniform(2) == 0) leases->Release("name", Soon()).IgnoreError();
      }
    });
  }
  absl::SleepFor(absl::Seconds(6));
  ends = true;
  for (std::thread& server : servers) server.join();
  EXPECT_GT(turns, 20);
}

}  // namespace
}  // namespace sonde
