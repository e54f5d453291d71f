#include "sql/expression/expression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sql/expression/expression_test_support.h"

namespace sonde::sql {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Kind = Expression::Kind;

ExpressionPtr MakeParameter(size_t index) {
  ExpressionPtr parameter = Make(Kind::kParameter, TypeKind::kInt64, {});
  parameter->index = index;
  return parameter;
}

ExpressionPtr MakeArray(std::vector<ExpressionPtr> elements) {
  return Make(Kind::kArray, Type::Array(TypeKind::kInt64), std::move(elements));
}

// SUM_OF([$1], ($4) -> SUM_OF([$4], ($5) -> $5 + $2))
ExpressionPtr NestedLambdas() {
  ExpressionPtr inner = MakeLambda(5, 1, Add(Column(5), Column(2)));
  ExpressionPtr inner_sum =
      MakeCall(Functions().sum, TypeKind::kInt64, List(MakeArray(List(Column(4))), std::move(inner)));
  return MakeCall(Functions().sum, TypeKind::kInt64,
                  List(MakeArray(List(Column(1))), MakeLambda(4, 1, std::move(inner_sum))));
}

ExpressionPtr CorrelatedQuery(std::vector<size_t> outer_columns) {
  ExpressionPtr query = Make(Kind::kScalarQuery, TypeKind::kInt64, {});
  query->is_correlated = true;
  query->outer_columns = std::move(outer_columns);
  return query;
}

TEST(ExpressionTest, WritesItselfAsText) {
  ExpressionPtr choice =
      Make(Kind::kCase, TypeKind::kInt64,
           List(IsLess(Column(0), MakeParameter(1)), Int(1), Bool(true), NullInt(), Add(Column(2), Int(-3))));
  EXPECT_EQ(ToString(*choice), "CASE WHEN ($0 < @1) THEN 1 WHEN true THEN NULL ELSE ($2 + -3) END");
  EXPECT_EQ(ToString(*NestedLambdas()), "SUM_OF([$1], ($4) -> SUM_OF([$4], ($5) -> ($5 + $2)))");

  ExpressionPtr safe = Add(Int(1), Column(1));
  safe->is_safe = true;
  EXPECT_EQ(ToString(*safe), "SAFE.$add(1, $1)");

  ExpressionPtr cast = Make(Kind::kCast, TypeKind::kString, List(Column(0)));
  EXPECT_EQ(ToString(*cast), "CAST($0 AS STRING)");
  const Type pair = Type::Struct({{"a", TypeKind::kInt64}, {"", TypeKind::kInt64}});
  ExpressionPtr field =
      Make(Kind::kField, TypeKind::kInt64, List(Make(Kind::kStruct, pair, List(Int(1), Int(2)))));
  EXPECT_EQ(ToString(*field), "STRUCT(1, 2).a");
  field->index = 1;
  EXPECT_EQ(ToString(*field), "STRUCT(1, 2).1");
  ExpressionPtr outer = Make(Kind::kOuter, TypeKind::kInt64, {});
  outer->depth = 2;
  outer->index = 7;
  EXPECT_EQ(
      ToString(*Make(Kind::kAnd, TypeKind::kBool, List(IsEqual(std::move(outer), Int(1)), Bool(false)))),
      "(($^^.7 = 1) AND false)");
}

TEST(ExpressionTest, IsTheSameAsItsClone) {
  const ExpressionPtr original = NestedLambdas();
  const ExpressionPtr clone = Clone(*original);
  EXPECT_TRUE(IsSame(*original, *clone));
  EXPECT_EQ(ToString(*original), ToString(*clone));
  clone->arguments[1]->arguments[0]->arguments[0]->arguments[0]->index = 3;
  EXPECT_FALSE(IsSame(*original, *clone));
}

TEST(ExpressionTest, TellsExpressionsApart) {
  EXPECT_TRUE(IsSame(*Int(1), *Int(1)));
  EXPECT_FALSE(IsSame(*Int(1), *Int(2)));
  EXPECT_FALSE(IsSame(*Int(1), *NullInt()));
  EXPECT_FALSE(IsSame(*Int(1), *MakeLiteral(Value::Date(1))));
  EXPECT_FALSE(IsSame(*MakeLiteral(Value::Double(0.0)), *MakeLiteral(Value::Double(-0.0))));
  EXPECT_TRUE(IsSame(*MakeLiteral(Value::String("a")), *MakeLiteral(Value::String("a"))));
  EXPECT_FALSE(IsSame(*Add(Int(1), Int(2)), *IsLess(Int(1), Int(2))));
  EXPECT_FALSE(IsSame(*Add(Int(1), Int(2)), *Add(Int(2), Int(1))));
  // Each evaluation gives something else.
  const ExpressionPtr error =
      MakeCall(Functions().error, TypeKind::kInt64, List(MakeLiteral(Value::String("x"))));
  EXPECT_FALSE(IsSame(*error, *error));
}

TEST(ExpressionTest, IsConstantWithoutColumnsParametersAndVolatileCalls) {
  EXPECT_TRUE(IsConstant(*Add(Int(1), Int(2))));
  EXPECT_FALSE(IsConstant(*Add(Int(1), Column(0))));
  EXPECT_FALSE(IsConstant(*Add(Int(1), MakeParameter(0))));
  EXPECT_FALSE(
      IsConstant(*MakeCall(Functions().error, TypeKind::kInt64, List(MakeLiteral(Value::String("x"))))));
  EXPECT_FALSE(IsConstant(*NestedLambdas()));
  EXPECT_TRUE(IsConstant(*MakeCall(Functions().sum, TypeKind::kInt64,
                                   List(MakeArray(List(Int(1))), MakeLambda(0, 1, Column(0))))));
}

TEST(ExpressionTest, KnowsItsColumns) {
  EXPECT_THAT(ColumnsOf(*Int(1)), IsEmpty());
  EXPECT_THAT(ColumnsOf(*Add(Add(Column(5), Column(2)), Column(5))), ElementsAre(2, 5));
  EXPECT_THAT(ColumnsOf(*NestedLambdas()), ElementsAre(1, 2));
  EXPECT_THAT(ColumnsOf(*Add(CorrelatedQuery({3, 1}), Column(2))), ElementsAre(1, 2, 3));
}

TEST(ExpressionTest, MapsColumnsAndMovesParametersOfLambdas) {
  ExpressionPtr lambdas = NestedLambdas();
  MapColumns({0, 6, 4, 3}, lambdas.get());
  EXPECT_EQ(ToString(*lambdas), "SUM_OF([$6], ($7) -> SUM_OF([$7], ($8) -> ($8 + $4)))");
  // Columns that nothing reads may go nowhere.
  constexpr auto kNowhere = static_cast<size_t>(-1);
  ExpressionPtr fewer = NestedLambdas();
  MapColumns({kNowhere, 0, 1, kNowhere}, fewer.get());
  EXPECT_EQ(ToString(*fewer), "SUM_OF([$0], ($2) -> SUM_OF([$2], ($3) -> ($3 + $1)))");

  ExpressionPtr query = CorrelatedQuery({2, 0});
  MapColumns({7, 8, 9}, query.get());
  EXPECT_THAT(query->outer_columns, ElementsAre(9, 7));
}

}  // namespace
}  // namespace sonde::sql
