#include "filter/filter_budget.h"

#include <gtest/gtest.h>

namespace sonde {
namespace {

TEST(FilterBudget, AsksWhetherItIsInterruptedNowAndThen) {
  int asked = 0;
  FilterBudget budget({},
                      [&] { return ++asked < 3 ? absl::OkStatus() : absl::DeadlineExceededError("late"); });
  uint64_t done = 0;
  while (budget.Work(1'000)) done += 1'000;
  EXPECT_EQ(asked, 3);
  EXPECT_EQ(budget.status(), absl::DeadlineExceededError("late"));
  EXPECT_GT(done, 2 * FilterBudget::kUnitsPerCheck);
  EXPECT_LE(done, 3 * FilterBudget::kUnitsPerCheck);
  EXPECT_FALSE(budget.Work(0));
  EXPECT_FALSE(budget.AdmitCopies(1, 1));
  EXPECT_EQ(asked, 3);
}

TEST(FilterBudget, RefusesByNameLimitAndValue) {
  FilterBudget copies({.copied_cells_max = 10});
  EXPECT_TRUE(copies.AdmitCopies(11, 1));
  EXPECT_TRUE(copies.AdmitCopies(20, 10));
  EXPECT_FALSE(copies.AdmitCopies(21, 10));
  EXPECT_EQ(copies.status(), absl::ResourceExhaustedError(
                                 "the filter makes 21 or more copies of cells of a row of 10 cells, at "
                                 "most 20 are allowed"));
}

// A clock that a test sets.
class FilterBudgetTime : public testing::Test {
 protected:
  FilterBudget Make(FilterLimits limits) {
    return FilterBudget(limits, {}, [this] { return now_nanos_; });
  }
  void Pass(int64_t milliseconds) { now_nanos_ += milliseconds * 1'000'000; }
  int64_t now_nanos_ = 0;
};

TEST_F(FilterBudgetTime, ARowMayTakeTheMoreTheLargerItIs) {
  FilterBudget budget = Make({.row_cpu_ms = 5, .row_cpu_ms_per_mib = 10});
  budget.StartRow(3 << 19);
  EXPECT_TRUE(budget.Check());  // the row's time begins when it is first looked at
  for (int i = 0; i < 19; ++i) {
    Pass(1);
    EXPECT_TRUE(budget.Check());
  }
  Pass(1);
  EXPECT_FALSE(budget.Check());
  EXPECT_EQ(budget.status(), absl::ResourceExhaustedError(
                                 "the filter took 20 ms of CPU time for a row of 1572864 bytes, 1 ms of "
                                 "them for its last step, and was not done; it may take 20 ms"));
  EXPECT_FALSE(budget.Work(1));
}

TEST_F(FilterBudgetTime, AStepThatMayNotBeTakenAgainIsTheLast) {
  FilterBudget budget = Make({.row_cpu_ms = 100, .row_cpu_ms_per_mib = 0});
  budget.StartRow(0);
  budget.ExpectLongSteps();
  EXPECT_TRUE(budget.Check());
  Pass(30);
  EXPECT_TRUE(budget.Check());
  Pass(1);
  EXPECT_TRUE(budget.Check());
  Pass(35);
  EXPECT_FALSE(budget.Check());
  EXPECT_EQ(budget.status(), absl::ResourceExhaustedError(
                                 "the filter took 66 ms of CPU time for a row of 0 bytes, 35 ms of them "
                                 "for its last step, and was not done; it may take 100 ms"));
}

TEST_F(FilterBudgetTime, AProcessorThatStopsDoesNotCountOnceARow) {
  FilterBudget budget = Make({.row_cpu_ms = 50, .row_cpu_ms_per_mib = 0});
  for (int row = 0; row < 2; ++row) {
    budget.StartRow(0);
    EXPECT_TRUE(budget.Check());
    Pass(64);
    EXPECT_TRUE(budget.Check());
    EXPECT_EQ(budget.last_step_nanos(), 0);
    Pass(20);
    EXPECT_TRUE(budget.Check());
    budget.EndRow();
  }
  EXPECT_EQ(budget.request_cpu_nanos(), 40'000'000);

  budget.StartRow(0);
  EXPECT_TRUE(budget.Check());
  Pass(64);
  EXPECT_TRUE(budget.Check());
  Pass(64);
  EXPECT_FALSE(budget.Check());
  EXPECT_EQ(budget.status(), absl::ResourceExhaustedError(
                                 "the filter took 64 ms of CPU time for a row of 0 bytes, 64 ms of them "
                                 "for its last step, and was not done; it may take 50 ms"));
}

TEST_F(FilterBudgetTime, LongStepsThatAreExpectedCount) {
  FilterBudget budget = Make({.row_cpu_ms = 50, .row_cpu_ms_per_mib = 0});
  budget.StartRow(0);
  EXPECT_TRUE(budget.Check());
  budget.ExpectLongSteps();
  Pass(26);
  EXPECT_FALSE(budget.Check());
}

TEST_F(FilterBudgetTime, EachRowHasItsOwn) {
  FilterBudget budget = Make({.row_cpu_ms = 5, .request_cpu_ms_max = 1'000});
  for (int row = 0; row < 100; ++row) {
    budget.StartRow(0);
    EXPECT_TRUE(budget.Check());
    for (int i = 0; i < 4; ++i) {
      Pass(1);
      EXPECT_TRUE(budget.Check());
    }
    budget.EndRow();
  }
  EXPECT_EQ(budget.request_cpu_nanos(), 400'000'000);
}

TEST_F(FilterBudgetTime, ShortRowsCountBySampling) {
  FilterBudget budget = Make({.request_cpu_ms_max = 100});
  int rows = 0;
  for (; budget.status().ok() && rows < 10'000; ++rows) {
    budget.StartRow(0);
    now_nanos_ += 100'000;  // a tenth of a millisecond
    budget.EndRow();
  }
  EXPECT_NEAR(rows, 1'000, 64);
  EXPECT_EQ(budget.status().code(), absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace sonde
