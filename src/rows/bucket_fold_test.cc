#include "rows/bucket_fold.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/wide_int.h"
#include "rows/rows_test_support.h"

namespace sonde::rows {
namespace {

const Hold kNoAccount;
const Interrupted kNobody;

// Buckets of ten, from 0 on.
Buckets Tens() {
  return {.find = [](int64_t time) { return Bucket{time / 10 * 10, time / 10 * 10 + 10}; },
          .width_micros_min = 10};
}

// A plan for batches of one key, times, ints n and doubles x.
FoldPlan PlanOf(std::vector<Aggregate> aggregates) {
  return {.keys = {0},
          .times = 1,
          .inputs = {{2, ColumnType::kInt64, "n"}, {3, ColumnType::kDouble, "x"}},
          .aggregates = std::move(aggregates),
          .buckets = Tens()};
}

struct Point {
  int64_t time = 0;
  std::optional<int64_t> n;
  std::optional<double> x;
};

absl::Status Add(BucketFold* fold, std::string_view key, const std::vector<Point>& points) {
  HeldBatch held({ColumnType::kTime, ColumnType::kInt64, ColumnType::kDouble});
  for (const Point& point : points) {
    held.columns[0].AppendInt(point.time);
    held.columns[1].AppendValue(point.n ? Value(*point.n) : Value());
    held.columns[2].AppendValue(point.x ? Value(*point.x) : Value());
  }
  Batch batch{points.size(), {ColumnView::Constant(&key, points.size())}};
  held.View(&batch);
  return fold->Add(batch);
}

std::string All(BucketFold* fold) {
  std::string text;
  Batch batch;
  while (true) {
    const absl::StatusOr<bool> more = fold->Next(&batch);
    if (!more.ok()) return text + std::string(more.status().message());
    if (!*more) return text;
    text += Text(batch);
  }
}

TEST(BucketFold, GivesARowABucketGroupByGroup) {
  BucketFold fold(PlanOf({Aggregate::kCount, Aggregate::kSum}), kNoAccount, kNobody);
  for (int again = 0; again < 2; ++again) {
    ASSERT_TRUE(Add(&fold, "b", {{12, 1, 0.5}, {15, 2, {}}, {31, {}, 1.5}}).ok());
    ASSERT_TRUE(Add(&fold, "a", {{3, 7, {}}}).ok());
    // Descending, into buckets that are there and a new one.
    ASSERT_TRUE(Add(&fold, "b", {{34, 5, 0.25}, {25, 4, 8.0}, {19, 3, 2.0}}).ok());
    EXPECT_EQ(All(&fold), "a 0 1 7 0 -\nb 10 3 6 2 2.5\nb 20 1 4 1 8\nb 30 1 5 2 1.75\n");
    EXPECT_EQ(All(&fold), "");
  }
}

TEST(BucketFold, TellsWhenAGroupIsWhole) {
  BucketFold fold(PlanOf({Aggregate::kCount}), kNoAccount, kNobody);
  const std::string_view a = "a", b = "b";
  const Batch of_a{1, {ColumnView::Constant(&a, 1)}}, of_b{1, {ColumnView::Constant(&b, 1)}};
  EXPECT_FALSE(fold.HoldsAnotherGroup(of_a));
  ASSERT_TRUE(Add(&fold, "a", {{1, 1, {}}}).ok());
  EXPECT_FALSE(fold.HoldsAnotherGroup(of_a));
  EXPECT_TRUE(fold.HoldsAnotherGroup(of_b));
}

// Several folds of parts of the rows make what one fold makes of all rows, bit by bit where a bucket's rows are
// in one part.
TEST(BucketFold, PartsBecomeWhatOneFoldIs) {
  SeededRandom random(9);
  for (int round = 0; round < 200; ++round) {
    FoldPlan plan = PlanOf({Aggregate::kCount, Aggregate::kSum, Aggregate::kMin, Aggregate::kMax,
                            Aggregate::kLast, Aggregate::kStddev, Aggregate::Percentile(40)});
    if (round % 3 == 0) plan.windows = {1, 3};
    BucketFold whole(plan, kNoAccount, kNobody), joined(plan, kNoAccount, kNobody);
    std::vector<std::unique_ptr<BucketFold>> parts;
    int64_t time = 0;
    for (int run = 0; run < 30; ++run) {
      // Each run is of another bucket.
      time += 10;
      std::vector<Point> points;
      for (uint64_t i = 0; i < 1 + random.Uniform(9); ++i) {
        points.push_back({time + static_cast<int64_t>(i), static_cast<int64_t>(random.Uniform(1'000)),
                          static_cast<double>(random.Uniform(1'000'000)) / 7});
      }
      const std::string key(1, static_cast<char>('d' - run / 8));
      if (parts.empty() || random.Uniform(4) == 0) {
        parts.push_back(std::make_unique<BucketFold>(plan, kNoAccount, kNobody));
      }
      ASSERT_TRUE(Add(&whole, key, points).ok());
      ASSERT_TRUE(Add(parts.back().get(), key, points).ok());
    }
    for (const auto& part : parts) {
      for (size_t group = 0; group < part->groups(); ++group) {
        ASSERT_TRUE(joined.AddGroup(*part, group).ok());
      }
    }
    Batch of_whole, of_joined;
    while (*whole.Next(&of_whole)) {
      ASSERT_TRUE(*joined.Next(&of_joined));
      ASSERT_EQ(Text(of_joined), Text(of_whole));
      for (size_t i = 2; i < of_whole.columns.size(); ++i) {
        const ColumnView &a = of_whole.columns[i], &b = of_joined.columns[i];
        if (a.type() != ColumnType::kDouble) continue;
        for (size_t row = 0; row < of_whole.rows; ++row) ASSERT_EQ(a.doubles()[row], b.doubles()[row]);
      }
    }
    ASSERT_FALSE(*joined.Next(&of_joined));
  }
}

TEST(BucketFold, GroupsOfPartsComeInTheOrderOfTheirRows) {
  BucketFold part(PlanOf({Aggregate::kCount}), kNoAccount, kNobody),
      fold(PlanOf({Aggregate::kCount}), kNoAccount, kNobody);
  ASSERT_TRUE(Add(&part, "b", {{1, 1, {}}}).ok());
  ASSERT_TRUE(Add(&part, "a", {{1, 1, {}}}).ok());
  ASSERT_EQ(part.groups(), 2);
  ASSERT_TRUE(fold.AddGroup(part, 0).ok());
  EXPECT_FALSE(fold.HoldsAnotherGroup(part, 0));
  EXPECT_TRUE(fold.HoldsAnotherGroup(part, 1));
  EXPECT_EQ(All(&fold), "b 0 1 0\n");
  part.Clear();
  EXPECT_EQ(part.groups(), 0);
}

TEST(BucketFold, WithoutBucketsARowAGroupUnderItsFirstTime) {
  FoldPlan plan = PlanOf({Aggregate::kFirst, Aggregate::kLast});
  plan.buckets.reset();
  BucketFold fold(plan, kNoAccount, kNobody);
  ASSERT_TRUE(Add(&fold, "a", {{50, 5, {}}, {40, 4, 0.5}}).ok());
  ASSERT_TRUE(Add(&fold, "a", {{-7, 1, {}}, {80, 8, {}}}).ok());
  EXPECT_EQ(All(&fold), "a -7 1 8 0.5 0.5\n");
}

TEST(BucketFold, FillsGapsWithinWhatIsAsked) {
  const auto filled = [](Fill fill, std::optional<int64_t> from, std::optional<int64_t> to) {
    FoldPlan plan = PlanOf({Aggregate::kCount, Aggregate::kMax});
    plan.inputs.pop_back();
    plan.fill = fill;
    plan.from_micros = from;
    plan.to_micros = to;
    BucketFold fold(plan, kNoAccount, kNobody);
    EXPECT_TRUE(Add(&fold, "a", {{12, 1, {}}, {41, 4, {}}, {55, {}, {}}}).ok());
    return All(&fold);
  };
  EXPECT_EQ(filled(Fill::kNone, {}, {}), "a 10 1 1\na 40 1 4\na 50 0 -\n");
  EXPECT_EQ(filled(Fill::kNull, {}, {}), "a 10 1 1\na 20 0 -\na 30 0 -\na 40 1 4\na 50 0 -\n");
  EXPECT_EQ(filled(Fill::kPrevious, 25, 70), "a 20 0 -\na 30 0 -\na 40 1 4\na 50 0 4\na 60 0 4\n");
  // Ints stay ints, and what lies between them are doubles beside them.
  EXPECT_EQ(filled(Fill::kLinear, {}, 50), "a 10 1 1 - -\na 20 0 - - 2\na 30 0 - - 3\na 40 1 4 - -\n");
}

TEST(BucketFold, IntsThatLeave64BitsAreToldBehindTheRowsBefore) {
  BucketFold fold(PlanOf({Aggregate::kSum}), kNoAccount, kNobody);
  ASSERT_TRUE(Add(&fold, "a", {{1, 5, {}}, {11, INT64_MAX, {}}, {12, 1, {}}, {21, 6, {}}}).ok());
  Batch batch;
  ASSERT_TRUE(*fold.Next(&batch));
  EXPECT_EQ(Text(batch), "a 0 5 -\n");
  EXPECT_EQ(fold.Next(&batch).status(),
            absl::OutOfRangeError("sum(n): 9223372036854775808 leaves the 64 bits of an int"));
  EXPECT_FALSE(fold.Next(&batch).ok());
  // On its way it may.
  BucketFold other(PlanOf({Aggregate::kSum}), kNoAccount, kNobody);
  ASSERT_TRUE(Add(&other, "a", {{1, INT64_MAX, {}}, {2, INT64_MAX, {}}, {3, -INT64_MAX, {}}}).ok());
  EXPECT_EQ(All(&other), "a 0 9223372036854775807 -\n");
}

TEST(BucketFold, EndsAtItsLimits) {
  const auto told = [](const std::function<void(FoldPlan*)>& change, const Hold& hold = kNoAccount,
                       const Interrupted& interrupted = kNobody) {
    FoldPlan plan = PlanOf({Aggregate::kMax, Aggregate::Percentile(50)});
    change(&plan);
    BucketFold fold(plan, hold, interrupted);
    for (int i = 0; i < 3'000; ++i) {
      const absl::Status status = Add(&fold, "a", {{i * 10, 1, 0.5}, {i * 10 + 1, 2, 1.5}});
      if (!status.ok()) return std::string(status.message()).substr(0, 40);
    }
    const std::string text = All(&fold);
    return text.substr(text.rfind('\n') == text.npos ? 0 : text.rfind('\n') + 1, 40);
  };
  EXPECT_EQ(told([](FoldPlan*) {}), "");
  EXPECT_EQ(told([](FoldPlan* plan) { plan->limits.accumulators_max = 100; }),
            "the answer needs more than 100 buckets o");
  EXPECT_EQ(told([](FoldPlan* plan) { plan->limits.values_held_max = 100; }),
            "percentiles need more than 100 values at");
  EXPECT_EQ(told([](FoldPlan* plan) {
              plan->fill = Fill::kNull;
              plan->limits.filled_buckets_max = 100;
            }),
            "filling gaps of more than 100 buckets a ");
  EXPECT_EQ(told([](FoldPlan* plan) {
              plan->windows = {1, 10};
              plan->limits.joins_max = 100;
            }),
            "the windows join 420000 buckets and valu");
  EXPECT_EQ(told([](FoldPlan* plan) {
              plan->limits.accumulators_max = 100;
              plan->limits.text = [](FoldLimit limit, int64_t needed) {
                return fmt::format("{} of too many: {}", limit == FoldLimit::kAccumulators, needed);
              };
            }),
            "true of too many: 102");
  EXPECT_EQ(told([](FoldPlan*) {}, [](int64_t) { return absl::InvalidArgumentError("no room"); }), "no room");
  EXPECT_EQ(told([](FoldPlan*) {}, kNoAccount, [] { return absl::CancelledError("enough"); }), "enough");
}

// Random points of a few groups against a naive look at all of them, with windows and gaps.
TEST(BucketFold, IsWhatANaiveLookFinds) {
  SeededRandom random(9);
  for (int round = 0; round < 150; ++round) {
    FoldPlan plan = PlanOf({Aggregate::kCount, Aggregate::kSum, Aggregate::kMin, Aggregate::kLast,
                            Aggregate::Percentile(50), Aggregate::Percentile(100)});
    plan.windows = random.Uniform(2) == 0 ? std::vector<int>{1} : std::vector<int>{3, 1};
    plan.fill = random.Uniform(2) == 0 ? Fill::kNone : Fill::kNull;
    if (random.Uniform(2) == 0) plan.from_micros = static_cast<int64_t>(random.Uniform(100));
    if (random.Uniform(2) == 0) plan.to_micros = 100 + static_cast<int64_t>(random.Uniform(100));
    BucketFold fold(plan, kNoAccount, kNobody);
    std::map<std::string, std::map<int64_t, Point>> groups;
    for (int batch = 0; batch < 6; ++batch) {
      const std::string key(1, static_cast<char>('a' + random.Uniform(3)));
      std::map<int64_t, Point> points;
      for (uint64_t n = 1 + random.Uniform(15); n > 0; --n) {
        const auto time = static_cast<int64_t>(random.Uniform(200));
        if (groups[key].contains(time) || (plan.to_micros && time >= *plan.to_micros)) continue;
        Point& point = points[time];
        point.time = time;
        if (random.Uniform(4) != 0) point.n = static_cast<int64_t>(random.Next());
        if (random.Uniform(4) != 0) point.x = static_cast<double>(random.Uniform(100)) / 4;
      }
      groups[key].insert(points.begin(), points.end());
      std::vector<Point> batch_points;
      for (const auto& [time, point] : points) batch_points.push_back(point);
      if (random.Uniform(2) == 0) std::ranges::reverse(batch_points);
      if (!batch_points.empty()) {
        ASSERT_TRUE(Add(&fold, key, batch_points).ok());
      }
      if (groups[key].empty()) groups.erase(key);
    }
    std::string expected;
    std::string error;
    for (const auto& [key, points] : groups) {
      std::map<int64_t, bool> starts;
      for (const auto& [time, point] : points) starts[time / 10 * 10] = true;
      const int64_t first = plan.from_micros ? *plan.from_micros / 10 * 10 : 0;
      if (plan.fill == Fill::kNull) {
        const int64_t end = plan.to_micros ? *plan.to_micros : starts.rbegin()->first + 1;
        const auto of_group = starts.lower_bound(first);
        const int64_t from = plan.from_micros ? first : of_group == starts.end() ? end : of_group->first;
        starts.clear();
        for (int64_t start = from; start < end; start += 10) starts[start] = true;
      }
      for (const auto& [start, unused] : starts) {
        if (start < first || !error.empty()) continue;
        std::string line = key + fmt::format(" {}", start);
        for (const bool is_int : {true, false}) {
          std::vector<std::string> of_aggregates;
          for (size_t a = 0; a < plan.aggregates.size(); ++a) {
            for (const int window : plan.windows) {
              std::vector<double> values;
              std::vector<int64_t> ints;
              for (const auto& [time, point] : points) {
                if (time < start - (window - 1) * 10 || time >= start + 10) continue;
                if (is_int ? !point.n.has_value() : !point.x.has_value()) continue;
                if (is_int) ints.push_back(*point.n);
                values.push_back(is_int ? static_cast<double>(*point.n) : *point.x);
              }
              absl::int128 sum = 0;
              for (const int64_t value : ints) sum += value;
              double of_doubles = 0;
              for (const double value : values) of_doubles += value;
              std::string text = "-";
              std::vector<double> sorted = values;
              std::ranges::sort(sorted);
              const size_t half = sorted.size() / 2;
              if (a == 0) {
                text = fmt::format("{}", values.size());
              } else if (values.empty()) {
              } else if (a == 1) {
                text = is_int ? IntText(sum) : fmt::format("{:.10g}", of_doubles);
                if (is_int && !IsInt(sum) && error.empty()) {
                  error = fmt::format("sum(n): {} leaves the 64 bits of an int", IntText(sum));
                }
              } else if (a == 2) {
                text = is_int ? fmt::format("{}", *std::ranges::min_element(ints))
                              : fmt::format("{:.10g}", sorted.front());
              } else if (a == 3) {
                text = is_int ? fmt::format("{}", ints.back()) : fmt::format("{:.10g}", values.back());
              } else if (a == 4) {
                text =
                    fmt::format("{:.10g}", sorted.size() % 2 == 1
                                               ? sorted[half]
                                               : sorted[half - 1] + (sorted[half] - sorted[half - 1]) * 0.5);
              } else {
                text = fmt::format("{:.10g}", sorted.back());
              }
              line += " " + text;
            }
          }
        }
        if (error.empty()) expected += line + "\n";
      }
    }
    ASSERT_EQ(All(&fold), expected + error) << "round " << round;
  }
}

}  // namespace
}  // namespace sonde::rows
