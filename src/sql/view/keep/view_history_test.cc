// Random histories: whatever happens to a table, its views come to what their queries give.
//
// SONDE_VIEW_HISTORIES=10000 runs the large size (scripts/nightly); SONDE_VIEW_SEED the first seed.
#include <gtest/gtest.h>

#include <deque>
#include <iterator>
#include <random>

#include "sql/view/keep/dying_engine_test_support.h"
#include "sql/view/keep/view_test_support.h"

namespace sonde::sql {
namespace {

// The cells of a row are keys of groups (k), numbers (v, some of them none), and times.
constexpr const char* kQueries[] = {
    "SELECT CAST(f['k'] AS STRING) AS k, COUNT(*) AS n, COUNT(f['v']) AS `r.v`, "
    "SUM(SAFE_CAST(SAFE_CAST(f['v'] AS STRING) AS INT64)) AS `r.s`, AVG(SAFE_CAST(SAFE_CAST(f['v'] AS "
    "STRING) AS FLOAT64)) AS `r.a`, "
    "MIN(f['v']) AS `m.min`, MAX(f['v']) AS `m.max` FROM t GROUP BY k",
    "SELECT '*' AS _key, COUNT(*) AS `result.count`, BIT_XOR(sum['c']) AS x, SUM(sum['c']) + 1 AS s FROM t "
    "GROUP BY _key",
    "SELECT TIMESTAMP_TRUNC(_timestamp, HOUR) AS hour, COUNT(v) AS n, MAX(v) AS m "
    "FROM UNPACK((SELECT two['v'] AS v FROM t(with_history => TRUE))) GROUP BY hour",
    "SELECT kind AS kind, TIMESTAMP_TRUNC(_timestamp, HOUR) AS _timestamp, SUM(SAFE_CAST(SAFE_CAST(v AS "
    "STRING) AS FLOAT64)) AS s, "
    "MIN(v) AS m FROM UNPACK((SELECT SUBSTR(CAST(_key AS STRING), 1, 1) AS kind, f['v'] AS v FROM "
    "t(with_history => TRUE))) "
    "GROUP BY kind, 2",
    "SELECT f['v'] AS v, _key AS id, CAST(f['k'] AS STRING) AS k, day['v'] AS d FROM t WHERE f['v'] IS NOT "
    "NULL ORDER BY v, id",
    "SELECT CAST(day['k'] AS STRING) AS k, SUM(sum['c']) AS s, BIT_OR(sum['c']) AS o FROM t GROUP BY k",
    "SELECT CAST(part AS STRING) AS part, _key AS id, COUNT(*) AS n FROM t, UNNEST(SPLIT(CAST(f['k'] AS "
    "STRING), 'a')) AS part "
    "GROUP BY part, id",
    "SELECT f['k'] AS k, _key AS id, f AS f, day AS old, two['v'] AS `two.v` FROM t ORDER BY k, id",
};
constexpr size_t kQueryCount = std::size(kQueries);

class History {
 public:
  explicit History(uint64_t seed) : random_(seed) {
    options_.rows_per_step = 1 + Below(6);
    options_.shape.bits = 1 + static_cast<int>(Below(3));
    rows_ = 1 + Below(24);
    Restart();
    store_->CreateTable();
    if (Below(2) == 0) CreateView();
  }

  void Run(int operations) {
    for (int i = 0; i < operations && !testing::Test::HasFailure(); ++i) {
      Operate();
      if (Below(12) == 0) Compare();
    }
    while (views_ < 2) CreateView();
    Compare();
  }

 private:
  uint64_t Below(uint64_t end) { return random_() % end; }

  void Restart() {
    keepers_.reset();
    store_.reset();
    store_ = std::make_unique<ViewStore>(&engine_, &clock_);
    keepers_ = std::make_unique<ViewKeepers>(store_.get(), options_);
  }

  void CreateView() {
    if (views_ == 3) return;
    const std::string query = kQueries[Below(kQueryCount)];
    ASSERT_EQ(store_->CreateView("v" + std::to_string(views_), query), absl::OkStatus()) << query;
    ++views_;
    keepers_.reset();
    keepers_ = std::make_unique<ViewKeepers>(store_.get(), options_);
  }

