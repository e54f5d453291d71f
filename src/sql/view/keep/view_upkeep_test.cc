#include "sql/view/keep/view_upkeep.h"

#include <gmock/gmock.h>

#include <atomic>
#include <random>
#include <thread>

#include "base/varint.h"
#include "sql/view/keep/dying_engine_test_support.h"
#include "sql/view/keep/view_test_support.h"

namespace sonde::sql {
namespace {

constexpr absl::Duration kWaitMax = absl::Seconds(60);

class ViewUpkeepTest : public testing::Test {
 protected:
  void SetUp() override {
    store_.CreateTable();
    Start();
  }

  void Start() {
    ViewUpkeepOptions options;
    options.idle = absl::Milliseconds(1);
    options.rest_after_error = absl::Milliseconds(1);
    options.keeper.rows_per_step = 7;
    upkeep_ = std::make_unique<ViewUpkeep>(
        &store_.tables,
        [this](const std::string& view, const absl::Status& error) {
          errors_.push_back(view + ": " + error.ToString());
        },
        options);
  }

  template <typename Condition>
  bool Await(const Condition& condition) {
    for (const absl::Time end = absl::Now() + kWaitMax; absl::Now() < end;
         absl::SleepFor(absl::Milliseconds(1))) {
      if (condition()) return true;
    }
    return false;
  }
  bool IsReady(const std::string& view) {
    return (*store_.catalog->FindMaterializedView(store_.ViewName(view)))->state ==
           MaterializedViewRecord::State::kReady;
  }
  absl::Status Put(const std::string& row, const std::string& value) {
    return store_.Mutate(row, {SetCell{"f", "k", 0, value.substr(0, 1)}, SetCell{"f", "v", 0, value}});
  }

