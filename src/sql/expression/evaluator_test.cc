#include "sql/expression/evaluator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>

#include "sql/expression/expression_test_support.h"

namespace sonde::sql {
namespace {

using ::testing::ElementsAre;
using Kind = Expression::Kind;

constexpr auto kNull = std::nullopt;

class EvaluatorTest : public ::testing::Test {
 protected:
  // The column as text, or the error.
  std::string Evaluate(const Expression& expression, const rows::Batch& batch,
                       absl::Span<const rows::Batch> outer = {}) {
    Evaluator evaluator(expression, &context_);
    arena_.Clear();
    checked_rows = 0;
    const absl::StatusOr<ColumnView> column = evaluator.Evaluate(batch, &arena_, outer);
    if (!column.ok()) return std::string(column.status().message());
    EXPECT_EQ(column->size(), batch.rows);
    return TextOf(expression.type, *column);
  }

  EvaluationContext context_;
  Arena arena_;
};

ExpressionPtr If(ExpressionPtr condition, ExpressionPtr yes, ExpressionPtr no) {
  const Type type = yes->type;
  return Make(Kind::kIf, type, List(std::move(condition), std::move(yes), std::move(no)));
}
ExpressionPtr Query(Kind kind, Type type, std::vector<ExpressionPtr> arguments = {}) {
  ExpressionPtr query = Make(kind, std::move(type), std::move(arguments));
  // RunQuery of the test does not look at it.
  query->plan = std::shared_ptr<const Plan>(reinterpret_cast<const Plan*>(&checked_rows), [](const Plan*) {});
  query->equal = Functions().equal.overloads[0].kernel;
  return query;
}

TEST_F(EvaluatorTest, EvaluatesCallsForAllFormsOfColumns) {
  TestBatch batch(3);
  batch.Ints({1, 2, 3}).Ints({10, kNull, 30}).Constant(Value::Int(5)).Constant(Value::Null(TypeKind::kInt64));
  EXPECT_EQ(Evaluate(*Add(Column(0), Column(0)), batch.batch()), "2 4 6");
  EXPECT_EQ(Evaluate(*Add(Column(0), Column(1)), batch.batch()), "11 NULL 33");
  EXPECT_EQ(Evaluate(*Add(Column(1), Column(2)), batch.batch()), "15 NULL 35");
  EXPECT_EQ(Evaluate(*Add(Column(3), Column(2)), batch.batch()), "NULL NULL NULL");
  EXPECT_EQ(Evaluate(*Add(Add(Column(0), Int(100)), Add(Int(1), Int(2))), batch.batch()), "104 105 106");
  EXPECT_EQ(Evaluate(*Column(3), batch.batch()), "NULL NULL NULL");
}

TEST_F(EvaluatorTest, EvaluatesConstantsOnce) {
  TestBatch batch(3);
  batch.Constant(Value::Int(5));
  const ExpressionPtr constant = Add(Int(1), Add(Int(2), Int(3)));
  Evaluator evaluator(*constant, &context_);
  checked_rows = 0;
  for (int i = 0; i < 3; ++i) {
    const ColumnView column = *evaluator.Evaluate(batch.batch(), &arena_);
    EXPECT_TRUE(column.is_constant());
    EXPECT_EQ(TextOf(TypeKind::kInt64, column), "6 6 6");
  }
  EXPECT_EQ(checked_rows, 2);

  // Of a column that is constant in this batch, for one row a batch.
  EXPECT_EQ(Evaluate(*Add(Column(0), Int(1)), batch.batch()), "6 6 6");
  EXPECT_EQ(checked_rows, 1);
}

TEST_F(EvaluatorTest, EvaluatesNothingForNoRows) {
  TestBatch batch(0);
  batch.Ints({});
  EXPECT_EQ(Evaluate(*Add(Int(13), Int(1)), batch.batch()), "");
  EXPECT_EQ(Evaluate(*Add(Int(13), Column(0)), batch.batch()), "");
  EXPECT_EQ(checked_rows, 0);
}

TEST_F(EvaluatorTest, TakesParametersAndOuterRows) {
  TestBatch batch(2);
  batch.Ints({1, 2});
  context_.parameters = {Value::Int(7), Value::Null(TypeKind::kInt64)};
  for (size_t index = 0; index < 2; ++index) {
    ExpressionPtr parameter = Make(Kind::kParameter, TypeKind::kInt64, {});
    parameter->index = index;
    EXPECT_EQ(Evaluate(*Add(Column(0), std::move(parameter)), batch.batch()),
              index == 0 ? "8 9" : "NULL NULL");
  }
  TestBatch near(1);
  near.Ints({100});
  TestBatch far(1);
  far.Ints({kNull}).Ints({200});
  const rows::Batch outer[] = {near.batch(), far.batch()};
  ExpressionPtr value = Make(Kind::kOuter, TypeKind::kInt64, {});
  value->depth = 2;
  value->index = 1;
  EXPECT_EQ(Evaluate(*Add(Column(0), Clone(*value)), batch.batch(), outer), "201 202");
  value->index = 0;
  EXPECT_EQ(Evaluate(*Add(Column(0), Clone(*value)), batch.batch(), outer), "NULL NULL");
  value->depth = 1;
  EXPECT_EQ(Evaluate(*Add(Column(0), Clone(*value)), batch.batch(), outer), "101 102");
}

TEST_F(EvaluatorTest, GivesTheErrorOfTheFirstRowThatFails) {
  TestBatch batch(3);
  batch.Ints({1, 13, 3});
  EXPECT_EQ(Evaluate(*Add(Column(0), Int(1)), batch.batch()), "unlucky: 13");
  ExpressionPtr safe = Add(Column(0), Int(1));
  safe->is_safe = true;
  EXPECT_EQ(Evaluate(*safe, batch.batch()), "2 NULL 4");
  // SAFE. holds back errors of values of this call, and no others.
  ExpressionPtr outside = Add(Add(Column(0), Int(1)), Int(1));
  outside->is_safe = true;
  EXPECT_EQ(Evaluate(*outside, batch.batch()), "unlucky: 13");
  ExpressionPtr cancelled = MakeCall(Functions().cancel, TypeKind::kInt64, List(Column(0)));
  cancelled->is_safe = true;
  EXPECT_EQ(Evaluate(*cancelled, batch.batch()), "cancelled");
}

TEST_F(EvaluatorTest, EvaluatesBranchesForTheRowsThatTakeThem) {
  TestBatch batch(5);
  batch.Ints({13, 1, 13, kNull, 2}).Ints({1, 2, 3, 4, 5});
  // 13 is less than 20 and takes the first branch, which does not fail.
  EXPECT_EQ(Evaluate(*If(IsEqual(Column(0), Int(13)), Column(1), Add(Column(0), Column(1))), batch.batch()),
            "1 3 3 NULL 7");
  EXPECT_EQ(checked_rows, 2);  // of three rows one is NULL, and has no call
  // No row and all rows.
  EXPECT_EQ(Evaluate(*If(IsLess(Column(1), Int(0)), Add(Column(0), Int(1)), Column(1)), batch.batch()),
            "1 2 3 4 5");
  EXPECT_EQ(checked_rows, 0);
  EXPECT_EQ(Evaluate(*If(IsLess(Column(1), Int(9)), Column(1), Add(Column(0), Int(1))), batch.batch()),
            "1 2 3 4 5");
  EXPECT_EQ(checked_rows, 0);
  // A constant that fails is asked for by no row.
  EXPECT_EQ(Evaluate(*If(IsLess(Column(1), Int(9)), Column(1), Add(Int(13), Int(1))), batch.batch()),
            "1 2 3 4 5");
  EXPECT_EQ(Evaluate(*If(IsLess(Column(1), Int(3)), Column(1), Add(Int(13), Int(1))), batch.batch()),
            "unlucky: 13");
  const auto error = [] {
    return MakeCall(Functions().error, TypeKind::kInt64, List(MakeLiteral(Value::String("asked"))));
  };
  EXPECT_EQ(Evaluate(*If(IsLess(Column(1), Int(9)), Column(1), error()), batch.batch()), "1 2 3 4 5");
  EXPECT_EQ(Evaluate(*If(IsLess(Column(1), Int(5)), Column(1), error()), batch.batch()), "asked");
}

TEST_F(EvaluatorTest, ChoosesTheFirstCaseThatIsTrue) {
  TestBatch batch(6);
  batch.Ints({1, 2, 3, 4, 13, kNull});
  const auto choose = [&](ExpressionPtr last) {
    std::vector<ExpressionPtr> parts =
        List(IsEqual(Column(0), Int(13)), Int(-1), IsLess(Add(Column(0), Int(0)), Int(3)), Int(100),
             IsLess(Column(0), Int(4)), Column(0));
    if (last != nullptr) parts.push_back(std::move(last));
    return Evaluate(*Make(Kind::kCase, TypeKind::kInt64, std::move(parts)), batch.batch());
  };
  EXPECT_EQ(choose(Int(7)), "100 100 3 7 -1 7");
  EXPECT_EQ(choose(nullptr), "100 100 3 NULL -1 NULL");
  EXPECT_EQ(choose(NullInt()), "100 100 3 NULL -1 NULL");
}

TEST_F(EvaluatorTest, CoalescesUntilAValueIsThere) {
  TestBatch batch(4);
  batch.Ints({1, kNull, 13, kNull}).Ints({13, 2, 13, kNull});
  EXPECT_EQ(Evaluate(*Make(Kind::kCoalesce, TypeKind::kInt64, List(Column(0), Add(Column(1), Int(0)))),
                     batch.batch()),
            "1 2 13 NULL");
  EXPECT_EQ(Evaluate(*Make(Kind::kCoalesce, TypeKind::kInt64,
                           List(Column(0), Add(Column(1), Int(0)), Int(9), Add(Int(13), Int(1)))),
                     batch.batch()),
            "1 2 13 9");
}

TEST_F(EvaluatorTest, EvaluatesAndAndOrUntilTheyAreDecided) {
  // All of TRUE, FALSE and NULL by each other.
  TestBatch batch(9);
  batch.Ints({1, 1, 1, 0, 0, 0, kNull, kNull, kNull}).Ints({1, 0, kNull, 1, 0, kNull, 1, 0, kNull});
  const auto part = [](size_t column) { return MakeColumn(column, TypeKind::kBool); };
  EXPECT_EQ(Evaluate(*Make(Kind::kAnd, TypeKind::kBool, List(part(0), part(1))), batch.batch()),
            "true false NULL false false false NULL false NULL");
  EXPECT_EQ(Evaluate(*Make(Kind::kOr, TypeKind::kBool, List(part(0), part(1))), batch.batch()),
            "true true true true false NULL true NULL NULL");

  TestBatch numbers(4);
  numbers.Ints({1, 13, 2, 13});
  const auto fails = [] { return IsLess(Add(Column(0), Int(0)), Int(2)); };
  EXPECT_EQ(Evaluate(*Make(Kind::kAnd, TypeKind::kBool, List(IsLess(Column(0), Int(5)), fails(), Bool(true))),
                     numbers.batch()),
            "true false false false");
  EXPECT_EQ(checked_rows, 2);
  EXPECT_EQ(
      Evaluate(*Make(Kind::kOr, TypeKind::kBool, List(IsLess(Int(5), Column(0)), fails())), numbers.batch()),
      "true true false true");
  EXPECT_EQ(Evaluate(*Make(Kind::kAnd, TypeKind::kBool, List(Bool(true), fails())), numbers.batch()),
            "unlucky: 13");
}

TEST_F(EvaluatorTest, NullIfComparesBothParts) {
  TestBatch batch(4);
  batch.Ints({1, 2, kNull, 4}).Ints({1, 3, kNull, kNull});
  const auto null_if = [&](ExpressionPtr a, ExpressionPtr b) {
    ExpressionPtr expression = Make(Kind::kNullIf, TypeKind::kInt64, List(std::move(a), std::move(b)));
    expression->equal = Functions().equal.overloads[0].kernel;
    return Evaluate(*expression, batch.batch());
  };
  EXPECT_EQ(null_if(Column(0), Column(1)), "NULL 2 NULL 4");
  EXPECT_EQ(null_if(Column(0), Int(9)), "1 2 NULL 4");
  EXPECT_EQ(null_if(NullInt(), Add(Int(13), Column(0))), "unlucky: 13");
}

TEST_F(EvaluatorTest, TakesErrorsOfValuesForAnswers) {
  TestBatch batch(6);
  batch.Ints({1, 13, 3, kNull, 13, 5}).Ints({10, 20, 13, 40, 50, 60});
  const auto fails = [] { return Add(Column(0), Int(100)); };
  EXPECT_EQ(
      Evaluate(*Make(Kind::kIfError, TypeKind::kInt64, List(fails(), Add(Column(1), Int(0)))), batch.batch()),
      "101 20 103 NULL 50 105");
  EXPECT_EQ(Evaluate(*Make(Kind::kIfError, TypeKind::kInt64, List(fails(), fails())), batch.batch()),
            "unlucky: 13");
  EXPECT_EQ(Evaluate(*Make(Kind::kIsError, TypeKind::kBool, List(fails())), batch.batch()),
            "false true false false true false");
  EXPECT_EQ(Evaluate(*Make(Kind::kNullIfError, TypeKind::kInt64, List(fails())), batch.batch()),
            "101 NULL 103 NULL NULL 105");
  const auto constant = [] { return Add(Int(13), Int(1)); };
  EXPECT_EQ(Evaluate(*Make(Kind::kIfError, TypeKind::kInt64, List(constant(), Column(1))), batch.batch()),
            "10 20 13 40 50 60");
  EXPECT_EQ(Evaluate(*Make(Kind::kNullIfError, TypeKind::kInt64, List(constant())), batch.batch()),
            "NULL NULL NULL NULL NULL NULL");
  const auto cancel = MakeCall(Functions().cancel, TypeKind::kInt64, List(Column(1)));
  EXPECT_EQ(Evaluate(*Make(Kind::kIsError, TypeKind::kBool, List(Clone(*cancel))), batch.batch()),
            "cancelled");
}

TEST_F(EvaluatorTest, EvaluatesFewRowsAnewWhereFewFail) {
  TestBatch batch(4 * rows::kBatchRowsMax);
  std::vector<std::optional<int64_t>> values(4 * rows::kBatchRowsMax, 1);
  values[rows::kBatchRowsMax + 17] = 13;
  batch.Ints(values);
  const ExpressionPtr is_error = Make(Kind::kIsError, TypeKind::kBool, List(Add(Column(0), Int(100))));
  const std::string text = Evaluate(*is_error, batch.batch());
  EXPECT_EQ(text.find("true"), 6 * (rows::kBatchRowsMax + 17));
  EXPECT_LE(checked_rows, 11 * rows::kBatchRowsMax);
}

TEST_F(EvaluatorTest, MakesListsAndTakesFields) {
  TestBatch batch(3);
  batch.Ints({1, kNull, 3}).Constant(Value::String("a"));
  const Type pair = Type::Struct({{"x", TypeKind::kInt64}, {"y", TypeKind::kString}});
  const auto make_pair = [&] {
    return Make(Kind::kStruct, pair, List(Column(0), MakeColumn(1, TypeKind::kString)));
  };
  EXPECT_EQ(
      Evaluate(*Make(Kind::kArray, Type::Array(TypeKind::kInt64), List(Column(0), Int(7))), batch.batch()),
      "[1, 7] [NULL, 7] [3, 7]");
  EXPECT_EQ(Evaluate(*Make(Kind::kArray, Type::Array(TypeKind::kInt64), {}), batch.batch()), "[] [] []");
  EXPECT_EQ(Evaluate(*make_pair(), batch.batch()), "(1, \"a\") (NULL, \"a\") (3, \"a\")");
  ExpressionPtr x = Make(Kind::kField, TypeKind::kInt64, List(make_pair()));
  EXPECT_EQ(Evaluate(*x, batch.batch()), "1 NULL 3");
  ExpressionPtr y = Make(Kind::kField, TypeKind::kString, List(make_pair()));
  y->index = 1;
  EXPECT_EQ(Evaluate(*y, batch.batch()), "\"a\" \"a\" \"a\"");
  // A field of NULL is NULL.
  ExpressionPtr none = Make(Kind::kField, TypeKind::kInt64,
                            List(If(IsLess(Column(0), Int(2)), make_pair(), MakeLiteral(Value::Null(pair)))));
  EXPECT_EQ(Evaluate(*none, batch.batch()), "1 NULL NULL");
}

TEST_F(EvaluatorTest, EvaluatesLambdasWithTheColumnsOfTheRow) {
  TestBatch batch(3);
  const Type array = Type::Array(TypeKind::kInt64);
  const Value list = Value::Array(TypeKind::kInt64, {Value::Int(1), Value::Int(2)});
  batch.Ints({10, 20, kNull}).Add(ColumnType::kList, {list.datum(), Datum::Missing(), list.datum()});
  const auto sum_of = [](ExpressionPtr from, ExpressionPtr lambda) {
    return MakeCall(Functions().sum, TypeKind::kInt64, List(std::move(from), std::move(lambda)));
  };
  EXPECT_EQ(
      Evaluate(*sum_of(MakeColumn(1, array), MakeLambda(2, 1, Add(Column(2), Column(0)))), batch.batch()),
      "23 0 0");
  // Within a branch, and with a branch within.
  ExpressionPtr lambda =
      MakeLambda(2, 1, If(IsEqual(Column(2), Int(1)), Int(1000), Add(Column(2), Column(0))));
  EXPECT_EQ(Evaluate(*If(IsLess(Int(5), Column(0)), sum_of(MakeColumn(1, array), std::move(lambda)), Int(-1)),
                     batch.batch()),
            "1012 0 -1");
  // A lambda within a lambda, whose array is made of the parameter of the other.
  ExpressionPtr inner = sum_of(Make(Kind::kArray, array, List(Column(2), Column(0))),
                               MakeLambda(3, 1, Add(Column(3), Column(2))));
  EXPECT_EQ(Evaluate(*sum_of(MakeColumn(1, array), MakeLambda(2, 1, std::move(inner))), batch.batch()),
            "29 0 6");
  // Of constants it is evaluated once.
  checked_rows = 0;
  const ExpressionPtr constant = sum_of(MakeLiteral(list), MakeLambda(2, 1, Add(Column(2), Int(5))));
  EXPECT_EQ(Evaluate(*constant, batch.batch()), "13 13 13");
  EXPECT_EQ(checked_rows, 2);
}

class QueryTest : public EvaluatorTest {
 protected:
  // The subquery gives these values for each run; or those of its outer row.
  void Answer(std::vector<std::optional<int64_t>> values) {
    context_.run_query = [this, values](const Plan&, absl::Span<const rows::Batch> outer, Arena* arena) {
      ++runs_;
      outer_count_ = outer.size();
      return BatchOf(values, arena);
    };
  }
  static rows::Batch BatchOf(const std::vector<std::optional<int64_t>>& values, Arena* arena) {
    Scatter scatter(ColumnType::kInt64, values.size(), arena);
    for (size_t i = 0; i < values.size(); ++i) {
      if (values[i]) scatter.PutRange(i, Gather(Value::Int(*values[i]).AsColumn(1), {0}, arena));
    }
    return {.rows = values.size(), .columns = {scatter.View()}};
  }