  std::string Row() {
    const uint64_t row = Below(rows_);
    return std::string(1, static_cast<char>('a' + row % 3)) + std::to_string(row);
  }
  std::string_view Family() {
    constexpr std::string_view kFamilies[] = {"f", "two", "day"};
    return kFamilies[Below(3)];
  }
  std::string_view Qualifier() { return Below(3) == 0 ? "k" : "v"; }
  int64_t Time() {
    const int64_t hours = static_cast<int64_t>(Below(40));
    return (clock_.NowMicros() / kViewTestSecond - hours * 1'800) * kViewTestSecond;
  }
  std::string Content(std::string_view qualifier) {
    if (qualifier == "k") return std::string(1 + Below(2), static_cast<char>('a' + Below(4)));
    if (Below(8) == 0) return "none";
    return std::to_string(static_cast<int64_t>(Below(2'000)) - 1'000);
  }

  void Mutate() {
    const std::string row = Row();
    std::deque<std::string> texts;
    std::vector<Mutation> mutations;
    for (uint64_t i = 0; i < 1 + Below(4); ++i) {
      const std::string_view qualifier = Qualifier();
      switch (Below(12)) {
        case 0:
          mutations.emplace_back(DeleteFromRow{});
          break;
        case 1:
          mutations.emplace_back(DeleteFromFamily{Family()});
          break;
        case 2:
          mutations.emplace_back(DeleteFromColumn{Family(), qualifier, {}});
          break;
        case 3: {
          const int64_t time = Time();
          mutations.emplace_back(
              DeleteFromColumn{Family(), qualifier, {time - 7'200 * kViewTestSecond, time}});
          break;
        }
        case 4:
        case 5:
          mutations.emplace_back(AddToCell{"sum", "c", Time(), static_cast<int64_t>(Below(9)) - 4});
          break;
        default:
          mutations.emplace_back(
              SetCell{Family(), qualifier, Time(), texts.emplace_back(Content(qualifier))});
      }
    }
    ASSERT_EQ(store_->Mutate(row, mutations), absl::OkStatus());
  }

  void ReadModifyWrite() {
    const std::string text = Content("v");
    const ReadModifyWriteRule rule{
        .family = "f", .qualifier = "k", .change = ReadModifyWriteRule::Append{text}};
    ASSERT_TRUE(store_->tables.ReadModifyWriteRow(store_->Table(), Row(), {&rule, 1}).ok());
  }

  void Step() {
    if (keepers_->size() == 0) return;
    ASSERT_EQ(keepers_->Step(Below(keepers_->size())), absl::OkStatus());
  }

  // Keeps a view until the process is killed, somewhere.
  void StepAndDie() {
    if (keepers_->size() == 0) return;
    engine_.DieAfter(1 + Below(40));
    for (uint64_t step = 0; step < 1 + Below(4) && !engine_.is_dead(); ++step) {
      const absl::Status status = keepers_->Step(Below(keepers_->size()));
      ASSERT_TRUE(status.ok() || engine_.is_dead()) << status;
    }
    engine_.LiveOn();
    Restart();
  }

  void Operate() {
    switch (Below(26)) {
      case 0:
        ASSERT_EQ(store_->tables.DropRowRange(*store_->Table(), RowRange::Prefix(Row().substr(0, 1))),
                  absl::OkStatus());
        return;
      case 1:
        clock_.Advance(static_cast<int64_t>(Below(43'200)) * kViewTestSecond);
        return;
      case 2:
        ASSERT_EQ(store_->streams.Upkeep(), absl::OkStatus());
        return;
      case 3:
        return Restart();
      case 4:
        return CreateView();
      case 5:
        return ReadModifyWrite();
      case 6:
      case 7:
      case 8:
      case 9:
        return Step();
      case 10:
      case 11:
        return StepAndDie();
      default:
        return Mutate();
    }
  }

  void Compare() {
    ASSERT_EQ(keepers_->CatchUp(), absl::OkStatus());  // the source is logged from here on
    ASSERT_EQ(store_->streams.Upkeep(), absl::OkStatus());
    ASSERT_EQ(keepers_->CatchUp(), absl::OkStatus());
    for (int view = 0; view < views_; ++view) {
      const std::string name = "v" + std::to_string(view);
      ASSERT_EQ(store_->Shown(name), store_->Expected(name))
          << (*store_->catalog->FindMaterializedView(store_->ViewName(name)))->query;
    }
  }

  std::mt19937_64 random_;
  ManualClock clock_{kViewTestStart};
  std::unique_ptr<MemoryEngine> memory_ = MemoryEngine::Create();
  DyingEngine engine_{memory_.get()};
  ViewKeeperOptions options_;
  uint64_t rows_ = 0;
  int views_ = 0;
  std::unique_ptr<ViewStore> store_;
  std::unique_ptr<ViewKeepers> keepers_;
};

TEST(ViewHistoryTest, ViewsComeToWhatTheirQueriesGive) { RunViewHistories<History>(150); }

}  // namespace
}  // namespace sonde::sql
