// Views of a store that several servers share: one of them keeps the views, and when it is gone another one goes on.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "engine/memory/cluster_member.h"
#include "sql/view/keep/kept_lease.h"
#include "sql/view/keep/view_test_support.h"
#include "sql/view/keep/view_upkeep.h"

namespace sonde::sql {
namespace {

constexpr char kNumbers[] =
    "SELECT CAST(f['k'] AS STRING) AS k, COUNT(*) AS n, MAX(f['v']) AS m FROM t GROUP BY k";

// A server over the store.
struct Server {
  Server(Engine* store, Clock* clock, std::shared_ptr<MemoryLeaseBoard> leases, uint64_t seed)
      : member(store, {.seed = seed,
                       .delay_max = absl::Milliseconds(2),
                       .lost_calls = 3,
                       .lost_answers = 3,
                       .leases = std::move(leases),
                       .lease_time = absl::Milliseconds(600)}),
        store_of(&member, clock) {
    ViewUpkeepOptions options;
    options.idle = options.rest_after_error = absl::Milliseconds(5);
    options.rest_after_unknown = absl::Milliseconds(20);
    options.renew_lease = absl::Milliseconds(50);
    options.keeper.rows_per_step = 7;
    options.keeper.writers_wait_max = absl::Milliseconds(100);
    upkeep = std::make_unique<ViewUpkeep>(
        &store_of.tables, [](const std::string&, const absl::Status&) {}, options);
  }
  // As by kill -9: what is under way gets nowhere, and the lease is not given back.
  void Kill() {
    member.CutOff(true);
    upkeep.reset();
  }
  bool Keeps() const { return !upkeep->ListProgress().empty(); }

  ClusterMember member;
  ViewStore store_of;
  std::unique_ptr<ViewUpkeep> upkeep;
};

template <typename Condition>
bool Await(const Condition& condition) {
  for (const absl::Time end = absl::Now() + absl::Seconds(60); absl::Now() < end;
       absl::SleepFor(absl::Milliseconds(5))) {
    if (condition()) return true;
  }
  return false;
}

TEST(SharedViewsTest, OneServerKeepsThemAndAnotherOneGoesOn) {
  SystemClock clock;
  const std::unique_ptr<MemoryEngine> engine = MemoryEngine::Create();
  const auto leases = std::make_shared<MemoryLeaseBoard>();
  std::vector<std::unique_ptr<Server>> servers;
  for (uint64_t i = 0; i < 2; ++i)
    servers.push_back(std::make_unique<Server>(engine.get(), &clock, leases, i + 1));
  // A client of the store, which nobody kills and which loses nothing.
  ClusterMember quiet(engine.get(), {.seed = 99});
  ViewStore store(&quiet, &clock);
  store.CreateTable();
  for (int i = 0; i < 50; ++i)
    ASSERT_EQ(store.Mutate("r" + std::to_string(i), {SetCell{"f", "k", 0, std::to_string(i % 5)}}),
              absl::OkStatus());
  ASSERT_EQ(store.CreateView("v", kNumbers), absl::OkStatus());
  std::atomic<bool> ends = false;
  std::thread writer([&] {
    std::mt19937 random(5);
    while (!ends) {
      const std::string row = "r" + std::to_string(random() % 60);
      const std::string value = std::to_string(random() % 1'000);
      const std::vector<Mutation> mutations =
          random() % 4 == 0
              ? std::vector<Mutation>{DeleteFromRow{}}
              : std::vector<Mutation>{SetCell{"f", "k", 0, value.substr(0, 1)}, SetCell{"f", "v", 0, value}};
      EXPECT_EQ(store.Mutate(row, mutations), absl::OkStatus());
      absl::SleepFor(absl::Milliseconds(1));
    }
  });
  for (uint64_t round = 0; round < 4; ++round) {
    ASSERT_TRUE(Await([&] { return servers[0]->Keeps() != servers[1]->Keeps(); }));
    absl::SleepFor(absl::Milliseconds(300));
    EXPECT_FALSE(servers[0]->Keeps() && servers[1]->Keeps());
    const size_t keeping = servers[0]->Keeps() ? 0 : 1;
    servers[keeping]->Kill();
    ASSERT_TRUE(Await([&] { return servers[1 - keeping]->Keeps(); })) << round;
    servers[keeping] = std::make_unique<Server>(engine.get(), &clock, leases, round + 10);
  }
  ends = true;
  writer.join();
  EXPECT_TRUE(Await([&] { return store.Shown("v") == store.Expected("v"); }))
      << store.Shown("v") << "and not\n"
      << store.Expected("v");
}

TEST(SharedViewsTest, WhoDoesNotHoldTheLeaseWritesNothing) {
  const std::unique_ptr<MemoryEngine> engine = MemoryEngine::Create();
  const auto leases = std::make_shared<MemoryLeaseBoard>();
  ASSERT_EQ(engine->CreateTable({.id = 1}), absl::OkStatus());
  const auto put = [](Engine* to) {
    return to->Apply(1, {{"row", {.families = {{.family = 1, .puts = {{"q", 0, "v"}}}}}}});
  };
  ClusterMember one(engine.get(), {.leases = leases}), other(engine.get(), {.leases = leases});
  auto held = std::make_unique<KeptLease>(&one, "views", absl::Milliseconds(20));
  ASSERT_TRUE(Await([&] { return held->IsHeld(); }));
  KeptLease waits(&other, "views", absl::Milliseconds(20));
  absl::SleepFor(absl::Milliseconds(200));
  EXPECT_FALSE(waits.IsHeld());
  EXPECT_EQ(put(held->engine()), absl::OkStatus());
  EXPECT_TRUE(absl::IsUnavailable(put(waits.engine())));
  const uint64_t before = waits.holding();
  held.reset();  // gives it back
  ASSERT_TRUE(Await([&] { return waits.IsHeld(); }));
  EXPECT_NE(waits.holding(), before);
  EXPECT_EQ(put(waits.engine()), absl::OkStatus());
  // A store of one server needs no lease; one that has none has no keeper.
  EXPECT_TRUE(KeptLease(engine.get(), "views", absl::Seconds(1)).IsHeld());
  ClusterMember without(engine.get(), {});
  EXPECT_FALSE(KeptLease(&without, "views", absl::Milliseconds(1)).IsHeld());
}

}  // namespace
}  // namespace sonde::sql