  size_t runs_ = 0;
  size_t outer_count_ = 0;
};

TEST_F(QueryTest, RunsAnUncorrelatedQueryOnce) {
  TestBatch batch(2);
  batch.Ints({1, 2});
  const ExpressionPtr query = Add(Query(Kind::kScalarQuery, TypeKind::kInt64), Column(0));
  Answer({5});
  Evaluator evaluator(*query, &context_);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(TextOf(TypeKind::kInt64, *evaluator.Evaluate(batch.batch(), &arena_)), "6 7");
  }
  EXPECT_EQ(runs_, 1);
  // Rows of a query further out may be others the next time.
  for (int i = 0; i < 3; ++i) {
    const rows::Batch outer[] = {batch.batch()};
    EXPECT_TRUE(evaluator.Evaluate(batch.batch(), &arena_, outer).ok());
  }
  EXPECT_EQ(runs_, 4);
}

TEST_F(QueryTest, AnswersEachKindOfQuery) {
  TestBatch batch(3);
  batch.Ints({1, 2, kNull});
  const Type array = Type::Array(TypeKind::kInt64);
  struct Case {
    std::vector<std::optional<int64_t>> values;
    std::string scalar, list, exists, in;
  };
  for (const Case& c : std::vector<Case>{
           {{}, "NULL NULL NULL", "[] [] []", "false false false", "false false false"},
           {{1}, "1 1 1", "[1] [1] [1]", "true true true", "true false NULL"},
           {{kNull}, "NULL NULL NULL", "[NULL] [NULL] [NULL]", "true true true", "NULL NULL NULL"},
           {{2, kNull},
            "More than one element",
            "[2, NULL] [2, NULL] [2, NULL]",
            "true true true",
            "NULL true NULL"},
       }) {
    Answer(c.values);
    EXPECT_EQ(Evaluate(*Query(Kind::kScalarQuery, TypeKind::kInt64), batch.batch()), c.scalar);
    EXPECT_EQ(Evaluate(*Query(Kind::kArrayQuery, array), batch.batch()), c.list);
    EXPECT_EQ(Evaluate(*Query(Kind::kExistsQuery, TypeKind::kBool), batch.batch()), c.exists);
    EXPECT_EQ(Evaluate(*Query(Kind::kInQuery, TypeKind::kBool, List(Column(0))), batch.batch()), c.in);
  }
  context_.run_query = nullptr;
  EXPECT_EQ(Evaluate(*Query(Kind::kExistsQuery, TypeKind::kBool), batch.batch()),
            "Subqueries are not supported here");
}

TEST_F(QueryTest, RunsACorrelatedQueryForEachRowThatNeedsIt) {
  TestBatch batch(3);
  batch.Ints({1, 2, kNull}).Ints({10, 20, 30});
  // Gives what the outer row has in its columns.
  context_.run_query = [this](const Plan&, absl::Span<const rows::Batch> outer, Arena* arena) {
    ++runs_;
    std::vector<std::optional<int64_t>> values;
    for (const ColumnView& column : outer[0].columns) {
      if (column.IsThere(0)) values.push_back(column.ints()[0]);
    }
    return BatchOf(values, arena);
  };
  ExpressionPtr query = Query(Kind::kArrayQuery, Type::Array(TypeKind::kInt64));
  query->is_correlated = true;
  EXPECT_EQ(Evaluate(*query, batch.batch()), "[1, 10] [2, 20] [30]");
  query->outer_columns = {1, 0, 1};
  EXPECT_EQ(Evaluate(*query, batch.batch()), "[10, 1, 10] [20, 2, 20] [30, 30]");
  query->outer_columns = {1};
  runs_ = 0;
  const Value none = Value::Null(query->type);
  EXPECT_EQ(Evaluate(*If(IsEqual(Column(0), Int(2)), MakeLiteral(none), Clone(*query)), batch.batch()),
            "[10] NULL [30]");
  EXPECT_EQ(runs_, 2);
  ExpressionPtr in = Query(Kind::kInQuery, TypeKind::kBool, List(Int(20)));
  in->is_correlated = true;
  in->outer_columns = {0, 1};
  EXPECT_EQ(Evaluate(*in, batch.batch()), "false true false");
}

TEST_F(EvaluatorTest, EvaluatesLongChains) {
  TestBatch batch(2);
  batch.Ints({0, 50});
  ExpressionPtr chain = Column(0);
  for (int i = 0; i < 1'000; ++i) chain = Add(std::move(chain), Int(20));
  EXPECT_EQ(Evaluate(*chain, batch.batch()), "20000 20050");
}

TEST_F(EvaluatorTest, EvaluatesConstantExpressions) {
  EXPECT_EQ(EvaluateConstant(*Add(Int(1), Int(2)), context_)->ToSql(), "3");
  EXPECT_EQ(EvaluateConstant(*Add(Int(1), Int(13)), context_).status(), absl::OutOfRangeError("unlucky: 13"));
}

TEST(RowsThatAreTrueTest, TakesAllFormsOfColumns) {
  std::vector<size_t> rows = {9, 9};
  TestBatch batch(4);
  batch.Ints({1, 0, kNull, 1}).Ints({0, 1, 1, 0});
  RowsThatAreTrue(batch.batch().columns[0], &rows);
  EXPECT_THAT(rows, ElementsAre(0, 3));
  RowsThatAreTrue(batch.batch().columns[1], &rows);
  EXPECT_THAT(rows, ElementsAre(1, 2));
  RowsThatAreTrue(Value::Bool(true).AsColumn(2), &rows);
  EXPECT_THAT(rows, ElementsAre(0, 1));
  RowsThatAreTrue(Value::Bool(false).AsColumn(2), &rows);
  EXPECT_THAT(rows, ElementsAre());
  RowsThatAreTrue(Value::Null(TypeKind::kBool).AsColumn(2), &rows);
  EXPECT_THAT(rows, ElementsAre());
}

}  // namespace
}  // namespace sonde::sql
