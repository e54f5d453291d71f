#include "sql/function/lambda_over_lists.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/arena.h"
#include "sql/function/function.h"
#include "sql/library/library.h"
#include "sql/value/value.h"

namespace sonde::sql {
namespace {

// Gives for each element what a function makes of it and of the row that it belongs to.
class CountingLambda : public Lambda {
 public:
  using Body = std::function<absl::StatusOr<int64_t>(int64_t element, size_t row)>;
  CountingLambda(Body body, Arena* arena, std::vector<size_t>* calls)
      : body_(std::move(body)), arena_(arena), calls_(calls) {}

  absl::StatusOr<ColumnView> Evaluate(absl::Span<const ColumnView> arguments,
                                      absl::Span<const size_t> outer_rows) override {
    calls_->push_back(outer_rows.size());
    auto* const results = arena_->New<int64_t>(outer_rows.size());
    for (size_t i = 0; i < outer_rows.size(); ++i) {
      const absl::StatusOr<int64_t> result =
          body_(arguments[0].ints()[arguments[0].PlaceOf(i)], outer_rows[i]);
      if (!result.ok()) return result.status();
      results[i] = *result;
    }
    return ColumnView::OfInts({results, outer_rows.size()});
  }

 private:
  const Body body_;
  Arena* const arena_;
  std::vector<size_t>* const calls_;
};

struct Outcome {
  std::vector<std::string> rows;
  std::vector<size_t> calls;  // elements that the lambda got at once
  absl::Status status;
};

// ARRAY_TRANSFORM of some rows.
Outcome Transform(const std::vector<std::vector<int64_t>>& rows, const CountingLambda::Body& body,
                  bool is_safe) {
  Arena arena;
  Outcome outcome;
  auto* const arrays = arena.New<Datum>(rows.size());
  for (size_t row = 0; row < rows.size(); ++row) {
    auto* const items = arena.New<Datum>(rows[row].size());
    for (size_t i = 0; i < rows[row].size(); ++i) items[i] = Datum::Int(rows[row][i]);
    arrays[row] = Datum::List({items, rows[row].size()});
  }
  const std::vector<Type> types = {Type::Array(TypeKind::kInt64), TypeKind::kInt64};
  const Type result = Type::Array(TypeKind::kInt64);
  const StatementFacts facts;
  Call::Site site;
  site.argument_types = &types;
  site.result_type = &result;
  site.is_safe = is_safe;
  site.lambdas.push_back(nullptr);
  site.lambdas.push_back(std::make_unique<CountingLambda>(body, &arena, &outcome.calls));
  Call call(&facts, &site, &arena, rows.size());
  const ColumnView column = FindFunction("ARRAY_TRANSFORM")
                                ->overloads[0]
                                .kernel(call, {ColumnView::OfLists({arrays, rows.size()}),
                                               ColumnView::Missing(ColumnType::kInt64, rows.size())});
  outcome.status = call.status();
  for (size_t row = 0; row < rows.size(); ++row)
    outcome.rows.push_back(Value(result, DatumAt(column, row)).ToSql());
  return outcome;
}

absl::StatusOr<int64_t> Tenfold(int64_t element, size_t row) {
  return element * 10 + static_cast<int64_t>(row);
}
absl::StatusOr<int64_t> FailsForTwo(int64_t element, size_t) {
  if (element == 2) return absl::OutOfRangeError("two");
  return element;
}

TEST(Lambda, IsEvaluatedForAllRowsTogetherAndKnowsTheirs) {
  const Outcome outcome = Transform({{1, 2}, {}, {3}}, Tenfold, false);
  EXPECT_EQ(outcome.rows, (std::vector<std::string>{"[10, 20]", "[]", "[32]"}));
  EXPECT_EQ(outcome.calls, (std::vector<size_t>{3}));
}

TEST(Lambda, IsEvaluatedInPiecesOfManyElements) {
  const std::vector<int64_t> many(10'000, 1);
  const Outcome outcome = Transform({many, many, {5}}, Tenfold, false);
  EXPECT_EQ(outcome.calls, (std::vector<size_t>{10'000, 10'001}));
  EXPECT_EQ(outcome.rows[2], "[52]");
}

TEST(Lambda, FailsForItsRowOnly) {
  Outcome outcome = Transform({{1}, {2}, {3}}, FailsForTwo, true);
  EXPECT_TRUE(outcome.status.ok());
  EXPECT_EQ(outcome.rows, (std::vector<std::string>{"[1]", "NULL", "[3]"}));
  outcome = Transform({{1}, {2}, {3}}, FailsForTwo, false);
  EXPECT_EQ(outcome.status, absl::OutOfRangeError("two"));
}

TEST(Lambda, EndsTheStatementWhereItIsInterrupted) {
  const auto cancelled = [](int64_t, size_t) -> absl::StatusOr<int64_t> {
    return absl::CancelledError("gone");
  };
  const Outcome outcome = Transform({{1}, {2}, {3}}, cancelled, true);
  EXPECT_EQ(outcome.status, absl::CancelledError("gone"));
  EXPECT_EQ(outcome.calls, (std::vector<size_t>{3, 1}));
}

}  // namespace
}  // namespace sonde::sql
