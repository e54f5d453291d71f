#include "sql/function/signature.h"

#include <gtest/gtest.h>

#include <string>

#include "sql/function/coercion.h"
#include "sql/testing/function_calls.h"

namespace sonde::sql {
namespace {

constexpr TypeKind kInt64 = TypeKind::kInt64;
constexpr TypeKind kFloat32 = TypeKind::kFloat32;
constexpr TypeKind kFloat64 = TypeKind::kFloat64;
constexpr TypeKind kString = TypeKind::kString;
constexpr TypeKind kBytes = TypeKind::kBytes;
constexpr TypeKind kDate = TypeKind::kDate;
constexpr TypeKind kTimestamp = TypeKind::kTimestamp;

TestArgument Of(Type type) { return TestArgument::NotLiteral(Value::Null(std::move(type))); }
TestArgument Parameter(Type type) {
  TestArgument argument = Of(std::move(type));
  argument.facts.is_parameter = true;
  return argument;
}
TestArgument List(Type element, const std::vector<Value>& values) {
  return Value::Array(std::move(element), values);
}

std::vector<ArgumentFacts> FactsOf(const std::vector<TestArgument>& arguments) {
  std::vector<ArgumentFacts> facts;
  for (const TestArgument& argument : arguments) facts.push_back(argument.facts);
  return facts;
}

// The type, or "none".
std::string Supertype(const std::vector<TestArgument>& values) {
  const std::optional<Type> type = CommonSupertype(FactsOf(values));
  return type.has_value() ? type->ToString() : "none";
}

TEST(CommonSupertype, IsGoogleSqls) {
  const TestArgument null = TestArgument::Null();
  const TestArgument empty = TestArgument::EmptyArray();
  const struct {
    std::vector<TestArgument> values;
    std::string expected;
  } kCases[] = {
      {{1, 1.5}, "FLOAT64"},
      {{Of(kInt64), 1.5}, "FLOAT64"},
      {{Of(kInt64), Of(kFloat32)}, "FLOAT64"},
      {{1, Of(kFloat32)}, "FLOAT32"},
      {{Of(kFloat32), 1.5}, "FLOAT32"},
      {{Of(kFloat32), Of(kFloat64)}, "FLOAT64"},
      {{"a", Value::Bytes("b")}, "BYTES"},
      {{"é", Value::Bytes("b")}, "none"},
      {{Of(kString), Value::Bytes("b")}, "none"},
      {{"a", Of(kBytes)}, "BYTES"},
      {{Value::Date(0), "2020-01-02"}, "DATE"},
      {{"2020-01-01", Of(kTimestamp), "b"}, "TIMESTAMP"},
      {{Value::Date(0), Value::Timestamp(0)}, "none"},
      {{Parameter(kString), Of(kDate)}, "DATE"},
      {{Parameter(kString), Of(kBytes)}, "none"},
      {{null, 1.5}, "FLOAT64"},
      {{null, null}, "INT64"},
      {{empty, null}, "ARRAY<INT64>"},
      {{empty, List(kString, {Value::String("a")})}, "ARRAY<STRING>"},
      {{empty, "a"}, "none"},
      {{List(kInt64, {Value::Int(1)}), List(kFloat64, {Value::Double(1)})}, "ARRAY<FLOAT64>"},
      {{Of(Type::Array(kInt64)), List(kFloat64, {Value::Double(1)})}, "none"},
      {{1, "1"}, "none"},
      {{Of(Type::Map(kBytes, kInt64)), Of(Type::Map(kBytes, kInt64))}, "MAP<BYTES, INT64>"},
  };
  for (const auto& test : kCases) EXPECT_EQ(Supertype(test.values), test.expected);
}

TEST(CommonSupertype, IsMadeFieldByFieldWithNamesOfTheFirst) {
  const Type ints = Type::Struct({{"a", kInt64}, {"b", kInt64}});
  const Type mixed = Type::Struct({{"", kFloat64}, {"", kInt64}});
  const TestArgument first = Value::Struct(ints, {Value::Int(1), Value::Int(2)});
  const TestArgument second = Value::Struct(mixed, {Value::Double(1), Value::Int(2)});
  EXPECT_EQ(Supertype({first, second}), "STRUCT<a FLOAT64, b INT64>");
  EXPECT_EQ(Supertype({second, first}), "STRUCT<FLOAT64, INT64>");
  EXPECT_EQ(Supertype({second, 1}), "none");
}

TEST(CoercionCost, IsThereOnlyForWhatCoerces) {
  const auto coerces = [](const TestArgument& from, const Type& to) {
    return CoercionCost(from.facts, to).has_value();
  };
  EXPECT_EQ(CoercionCost(TestArgument(1).facts, kInt64), 0);
  EXPECT_TRUE(coerces(1, kFloat32));
  EXPECT_FALSE(coerces(Of(kInt64), kFloat32));
  EXPECT_TRUE(coerces(Of(kFloat32), kFloat64));
  EXPECT_FALSE(coerces(Of(kFloat64), kFloat32));
  EXPECT_TRUE(coerces("2020-01-01", kDate));
  EXPECT_FALSE(coerces(Of(kString), kDate));
  EXPECT_TRUE(coerces(Parameter(kString), kDate));
  EXPECT_TRUE(coerces(List(kString, {Value::String("a")}), Type::Array(kBytes)));
  EXPECT_FALSE(coerces(List(kString, {Value::String("é")}), Type::Array(kBytes)));
  EXPECT_FALSE(coerces(Of(Type::Array(kString)), Type::Array(kBytes)));
  EXPECT_TRUE(coerces(TestArgument::Null(), Type::Array(kBytes)));
  EXPECT_TRUE(coerces(TestArgument::EmptyArray(), Type::Array(kBytes)));
  EXPECT_FALSE(coerces(TestArgument::EmptyArray(), kBytes));
}

// "(INT64, STRING) -> BOOL", or "none".
std::string Fitted(std::string_view signature, const std::vector<TestArgument>& arguments,
                   const Signature::LambdaResult& lambda = {}) {
  const auto match = Signature::Parse(signature).Fit(FactsOf(arguments), lambda);
  if (!match.has_value()) return "none";
  std::string text = "(";
  for (const Type& type : match->argument_types) text += (text.size() > 1 ? ", " : "") + type.ToString();
  return text + ") -> " + match->result.ToString();
}

TEST(Signature, FitsByCountAndType) {
  EXPECT_EQ(Fitted("() -> INT64", {}), "() -> INT64");
  EXPECT_EQ(Fitted("() -> INT64", {1}), "none");
  EXPECT_EQ(Fitted("(INT64, [STRING]) -> BOOL", {1}), "(INT64) -> BOOL");
  EXPECT_EQ(Fitted("(INT64, [STRING]) -> BOOL", {1, "a"}), "(INT64, STRING) -> BOOL");
  EXPECT_EQ(Fitted("(INT64, [STRING]) -> BOOL", {1, "a", "b"}), "none");
  EXPECT_EQ(Fitted("(INT64, [zone => STRING]) -> BOOL", {1, 2}), "none");
  EXPECT_EQ(Fitted("(T1:ORDERABLE, T1...) -> T1", {1, 2.5, 3}), "(FLOAT64, FLOAT64, FLOAT64) -> FLOAT64");
  EXPECT_EQ(Fitted("(T1:ORDERABLE, T1...) -> T1", {1}), "(INT64) -> INT64");
  EXPECT_EQ(Fitted("(T1:ORDERABLE, T1...) -> T1", {List(kInt64, {})}), "none");
  EXPECT_EQ(Fitted("(T1:ORDERABLE, T1...) -> T1", {TestArgument::Null()}), "(INT64) -> INT64");
}

TEST(Signature, FindsTypesInsideOfArraysAndMaps) {
  EXPECT_EQ(Fitted("(ARRAY<T1>, T1) -> BOOL", {List(kInt64, {}), 1.5}), "(ARRAY<FLOAT64>, FLOAT64) -> BOOL");
  EXPECT_EQ(Fitted("(ARRAY<T1>, T1) -> BOOL", {Of(Type::Array(kInt64)), 1.5}), "none");
  EXPECT_EQ(Fitted("(ARRAY<T1>) -> T1", {TestArgument::EmptyArray()}), "(ARRAY<INT64>) -> INT64");
  EXPECT_EQ(Fitted("(ARRAY<T1>) -> T1", {1}), "none");
  EXPECT_EQ(Fitted("(T1) -> ARRAY<T1>", {List(kInt64, {})}), "none");
  EXPECT_EQ(Fitted("(MAP<T1, T2>, T1) -> T2", {Of(Type::Map(kBytes, kInt64)), "a"}),
            "(MAP<BYTES, INT64>, BYTES) -> INT64");
  EXPECT_EQ(Fitted("(MAP<T1, T2>) -> ARRAY<STRUCT<key T1, value T2>>", {Of(Type::Map(kBytes, kInt64))}),
            "(MAP<BYTES, INT64>) -> ARRAY<STRUCT<key BYTES, value INT64>>");
}

TEST(Signature, TakesPartsIntervalsAndLambdas) {
  EXPECT_EQ(Fitted("(DATE, PART) -> DATE", {"2020-01-01", TestArgument::Part("MONTH")}),
            "(DATE, STRING) -> DATE");
  EXPECT_EQ(Fitted("(DATE, PART) -> DATE", {"2020-01-01", "MONTH"}), "none");
  EXPECT_EQ(Fitted("(DATE, INTERVAL) -> DATE", {Of(kDate), TestArgument::Interval(1, "DAY")}),
            "(DATE, INT64) -> DATE");
  const TestArgument lambda = TestArgument::Lambda(1, nullptr);
  const Signature::LambdaResult text = [](size_t, absl::Span<const Type> parameters) -> std::optional<Type> {
    EXPECT_EQ(parameters[0].ToString(), "INT64");
    return kString;
  };
  EXPECT_EQ(Fitted("(ARRAY<T1>, T1 -> T2) -> ARRAY<T2>", {List(kInt64, {}), lambda}, text),
            "(ARRAY<INT64>, STRING) -> ARRAY<STRING>");
  EXPECT_EQ(Fitted("(ARRAY<T1>, T1 -> BOOL) -> ARRAY<T1>", {List(kInt64, {}), lambda}, text), "none");
  EXPECT_EQ(Fitted("(ARRAY<T1>, (T1, INT64) -> BOOL) -> ARRAY<T1>", {List(kInt64, {}), lambda}, text),
            "none");
}

TEST(Signature, CostsLessWhereLessIsCoerced) {
  const auto cost = [](std::string_view signature, const std::vector<TestArgument>& arguments) {
    return Signature::Parse(signature).Fit(FactsOf(arguments))->cost;
  };
  EXPECT_EQ(cost("(INT64) -> INT64", {1}), 0);
  EXPECT_LT(cost("(FLOAT64) -> INT64", {1}), cost("(FLOAT32) -> INT64", {1}));
  EXPECT_LT(cost("(FLOAT32, FLOAT32) -> INT64", {1, 1}), cost("(FLOAT64) -> INT64", {Of(kInt64)}));
  EXPECT_LT(cost("(STRING) -> INT64", {"a"}), cost("(BYTES) -> INT64", {"a"}));
}

}  // namespace
}  // namespace sonde::sql