  SystemClock clock_;
  std::unique_ptr<MemoryEngine> engine_ = MemoryEngine::Create();
  ViewStore store_{engine_.get(), &clock_};
  std::vector<std::string> errors_;  // by the thread of the upkeep
  std::unique_ptr<ViewUpkeep> upkeep_;
};

constexpr char kNumbers[] =
    "SELECT CAST(f['k'] AS STRING) AS k, COUNT(*) AS n, MAX(f['v']) AS m FROM t GROUP BY k";

TEST_F(ViewUpkeepTest, PopulatesWhileWritersWriteAndThenFollows) {
  for (int i = 0; i < 500; ++i) ASSERT_EQ(Put("r" + std::to_string(i), std::to_string(i)), absl::OkStatus());
  std::atomic<bool> ends = false;
  std::vector<std::thread> writers;
  for (int writer = 0; writer < 2; ++writer) {
    writers.emplace_back([&, writer] {
      std::mt19937 random(static_cast<unsigned>(writer));
      while (!ends) {
        const std::string row = "r" + std::to_string(random() % 600);
        if (random() % 4 == 0) {
          EXPECT_EQ(store_.Mutate(row, {DeleteFromRow{}}), absl::OkStatus());
        } else {
          EXPECT_EQ(Put(row, std::to_string(random() % 1'000)), absl::OkStatus());
        }
        absl::SleepFor(absl::Microseconds(200));
      }
    });
  }
  ASSERT_EQ(store_.CreateView("v", kNumbers), absl::OkStatus());
  ASSERT_EQ(store_.CreateView("w", "SELECT '*' AS _key, COUNT(*) AS n FROM t GROUP BY _key"),
            absl::OkStatus());
  EXPECT_TRUE(Await([this] {
    const auto progress = upkeep_->ListProgress();
    return progress.size() == 2 && !progress[0].progress.is_populating && !progress[1].progress.is_populating;
  }));
  absl::SleepFor(absl::Milliseconds(200));
  ends = true;
  for (std::thread& writer : writers) writer.join();
  EXPECT_TRUE(Await([this] { return IsReady("v") && IsReady("w"); }));
  EXPECT_TRUE(Await([this] { return store_.Shown("v") == store_.Expected("v"); })) << store_.Shown("v");
  EXPECT_TRUE(Await([this] { return store_.Shown("w") == store_.Expected("w"); })) << store_.Shown("w");
  upkeep_.reset();
  EXPECT_EQ(errors_, std::vector<std::string>());
}

// Two times of a row of the source are in one row of the view: a reader sees both of one state, or of the next.
TEST_F(ViewUpkeepTest, ARowOfTheViewMixesNoStatesOfARow) {
  ASSERT_EQ(store_.CreateView("v",
                              "SELECT 'x' AS k, TIMESTAMP_TRUNC(_timestamp, HOUR) AS _timestamp, MAX(v) AS m "
                              "FROM UNPACK((SELECT f['v'] AS v FROM t(with_history => TRUE))) GROUP BY k, 2"),
            absl::OkStatus());
  std::atomic<bool> ends = false;
  std::thread writer([&] {
    for (int i = 0; !ends; ++i) {
      const std::string value = std::to_string(1'000'000 + i % 100'000);
      EXPECT_EQ(store_.Mutate(
                    "r", {SetCell{"f", "v", 0, value}, SetCell{"f", "v", 3'600 * kViewTestSecond, value}}),
                absl::OkStatus());
    }
  });
  const TableId storage = (*store_.catalog->FindMaterializedView(store_.ViewName("v")))->storage->id;
  std::set<std::string> seen;
  EXPECT_TRUE(Await([&] {
    std::map<int64_t, std::string> values;
    const auto stream = engine_->Scan(storage, {RowRange::All()}, {});
    RowPiece piece;
    while (*(*stream)->Next(&piece)) {
      for (const CellView& cell : piece.cells) {
        if (cell.qualifier == "m") values[cell.timestamp_micros] = cell.value;
      }
    }
    if (!values.empty()) {
      EXPECT_EQ(values.size(), 2U);
      EXPECT_EQ(values.begin()->second, values.rbegin()->second);
      seen.insert(values.begin()->second);
    }
    return seen.size() >= 50 || HasFailure();
  }));
  ends = true;
  writer.join();
}

TEST_F(ViewUpkeepTest, LogsForAViewAsLongAsThereIsOne) {
  ASSERT_EQ(store_.CreateView("v", kNumbers), absl::OkStatus());
  ASSERT_TRUE(Await([this] { return IsReady("v"); }));
  ASSERT_NE(store_.Table()->FindLogUse(kViewLogUse), nullptr);
  EXPECT_TRUE(store_.Table()->LogsGarbage());
  ASSERT_EQ(store_.catalog->DeleteMaterializedView(store_.ViewName("v"), ""), absl::OkStatus());
  EXPECT_TRUE(Await([this] { return store_.Table()->FindLogUse(kViewLogUse) == nullptr; }));
  EXPECT_TRUE(Await([this] { return upkeep_->ListProgress().empty(); }));
}

TEST_F(ViewUpkeepTest, GoesOnAfterARestart) {
  ASSERT_EQ(store_.CreateView("v", kNumbers), absl::OkStatus());
  ASSERT_TRUE(Await([this] { return IsReady("v"); }));
  upkeep_.reset();
  ASSERT_EQ(Put("r", "5"), absl::OkStatus());
  EXPECT_EQ(store_.Shown("v"), "");
  Start();
  EXPECT_TRUE(Await([this] { return store_.Shown("v") == store_.Expected("v"); }));
  const auto progress = upkeep_->ListProgress();
  ASSERT_EQ(progress.size(), 1U);
  EXPECT_EQ(progress[0].progress.populated_rows, 0U) << "what was populated is not populated again";
  EXPECT_EQ(progress[0].progress.changed_rows, 1U);
}

TEST_F(ViewUpkeepTest, SaysThatAViewCannotKeepUp) {
  upkeep_.reset();
  DyingEngine dying(engine_.get());
  ViewStore store(&dying, &clock_);
  ASSERT_EQ(store.CreateView("v", kNumbers), absl::OkStatus());
  ViewUpkeepOptions options;
  options.idle = options.rest_after_error = options.lag_look = absl::Milliseconds(1);
  options.lag_noticed = absl::Milliseconds(20);
  const ViewUpkeep upkeep(&store.tables, [](const std::string&, const absl::Status&) {}, options);
  ASSERT_TRUE(Await([&] {
    return (*store.catalog->FindMaterializedView(store.ViewName("v")))->state ==
           MaterializedViewRecord::State::kReady;
  }));
  ASSERT_EQ(store.Mutate("r", {SetCell{"f", "k", 0, "x"}}), absl::OkStatus());
  ASSERT_TRUE(Await([&] { return store.Shown("v") != ""; }));
  EXPECT_EQ(upkeep.ListProgress()[0].finding, "");
  dying.LoseTable((*store.catalog->FindMaterializedView(store.ViewName("v")))->workings->id);
  ASSERT_EQ(store.Mutate("r", {SetCell{"f", "k", 0, "y"}}), absl::OkStatus());
  ASSERT_TRUE(Await([&] { return !upkeep.ListProgress()[0].finding.empty(); }));
  EXPECT_THAT(
      upkeep.ListProgress()[0].finding,
      testing::MatchesRegex(
          "The view is [0-9]+ s behind its table and does not come nearer: the table changes faster than the "
          "view is computed. When it is behind by 24 h, all rows are computed anew"));
  EXPECT_EQ(upkeep.ListProgress()[0].error, "dead");
}

TEST_F(ViewUpkeepTest, TellsHowFarViewsAre) {
  ASSERT_EQ(store_.CreateView("v", kNumbers), absl::OkStatus());
  ASSERT_TRUE(Await([this] { return IsReady("v"); }));
  ASSERT_EQ(Put("r", "5"), absl::OkStatus());
  ASSERT_TRUE(Await([this] { return store_.Shown("v") != ""; }));
  std::map<std::string, double> figures;
  for (const Figure& figure : upkeep_->Figures()) {
    ASSERT_EQ(figure.samples.size(), 1U) << figure.name;
    EXPECT_EQ(figure.samples[0].labels, (Figure::Labels{{"view", store_.ViewName("v")}}));
    figures[figure.name] = figure.samples[0].value;
  }
  EXPECT_EQ(figures.at("sonde_view_changed_rows_total"), 1);
  EXPECT_EQ(figures.at("sonde_view_populating"), 0);
  EXPECT_EQ(figures.at("sonde_view_rows_left_out_total"), 0);
  EXPECT_EQ(figures.at("sonde_view_groups_left_out_total"), 0);
  EXPECT_EQ(figures.at("sonde_view_failing"), 0);
  EXPECT_LT(figures.at("sonde_view_lag_seconds"), 60);
  EXPECT_GT(figures.at("sonde_view_applied_seconds"), 1'000'000'000);
}

TEST_F(ViewUpkeepTest, IsAskedBeforeCellsAreCollectedThatAViewOutlives) {
  ASSERT_EQ(store_.CreateView(
                "v",
                "@{outlive_source=true} SELECT CAST(v AS STRING) AS v, COUNT(*) AS n FROM UNPACK((SELECT "
                "day['v'] AS v FROM t(with_history => TRUE))) GROUP BY v"),
            absl::OkStatus());
  ASSERT_TRUE(Await([this] { return IsReady("v"); }));
  const int64_t expired = clock_.NowMicros() / kViewTestSecond * kViewTestSecond - 2 * kViewTestDay;
  ASSERT_EQ(store_.Mutate("a", {SetCell{"day", "v", expired, "x"}}), absl::OkStatus());
  ASSERT_TRUE(Await([this] { return !store_.Shown("v").empty(); }));
  const std::string shown = store_.Shown("v");
  ASSERT_EQ(store_.streams.Upkeep(), absl::OkStatus());
  RowPiece piece;
  EXPECT_FALSE(*(*engine_->Scan(store_.Table()->id, {RowRange::All()}, {}))->Next(&piece));
  EXPECT_EQ(*upkeep_->ListKept(*store_.Table(), RowRange::All(), 10), std::vector<std::string>{"a"});
  EXPECT_EQ(store_.Shown("v"), shown);
  // While nobody keeps views, nothing is collected.
  upkeep_.reset();
  ASSERT_EQ(store_.Mutate("b", {SetCell{"day", "v", expired, "x"}}), absl::OkStatus());
  EXPECT_TRUE(absl::IsUnavailable(store_.streams.Upkeep()));
  EXPECT_TRUE(errors_.empty());
}

}  // namespace
}  // namespace sonde::sql
