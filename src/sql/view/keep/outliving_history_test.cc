// Random histories of views that outlive their source: such a view is what its query gives over a table in which nothing expires.
//
// That table has the same changes, and no rules.  Changes that are of cells which have expired already are not among them, but for
// deletions of all that the view reads of a row.
// SONDE_VIEW_HISTORIES=10000 runs the large size (scripts/nightly); SONDE_VIEW_SEED the first seed.
#include <gtest/gtest.h>

#include <iterator>
#include <random>

#include "sql/view/keep/dying_engine_test_support.h"
#include "sql/view/keep/view_test_support.h"

namespace sonde::sql {
namespace {

struct Definition {
  const char* hints;
  const char* query;
  const char* condition;  // of groups that are kept, with the first time; empty: all are
  std::string_view family;
};

constexpr char kByHourOfDay[] =
    "SELECT kind AS kind, TIMESTAMP_TRUNC(_timestamp, HOUR) AS _timestamp, SUM(SAFE_CAST(SAFE_CAST(v AS "
    "STRING) AS "
    "FLOAT64)) AS s, MIN(v) AS m, COUNT(*) AS n FROM UNPACK((SELECT SUBSTR(CAST(_key AS STRING), 1, 1) AS "
    "kind, "
    "day['v'] AS v FROM t(with_history => TRUE)))";
constexpr Definition kDefinitions[] = {
    {"@{outlive_source=true} ", kByHourOfDay, "", "day"},
    {"@{outlive_source=true, retain='3d'} ", kByHourOfDay,
     " WHERE TIMESTAMP_TRUNC(_timestamp, HOUR) >= TIMESTAMP_MICROS({})", "day"},
    {"@{outlive_source=true} ",
     "SELECT CAST(k AS STRING) AS k, COUNT(*) AS n, COUNT(v) AS `r.v`, MAX(v) AS m FROM UNPACK((SELECT "
     "day['k'] AS k, "
     "day['v'] AS v FROM t(with_history => TRUE))) WHERE k IS NOT NULL",
     "", "day"},
    {"@{outlive_source=true} ",
     "SELECT TIMESTAMP_TRUNC(_timestamp, HOUR) AS hour, COUNT(v) AS n, MAX(v) AS m FROM UNPACK((SELECT "
     "two['v'] AS v "
     "FROM t(with_history => TRUE)))",
     "", "two"},
};
constexpr const char* kGroupBy[] = {" GROUP BY kind, 2", " GROUP BY kind, 2", " GROUP BY k",
                                    " GROUP BY hour"};
constexpr int64_t kRetain = 3 * kViewTestDay;

class OutlivingHistory {
 public:
  explicit OutlivingHistory(uint64_t seed) : random_(seed), definition_(Below(std::size(kDefinitions))) {
    options_.rows_per_step = 1 + Below(6);
    options_.shape.bits = 1 + static_cast<int>(Below(3));
    rows_ = 1 + Below(12);
    for_ever_.CreateTable(/*has_rules=*/false);
    Restart();
    store_->CreateTable();
    EXPECT_EQ(store_->CreateView("v", std::string(of().hints) + of().query + kGroupBy[definition_]),
              absl::OkStatus());
    Restart();
    CatchUp();
  }

  void Run(int operations) {
    for (int i = 0; i < operations && !testing::Test::HasFailure(); ++i) {
      Operate();
      if (Below(16) == 0) Compare();
    }
    Compare();
  }

 private:
  const Definition& of() const { return kDefinitions[definition_]; }
  uint64_t Below(uint64_t end) { return random_() % end; }

  void Restart() {
    keepers_.reset();
    store_.reset();
    store_ = std::make_unique<ViewStore>(&engine_, &clock_);
    keepers_ = std::make_unique<ViewKeepers>(store_.get(), options_);
  }

