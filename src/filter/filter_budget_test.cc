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
  EXPECT_FALSE(budget.AdmitInterleaved(1, 1));
  EXPECT_EQ(asked, 3);
}

TEST(FilterBudget, RefusesByNameLimitAndValue) {
  FilterBudget interleaved({.interleaved_cells_max = 10, .interleaved_cells_per_cell_max = 3});
  EXPECT_TRUE(interleaved.AdmitInterleaved(10, 1));
  EXPECT_TRUE(interleaved.AdmitInterleaved(15, 5));
  EXPECT_FALSE(interleaved.AdmitInterleaved(16, 5));
  EXPECT_EQ(interleaved.status(),
            absl::ResourceExhaustedError(
                "the filter's interleaves make 16 or more cells of a row of 5 cells, at most "
                "15 are allowed"));

  FilterBudget request({.request_match_cpu_ms_max = 3});
  EXPECT_TRUE(request.ChargeMatches(3'000'000));
  EXPECT_FALSE(request.ChargeMatches(1'000'000));
  EXPECT_EQ(request.status(),
            absl::ResourceExhaustedError("the filter's regular expressions took 4 ms of CPU time, a "
                                         "request may take 3 ms"));

  FilterBudget match({.match_cpu_ms_max = 5});
  EXPECT_TRUE(match.AdmitMatch(5'000'000, 9));
  EXPECT_FALSE(match.AdmitMatch(7'000'000, 9));
  EXPECT_EQ(match.status(),
            absl::ResourceExhaustedError("matching 9 bytes with one of the filter's regular expressions "
                                         "would take about 7 ms of CPU time, a match may take 5 ms"));
}

}  // namespace
}  // namespace sonde
