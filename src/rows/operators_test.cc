// The operators that make rows of rows: selection, changes, gaps, the top, the limit.
#include <gtest/gtest.h>

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "rows/change.h"
#include "rows/fill.h"
#include "rows/rows_test_support.h"
#include "rows/select.h"
#include "rows/top.h"

namespace sonde::rows {
namespace {

const Interrupted kNobody;
const Hold kNoAccount;

// Missing where there is none.
Column Ints(const std::vector<std::optional<int64_t>>& values) {
  Column column;
  for (const std::optional<int64_t>& value : values) {
    if (value) {
      column.AppendInt(*value);
    } else {
      column.AppendMissing();
    }
  }
  return column;
}
Column Doubles(const std::vector<std::optional<double>>& values) {
  Column column(ColumnType::kDouble);
  for (const std::optional<double>& value : values) {
    if (value) {
      column.AppendDouble(*value);
    } else {
      column.AppendMissing();
    }
  }
  return column;
}

TEST(Select, RowsInTimeAreThoseOfAHalfOpenRange) {
  const std::vector<int64_t> times = {9, 7, 5, 3};
  const auto rows = [&](int64_t from, int64_t to) {
    const RowSpan span = RowsInTime(times, from, to);
    return std::vector<int64_t>(times.begin() + static_cast<std::ptrdiff_t>(span.begin),
                                times.begin() + static_cast<std::ptrdiff_t>(span.end));
  };
  EXPECT_EQ(rows(3, 10), times);
  EXPECT_EQ(rows(3, 9), (std::vector<int64_t>{7, 5, 3}));
  EXPECT_EQ(rows(4, 9), (std::vector<int64_t>{7, 5}));
  EXPECT_EQ(rows(5, 7), std::vector<int64_t>{5});
  EXPECT_EQ(rows(6, 7), std::vector<int64_t>{});
  EXPECT_EQ(rows(20, 30), std::vector<int64_t>{});
  EXPECT_EQ(rows(0, 3), std::vector<int64_t>{});
}

TEST(Select, OrderByTimeKeepsRowsOfOneTimeInTheirOrder) {
  SeededRandom random(1);
  for (int round = 0; round < 200; ++round) {
    std::vector<int64_t> times(1 + random.Uniform(60));
    for (int64_t& time : times) time = static_cast<int64_t>(random.Uniform(round % 2 == 0 ? 10 : 1'000));
    WorkCheck check(kNobody);
    const auto order = OrderByTime(times, &check);
    ASSERT_TRUE(order.ok());
    std::vector<size_t> expected(times.size());
    for (size_t i = 0; i < expected.size(); ++i) expected[i] = i;
    std::stable_sort(expected.begin(), expected.end(),
                     [&](size_t a, size_t b) { return times[a] < times[b]; });
    ASSERT_EQ(*order, expected);
  }
  const Interrupted somebody = [] { return absl::CancelledError("enough"); };
  WorkCheck check(somebody);
  EXPECT_EQ(OrderByTime(std::vector<int64_t>(10'000, 1), &check).status().message(), "enough");
}

TEST(Select, RowsWithValuesAreTaken) {
  const Column times = Ints({1, 2, 3, 4}), a = Ints({{}, 5, {}, 6}), b = Doubles({{}, {}, 0.5, {}});
  const Batch batch{4, {times.View(), a.View(), b.View()}};
  const std::vector<size_t> rows = RowsWithValues(batch, 1);
  EXPECT_EQ(rows, (std::vector<size_t>{1, 2, 3}));
  HeldBatch taken({ColumnType::kInt64, ColumnType::kInt64, ColumnType::kDouble});
  TakeRows(batch, rows, 0, &taken);
  Batch view;
  taken.View(&view);
  EXPECT_EQ(Text(view), "2 5 -\n3 - 0.5\n4 6 -\n");
}

TEST(Limit, LetsTheFirstRowsThrough) {
  Limit limit(5);
  EXPECT_EQ(limit.Take(3), 3u);
  EXPECT_FALSE(limit.IsReached());
  EXPECT_EQ(limit.Take(3), 2u);
  EXPECT_TRUE(limit.IsReached());
  EXPECT_EQ(limit.Take(3), 0u);
}

TEST(Changes, AreFromTheValueThatWasThereBefore) {
  const std::vector<int64_t> times = {0, 1'000'000, 2'000'000, 4'000'000};
  const auto changed = [&](Change change, const Column& values) {
    Changes changes;
    Column out;
    // Batch by batch: the second one goes on from the first.
    changes.Apply(change, absl::MakeConstSpan(times).first(2), values.View().Part(0, 2), &out);
    std::string text = Text(out.View());
    changes.Apply(change, absl::MakeConstSpan(times).subspan(2), values.View().Part(2, 2), &out);
    return text + " " + Text(out.View());
  };
  EXPECT_EQ(changed(Change::kDelta, Ints({5, 8, {}, 2})), "- 3 - -6");
  EXPECT_EQ(changed(Change::kIncrease, Ints({5, 8, {}, 2})), "- 3 - 2");
  EXPECT_EQ(changed(Change::kRate, Ints({5, 8, {}, 2})), "- 3 - 0.6666666667");
  EXPECT_EQ(changed(Change::kDelta, Doubles({{}, 0.5, 0.75, -1})), "- - 0.25 -1.75");
  EXPECT_EQ(changed(Change::kIncrease, Doubles({{}, 0.5, 0.75, 0.25})), "- - 0.25 0.25");
}

// The change between two ints may be up to 2^64.
TEST(Changes, OfIntsAreExact) {
  const std::vector<int64_t> times = {0, 1, 2, 3};
  Changes changes;
  Column out;
  changes.Apply(Change::kDelta, times,
                Ints({INT64_MIN, INT64_MAX, INT64_MAX - 1, 9'007'199'254'740'993}).View(), &out);
  EXPECT_EQ(Text(out.View()), "- 18446744073709551615 -1 -9214364837600034813");
  EXPECT_EQ(out.type(), ColumnType::kInt128);
}

TEST(Fill, PreviousAndLinear) {
  const std::vector<int64_t> times = {0, 10, 30, 40, 50};
  WorkCheck check(kNobody);
  Column ints = Ints({{}, 10, {}, 40, {}}), doubles = Doubles({1, {}, {}, 5, {}});
  Column between;
  ASSERT_TRUE(FillLinear(times, ints.View(), &between, &check).ok());
  EXPECT_EQ(Text(between.View()), "- - 30 - -");
  ASSERT_TRUE(FillLinear(times, doubles.View(), &between, &check).ok());
  EXPECT_EQ(Text(between.View()), "- 2 4 - -");
  ASSERT_TRUE(FillPrevious(&ints, &check).ok());
  EXPECT_EQ(Text(ints.View()), "- 10 10 40 40");
  ASSERT_TRUE(FillPrevious(&doubles, &check).ok());
  EXPECT_EQ(Text(doubles.View()), "1 1 1 5 5");
  Column bytes(ColumnType::kBytes);
  bytes.AppendBytes("a");
  bytes.AppendMissing();
  ASSERT_TRUE(FillPrevious(&bytes, &check).ok());
  EXPECT_EQ(Text(bytes.View()), "a a");
}

TEST(TopRows, AreThoseOfTheLargestValuesAndThenOfTheLeastTies) {
  const std::string_view a = "a", b = "b";
  const std::vector<int64_t> times = {1, 2, 3, 4};
  const Column of_a = Ints({7, 9'007'199'254'740'993, {}, 7}), of_b = Ints({7, 9'007'199'254'740'992, 8, {}});
  const Column between = Doubles({{}, {}, {}, 7.5});
  const auto top = [&](size_t count, bool is_lowest, size_t ties = 2) {
    TopRows rows({.count = count, .is_lowest = is_lowest, .by = {2, 3}, .ties = ties}, kNoAccount);
    const Column none = Doubles({{}, {}, {}, {}});
    EXPECT_TRUE(
        rows.Add({4, {ColumnView::Constant(&b, 4), ColumnView::OfTimes(times), of_b.View(), between.View()}})
            .ok());
    EXPECT_TRUE(
        rows.Add({4, {ColumnView::Constant(&a, 4), ColumnView::OfTimes(times), of_a.View(), none.View()}})
            .ok());
    HeldBatch result;
    rows.Result(&result);
    Batch batch;
    result.View(&batch);
    return Text(batch);
  };
  EXPECT_EQ(top(2, false), "a 2 9007199254740993 -\nb 2 9007199254740992 -\n");
  EXPECT_EQ(top(4, true), "a 1 7 -\na 4 7 -\nb 1 7 -\nb 4 - 7.5\n");
  EXPECT_EQ(top(1, true), "a 1 7 -\n");
  EXPECT_EQ(
      top(100, false),
      "a 2 9007199254740993 -\nb 2 9007199254740992 -\nb 3 8 -\nb 4 - 7.5\na 1 7 -\na 4 7 -\nb 1 7 -\n");
  int64_t held = 0;
  const Hold hold = [&held](int64_t more) {
    held += more;
    return held > 2 << 20 ? absl::InvalidArgumentError("too much") : absl::OkStatus();
  };
  {
    TopRows rows({.count = 100'000, .by = {0}}, hold);
    absl::Status status;
    for (int i = 0; i < 100'000 && status.ok(); ++i) status = rows.Add({4, {of_a.View()}});
    EXPECT_EQ(status.message(), "too much");
  }
  EXPECT_LE(held, 2 << 20);
}

TEST(TopRows, NaNIsLessThanAllOthers) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Column values = Doubles({nan, 1, -std::numeric_limits<double>::infinity(), nan, 2, {}});
  const auto top = [&](size_t count, bool is_lowest) {
    TopRows rows({.count = count, .is_lowest = is_lowest, .by = {0}}, kNoAccount);
    EXPECT_TRUE(rows.Add({6, {values.View()}}).ok());
    HeldBatch result;
    rows.Result(&result);
    return Text(result.columns[0].View());
  };
  EXPECT_EQ(top(2, false), "2 1");
  EXPECT_EQ(top(10, false), "2 1 -inf nan nan");
  EXPECT_EQ(top(3, true), "nan nan -inf");
}

}  // namespace
}  // namespace sonde::rows