  std::string Row() {
    const uint64_t row = Below(rows_);
    return std::string(1, static_cast<char>('a' + row % 3)) + std::to_string(row);
  }
  // A time that has not expired: of `two`, whose rule counts versions, newer than all others.
  int64_t Time() {
    const int64_t now = clock_.NowMicros() / 1'000 * 1'000;
    if (of().family == "day") return now - static_cast<int64_t>(Below(24)) * 1'800 * kViewTestSecond;
    newest_ = std::max(newest_ + 1'000, now);
    return newest_;
  }

  void Mutate() {
    const std::string row = Row();
    const std::string_view qualifier = Below(3) == 0 ? "k" : "v";
    const std::string text = std::to_string(Below(4));
    const int64_t time = Time();
    std::vector<Mutation> mutations;
    switch (Below(12)) {
      case 0:
        mutations.emplace_back(DeleteFromRow{});
        break;
      case 1:
        mutations.emplace_back(DeleteFromFamily{of().family});
        break;
      case 2:
        // Of a rule that counts versions nobody knows which cells are not collected yet.
        if (of().family != "day") return;
        mutations.emplace_back(
            DeleteFromColumn{of().family, qualifier, {time, time + 3'600 * kViewTestSecond}});
        break;
      case 3:
        mutations.emplace_back(DeleteFromRow{});
        [[fallthrough]];
      default:
        mutations.emplace_back(SetCell{of().family, qualifier, time, text});
        mutations.emplace_back(SetCell{"f", "v", time, text});
    }
    ASSERT_EQ(store_->Mutate(row, mutations), absl::OkStatus());
    ASSERT_EQ(for_ever_.Mutate(row, mutations), absl::OkStatus());
  }

  void Drop() {
    const RowRange range = RowRange::Prefix(Row().substr(0, 1 + Below(2)));
    ASSERT_EQ(store_->tables.DropRowRange(*store_->Table(), range), absl::OkStatus());
    ASSERT_EQ(for_ever_.tables.DropRowRange(*for_ever_.Table(), range), absl::OkStatus());
  }

  // A view that is a day behind does not learn of deletions meanwhile, as the log no longer has them.
  void Wait(int64_t micros) {
    if (clock_.NowMicros() + micros - caught_up_micros_ > kViewTestDay * 5 / 6) CatchUp();
    clock_.Advance(micros);
  }

  void CatchUp() {
    ASSERT_EQ(keepers_->CatchUp(), absl::OkStatus());
    caught_up_micros_ = clock_.NowMicros();
  }

  // The process is killed while it keeps the view, or while it collects.
  void Die() {
    engine_.DieAfter(1 + Below(30));
    for (uint64_t step = 0; step < 1 + Below(4) && !engine_.is_dead(); ++step) {
      const absl::Status status = Below(2) == 0 ? keepers_->Step(0) : store_->streams.Upkeep();
      ASSERT_TRUE(status.ok() || engine_.is_dead()) << status;
    }
    engine_.LiveOn();
    Restart();
  }

  void Operate() {
    switch (Below(24)) {
      case 0:
        return Drop();
      case 1:
      case 2:
        return Wait(static_cast<int64_t>(Below(43'200)) * kViewTestSecond);
      case 3:
      case 4:
        ASSERT_EQ(store_->streams.Upkeep(), absl::OkStatus());
        return;
      case 5:
        return Restart();
      case 6:
      case 7:
      case 8:
        ASSERT_EQ(keepers_->Step(0), absl::OkStatus());
        return;
      case 9:
      case 10:
        return Die();
      default:
        return Mutate();
    }
  }

  void Compare() {
    clock_.Advance(3'600 * kViewTestSecond);  // a sweep is due
    CatchUp();
    if (Below(2) == 0) {
      ASSERT_EQ(store_->streams.Upkeep(), absl::OkStatus());
      CatchUp();
    }
    std::string condition = of().condition;
    if (const size_t place = condition.find("{}"); place != std::string::npos)
      condition.replace(place, 2, std::to_string(clock_.NowMicros() - kRetain));
    const std::string query = of().query + condition + kGroupBy[definition_];
    ASSERT_EQ(store_->Shown("v"), for_ever_.ExpectedOf(query)) << query;
  }

  std::mt19937_64 random_;
  const size_t definition_;
  ManualClock clock_{kViewTestStart};
  std::unique_ptr<MemoryEngine> memory_ = MemoryEngine::Create();
  DyingEngine engine_{memory_.get()};
  std::unique_ptr<MemoryEngine> memory_for_ever_ = MemoryEngine::Create();
  ViewStore for_ever_{memory_for_ever_.get(), &clock_};
  ViewKeeperOptions options_;
  uint64_t rows_ = 0;
  int64_t newest_ = 0;
  int64_t caught_up_micros_ = 0;
  std::unique_ptr<ViewStore> store_;
  std::unique_ptr<ViewKeepers> keepers_;
};

TEST(OutlivingHistoryTest, ViewsComeToWhatTheirQueriesGiveOfATableThatForgetsNothing) {
  RunViewHistories<OutlivingHistory>(100);
}

}  // namespace
}  // namespace sonde::sql
