// Kills a process that writes a table and keeps its views, with SIGKILL, and looks whether the views come to what their queries give.
//
//   sonde_view_kill_test                     SONDE_VIEW_KILLS=N kills, SONDE_TEST_SEED=S of the moments
//   sonde_view_kill_test --write DIR SEED    what is killed
//
// Each kill is at another moment: of populating, of following, of a commit.  Each life begins with what the one before left, and is
// looked at after each kill: views that are brought up to date by this process are those that their queries give.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "engine/rocks/rocks_engine.h"
#include "sql/view/keep/view_test_support.h"
#include "sql/view/keep/view_upkeep.h"
#include "temporary_directory.h"
#include "writer_process.h"

namespace sonde::sql {
namespace {

constexpr const char* kQueries[] = {
    "SELECT CAST(f['k'] AS STRING) AS k, COUNT(*) AS n, SUM(SAFE_CAST(SAFE_CAST(f['v'] AS STRING) AS INT64)) "
    "AS `r.s`, "
    "MAX(f['v']) AS m FROM t GROUP BY k",
    "SELECT TIMESTAMP_TRUNC(_timestamp, HOUR) AS hour, COUNT(v) AS n, AVG(SAFE_CAST(SAFE_CAST(v AS STRING) "
    "AS FLOAT64)) AS a "
    "FROM UNPACK((SELECT two['v'] AS v FROM t(with_history => TRUE))) GROUP BY hour",
    "SELECT f['v'] AS v, _key AS id, CAST(f['k'] AS STRING) AS k FROM t WHERE f['v'] IS NOT NULL ORDER BY v, "
    "id",
};

uint64_t NumberFrom(const char* name, uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

ViewKeeperOptions KeeperOptions() {
  ViewKeeperOptions options;
  options.rows_per_step = 16;
  options.shape.bits = 3;
  options.writers_wait_max = absl::ZeroDuration();
  return options;
}

RocksOptions EngineOptions(const std::string& directory) {
  return {.data_dir = directory, .memory_bytes = 32 << 20, .sync = false};
}

void WriteForEver(ViewStore* store, uint64_t seed) {
  std::mt19937_64 random(seed);
  while (true) {
    const std::string row = "r" + std::to_string(random() % 300);
    const std::string value = std::to_string(random() % 1'000);
    const std::string kind(1, static_cast<char>('a' + random() % 5));
    const int64_t time = static_cast<int64_t>(random() % 5) * 3'600 * kViewTestSecond;
    std::vector<Mutation> mutations;
    switch (random() % 6) {
      case 0:
        mutations.emplace_back(DeleteFromRow{});
        break;
      case 1:
        mutations.emplace_back(DeleteFromColumn{"f", "v", {}});
        break;
      default:
        mutations.emplace_back(SetCell{"f", "k", time, kind});
        mutations.emplace_back(SetCell{"f", "v", time, value});
        mutations.emplace_back(SetCell{"two", "v", time, value});
    }
    if (!store->Mutate(row, mutations).ok()) std::abort();
    // What has changed is computed when it is looked at, in steps that are small.
    std::this_thread::sleep_for(std::chrono::microseconds(500));
  }
}

// Ends only when it is killed.
int Write(const std::string& directory, uint64_t seed) {
  auto engine = RocksEngine::Open(EngineOptions(directory));
  if (!engine.ok()) return 1;
  SystemClock clock;
  ViewStore store(engine->get(), &clock);
  if (!store.catalog->Find(store.TableName()).ok()) store.CreateTable();
  ViewUpkeepOptions options;
  options.idle = absl::Milliseconds(1);
  options.keeper = KeeperOptions();
  const ViewUpkeep upkeep(
      &store.tables, [](const std::string&, const absl::Status&) { std::abort(); }, options);
  std::thread writer([&] { WriteForEver(&store, seed); });
  std::thread other([&] { WriteForEver(&store, seed + 1); });
  // A view that comes while others write is populated meanwhile.
  for (size_t i = 0; i < std::size(kQueries); ++i) {
    const std::string name = "v" + std::to_string(i);
    if (store.catalog->FindMaterializedView(store.ViewName(name)).ok()) continue;
    if (!store.CreateView(name, kQueries[i]).ok()) std::abort();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  writer.join();
  return 1;
}

void Verify(const std::string& directory) {
  auto engine = RocksEngine::Open(EngineOptions(directory));
  ASSERT_TRUE(engine.ok()) << engine.status();
  SystemClock clock;
  ViewStore store(engine->get(), &clock);
  if (!store.catalog->Find(store.TableName()).ok()) return;  // it was killed at once
  ViewKeepers keepers(&store, KeeperOptions());
  ASSERT_EQ(keepers.CatchUp(), absl::OkStatus());
  for (size_t i = 0; i < keepers.size(); ++i) {
    const std::string name = "v" + std::to_string(i);
    ASSERT_EQ(store.Shown(name), store.Expected(name)) << kQueries[i];
    ASSERT_EQ(keepers[i].Flush(), absl::OkStatus());
  }
}

TEST(ViewKillTest, ViewsAreRightAfterEachKill) {
  const uint64_t kills = NumberFrom("SONDE_VIEW_KILLS", 5);
  const uint64_t seed = NumberFrom("SONDE_TEST_SEED", std::random_device()());
  std::printf("SONDE_TEST_SEED=%llu\n", static_cast<unsigned long long>(seed));
  std::mt19937_64 random(seed);
  const TemporaryDirectory directory;
  for (uint64_t kill = 0; kill < kills && !HasFatalFailure(); ++kill) {
    auto writer = WriterProcess::Start("/proc/self/exe",
                                       {"--write", directory.path(), std::to_string(random() % 1'000'000)});
    ASSERT_TRUE(writer.ok()) << writer.status();
    std::this_thread::sleep_for(std::chrono::milliseconds(50 + random() % 700));
    const auto said = (*writer)->Kill();
    ASSERT_TRUE(said.ok()) << said.status();
    Verify(directory.path());
  }
}

}  // namespace
}  // namespace sonde::sql

int main(int argc, char** argv) {
  if (argc == 4 && std::string_view(argv[1]) == "--write") {
    return sonde::sql::Write(argv[2], std::strtoull(argv[3], nullptr, 10));
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
