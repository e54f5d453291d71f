#include "upkeep/table_purger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "engine/memory/memory_engine.h"

namespace sonde {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr int64_t kDay = int64_t{24} * 3'600 * 1'000'000;
constexpr int64_t kStart = 20'000 * kDay;

class TablePurgerTest : public testing::Test {
 protected:
  std::string NameOf(const std::string& id) { return "projects/p/instances/i/tables/" + id; }
  void CreateAndDelete(const std::string& id) {
    ASSERT_TRUE(catalog_->Create({.name = NameOf(id), .families = {{.name = "f"}}}).ok());
    ASSERT_EQ(catalog_->Delete(NameOf(id), clock_.NowMicros()), absl::OkStatus());
  }
  std::vector<std::string> Kept() {
    std::vector<std::string> ids;
    for (const DeletedTableRef& table : catalog_->ListDeleted()) {
      ids.push_back(table->record.schema.name.substr(NameOf("").size()));
    }
    return ids;
  }
  double Value(std::string_view name) {
    for (const Figure& figure : purger_.Figures()) {
      if (figure.name == name) return figure.samples.front().value;
    }
    return -1;
  }

  ManualClock clock_{kStart};
  std::optional<double> free_share_ = 0.5;
  std::unique_ptr<MemoryEngine> engine_ = MemoryEngine::Create();
  std::unique_ptr<Catalog> catalog_ = *Catalog::Open(engine_.get());
  TablePurger purger_{catalog_.get(),
                      engine_.get(),
                      &clock_,
                      {.keep = absl::Hours(24 * 7), .free_share = [this] { return free_share_; }}};
};

TEST_F(TablePurgerTest, DropsATableWhenItsTimeHasComeAndNotBefore) {
  CreateAndDelete("a");
  clock_.Set(kStart + kDay);
  CreateAndDelete("b");
  clock_.Set(kStart + 7 * kDay - 1);
  ASSERT_EQ(purger_.Sweep(), absl::OkStatus());
  EXPECT_THAT(Kept(), ElementsAre("a", "b"));
  EXPECT_EQ(Value("sonde_deleted_tables"), 2);
  clock_.Set(kStart + 7 * kDay);
  ASSERT_EQ(purger_.Sweep(), absl::OkStatus());
  EXPECT_THAT(Kept(), ElementsAre("b"));
  EXPECT_EQ(catalog_->Undelete(NameOf("a")).status().code(), absl::StatusCode::kNotFound);
  EXPECT_TRUE(catalog_->Undelete(NameOf("b")).ok());
  ASSERT_EQ(purger_.Sweep(), absl::OkStatus());
  EXPECT_EQ(Value("sonde_deleted_tables"), 0);
  EXPECT_EQ(Value("sonde_deleted_tables_purged_total"), 1);
}

TEST_F(TablePurgerTest, DropsOneASweepWhileTheDiskRunsLowTheOldestFirst) {
  for (const char* id : {"a", "b", "c"}) {
    CreateAndDelete(id);
    clock_.Advance(1);
  }
  free_share_ = 0.1;  // just enough
  ASSERT_EQ(purger_.Sweep(), absl::OkStatus());
  EXPECT_THAT(Kept(), ElementsAre("a", "b", "c"));
  free_share_ = 0.099;
  ASSERT_EQ(purger_.Sweep(), absl::OkStatus());
  EXPECT_THAT(Kept(), ElementsAre("b", "c"));
  ASSERT_EQ(purger_.Sweep(), absl::OkStatus());
  EXPECT_THAT(Kept(), ElementsAre("c"));
  free_share_ = std::nullopt;
  ASSERT_EQ(purger_.Sweep(), absl::OkStatus());
  EXPECT_THAT(Kept(), ElementsAre("c"));
}

TEST_F(TablePurgerTest, AClockThatWasSetBackDropsNothing) {
  CreateAndDelete("a");
  clock_.Set(kStart - 100 * kDay);
  ASSERT_EQ(purger_.Sweep(), absl::OkStatus());
  EXPECT_THAT(Kept(), ElementsAre("a"));
}

TEST_F(TablePurgerTest, TellsTheBytesThatAreHeld) {
  ASSERT_TRUE(catalog_->Create({.name = NameOf("a"), .families = {{.name = "f"}}}).ok());
  const TableId id = (*catalog_->Find(NameOf("a")))->id;
  const std::string value(10'000, 'v');
  RowDelta delta;
  const CellView cell{.qualifier = "q", .timestamp_micros = 1, .value = value};
  delta.families.push_back({.family = 1, .puts = {cell}});
  const RowChange change{"row", delta};
  ASSERT_EQ(engine_->Apply(id, absl::MakeConstSpan(&change, 1)), absl::OkStatus());
  ASSERT_EQ(catalog_->Delete(NameOf("a"), kStart), absl::OkStatus());
  ASSERT_EQ(purger_.Sweep(), absl::OkStatus());
  EXPECT_GE(Value("sonde_deleted_table_bytes"), 10'000);
  clock_.Advance(7 * kDay);
  ASSERT_EQ(purger_.Sweep(), absl::OkStatus());
  EXPECT_EQ(Value("sonde_deleted_table_bytes"), 0);
  EXPECT_THAT(Kept(), IsEmpty());
}

}  // namespace
}  // namespace sonde
