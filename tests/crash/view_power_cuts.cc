// Loses the power at every k-th call that changes the disk, while a table is written, its garbage collected and its views kept, and looks
// whether the views come to what their queries give.
//
//   sonde_view_power_cut_test          SONDE_VIEW_CUTS_EVERY=K, SONDE_TEST_SEED=S of the course and of what is lost
//
// The course is one thread's, so that each call has its place in it: changes of rows, steps of the keepers, collections, settling, and a view that
// is created beside them.  What the power failure left is opened, and the change that was under way is made again.  Views that outlive their source
// are compared with their query over a table of the same changes in which nothing expires.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>

#include "engine/rocks/rocks_engine.h"
#include "lossy_file_system.h"
#include "rocksdb/env.h"
#include "sql/view/keep/view_test_support.h"
#include "temporary_directory.h"

namespace sonde::sql {
namespace {

constexpr const char* kQueries[] = {
    "SELECT CAST(f['k'] AS STRING) AS k, COUNT(*) AS n, SUM(SAFE_CAST(SAFE_CAST(f['v'] AS STRING) AS INT64)) "
    "AS `r.s`, MAX(f['v']) AS m FROM t GROUP BY k",
    "SELECT f['v'] AS v, _key AS id, CAST(f['k'] AS STRING) AS k FROM t WHERE f['v'] IS NOT NULL ORDER BY v, "
    "id",
    "SELECT CAST(v AS STRING) AS v, TIMESTAMP_TRUNC(_timestamp, HOUR) AS _timestamp, COUNT(*) AS n FROM "
    "UNPACK((SELECT "
    "day['v'] AS v FROM t(with_history => TRUE))) GROUP BY v, 2",
};
constexpr char kOutlives[] = "@{outlive_source=true} ";
constexpr int kOperations = 60;

uint64_t NumberFrom(const char* name, uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

class Course {
 public:
  explicit Course(uint64_t seed)
      : random_(seed),
        disk_(std::make_shared<LossyFileSystem>(directory_.path(), seed, LossyFileSystem::Lies{})),
        env_(rocksdb::NewCompositeEnv(disk_)) {
    options_.rows_per_step = 5;
    options_.shape.bits = 1;
    options_.writers_wait_max = absl::ZeroDuration();
    for_ever_.CreateTable(/*has_rules=*/false);
  }

  // Runs until the call with this number loses the power; false: the course was over before.
  bool RunTo(uint64_t call) {
    Open();
    store_->CreateTable();
    for (int view = 0; view < 2; ++view) EXPECT_EQ(CreateView(view), absl::OkStatus());
    EXPECT_EQ(CreateOutliving(), absl::OkStatus());
    MakeKeepers();
    EXPECT_EQ(keepers_->CatchUp(), absl::OkStatus());
    disk_->CrashAtCall(call);
    for (int i = 0; i < kOperations && !disk_->crashed() && !testing::Test::HasFailure(); ++i) Operate(i);
    const bool crashed = disk_->crashed();
    disk_->CrashAtCall(0);
    return crashed;
  }

  void Recover() {
    disk_->CrashNow();
    Close();
    disk_->Restart();
    Open();
    MakeKeepers();
    if (!change_.empty() || !dropped_.empty()) {
      EXPECT_EQ(Change(store_.get()), absl::OkStatus());
    }
    Verify();
  }

  void Verify() {
    clock_.Advance(kViewTestSecond);
    ASSERT_EQ(keepers_->CatchUp(), absl::OkStatus());
    ASSERT_EQ(store_->streams.Upkeep(), absl::OkStatus());
    ASSERT_EQ(keepers_->CatchUp(), absl::OkStatus());
    for (const MaterializedViewRef& view : store_->catalog->ListAllMaterializedViews()) {
      const std::string id = view->name.substr(view->name.rfind('/') + 1);
      const std::string expected =
          id == "outlives" ? for_ever_.ExpectedOf(kQueries[2]) : store_->Expected(id);
      ASSERT_EQ(store_->Shown(id), expected) << view->query;
    }
  }

  uint64_t calls() const { return disk_->counts().calls; }

 private:
  void Open() {
    auto engine = RocksEngine::Open({.data_dir = directory_.path() + "/data",
                                     .memory_bytes = 8 << 20,
                                     .env = env_.get(),
                                     .page = {.cells_max = 40},
                                     .settling_step_cells_max = 20,
                                     .settling_step_bytes_max = 200});
    ASSERT_TRUE(engine.ok()) << engine.status();
    engine_ = *std::move(engine);
    store_ = std::make_unique<ViewStore>(engine_.get(), &clock_);
  }
  void Close() {
    keepers_.reset();
    store_.reset();
    engine_.reset();
  }
  void MakeKeepers() {
    keepers_.reset();
    keepers_ = std::make_unique<ViewKeepers>(store_.get(), options_);
  }
  absl::Status CreateView(int view) { return store_->CreateView("v" + std::to_string(view), kQueries[view]); }
  absl::Status CreateOutliving() {
    return store_->CreateView("outlives", std::string(kOutlives) + kQueries[2]);
  }

  uint64_t Below(uint64_t end) { return random_() % end; }

  // An error must be that of the disk.
  void Expect(const absl::Status& status) { EXPECT_TRUE(status.ok() || disk_->crashed()) << status; }

  void Operate(int number) {
    if (number == kOperations / 3) {
      Expect(CreateView(2));
      if (!disk_->crashed()) MakeKeepers();
      return;
    }
    switch (Below(10)) {
      case 0:
        clock_.Advance(static_cast<int64_t>(Below(43'200)) * kViewTestSecond);
        return;
      case 1:
        return Expect(store_->streams.Upkeep());
      case 2:
        return Expect(engine_->SwitchHeads());
      case 3:
      case 4:
      case 5:
        return Expect(keepers_->Step(Below(keepers_->size())));
      default:
        return Mutate();
    }
  }

  void Mutate() {
    change_.clear();
    dropped_.clear();
    row_ = "r" + std::to_string(Below(12));
    text_ = std::to_string(Below(4));
    const int64_t now = clock_.NowMicros() / 1'000 * 1'000;
    const int64_t time = now - static_cast<int64_t>(Below(24)) * 1'800 * kViewTestSecond;
    switch (Below(8)) {
      case 0:
        dropped_ = row_;
        break;
      case 1:
        change_.emplace_back(DeleteFromRow{});
        break;
      default:
        change_ = {SetCell{"f", "k", time, text_}, SetCell{"f", "v", time, text_},
                   SetCell{"day", "v", time, text_}};
    }
    EXPECT_EQ(Change(&for_ever_), absl::OkStatus());
    Expect(Change(store_.get()));
    if (disk_->crashed()) return;
    change_.clear();
    dropped_.clear();
  }
  // Made again it comes to the same.
  absl::Status Change(ViewStore* store) const {
    if (!dropped_.empty()) return store->tables.DropRowRange(*store->Table(), RowRange::Prefix(dropped_));
    return store->Mutate(row_, change_);
  }

  std::mt19937_64 random_;
  ManualClock clock_{kViewTestStart};
  const TemporaryDirectory directory_;
  const std::shared_ptr<LossyFileSystem> disk_;
  const std::unique_ptr<rocksdb::Env> env_;
  std::unique_ptr<MemoryEngine> memory_ = MemoryEngine::Create();
  ViewStore for_ever_{memory_.get(), &clock_};
  ViewKeeperOptions options_;
  // The change that is under way: of a row, or rows whose keys begin so that are dropped.
  std::string row_;
  std::string text_;
  std::vector<Mutation> change_;
  std::string dropped_;
  std::unique_ptr<RocksEngine> engine_;
  std::unique_ptr<ViewStore> store_;
  std::unique_ptr<ViewKeepers> keepers_;
};

TEST(ViewPowerCutTest, ViewsAreRightWhereverThePowerIsCut) {
  const uint64_t every = std::max<uint64_t>(1, NumberFrom("SONDE_VIEW_CUTS_EVERY", 43));
  const uint64_t seed = NumberFrom("SONDE_TEST_SEED", std::random_device()());
  std::printf("SONDE_TEST_SEED=%llu\n", static_cast<unsigned long long>(seed));
  uint64_t cuts = 0;
  for (uint64_t call = 1 + seed % every; !HasFailure(); call += every) {
    SCOPED_TRACE(testing::Message() << "call " << call);
    Course course(seed);
    if (!course.RunTo(call)) {
      course.Verify();
      break;
    }
    ++cuts;
    course.Recover();
  }
  std::printf("%llu cuts\n", static_cast<unsigned long long>(cuts));
  EXPECT_GT(cuts, 0U);
}

}  // namespace
}  // namespace sonde::sql
