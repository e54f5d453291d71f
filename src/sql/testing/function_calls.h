// Calls functions in tests, by name, for one row, and checks by the way that the row comes out the same in columns of
// every form: constant ones, ones with a value a row, ones with rows that are NULL between.
//
//   EXPECT_EQ(Called("SUBSTR", {"abc", 2}), "STRING: \"bc\"");
//   EXPECT_EQ(Called("$divide", {1.0, 0.0}), "OUT_OF_RANGE: division by zero: 1 / 0");
//   EXPECT_EQ(Evaluated("SUBSTR('abc', 2)"), "STRING: \"bc\"");     // test_expression.h
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "sql/function/call.h"
#include "sql/function/signature.h"
#include "sql/value/value.h"

namespace sonde::sql {

// An argument of a call.  Values are literals, unless they were made by NotLiteral.
struct TestArgument {
  using LambdaBody = std::function<absl::StatusOr<Value>(absl::Span<const Value> arguments)>;

  // NOLINTBEGIN(google-explicit-constructor): a row of arguments should be short.
  TestArgument(Value of) : value(std::move(of)) { SetLiteral(); }
  TestArgument(int of) : TestArgument(Value::Int(of)) {}
  TestArgument(int64_t of) : TestArgument(Value::Int(of)) {}
  TestArgument(double of) : TestArgument(Value::Double(of)) {}
  TestArgument(bool of) : TestArgument(Value::Bool(of)) {}
  TestArgument(const char* of) : TestArgument(Value::String(of)) {}
  // NOLINTEND(google-explicit-constructor)
  static TestArgument NotLiteral(Value of);
  static TestArgument Null();        // without a type
  static TestArgument EmptyArray();  // without a type
  static TestArgument Part(std::string_view part);
  static TestArgument Interval(TestArgument count, std::string_view part);
  // Asked with arguments that are NULL, the body must give a value of its type.
  static TestArgument Lambda(size_t parameters, LambdaBody body);

  ArgumentFacts facts;
  Value value;
  std::string part;  // of PART and INTERVAL
  LambdaBody body;

 private:
  void SetLiteral();
};

struct TestCall {
  bool is_safe = false;
  StatementFacts facts;
};

// The result of a call.  INVALID_ARGUMENT: no overload fits.
absl::StatusOr<Value> CallFunction(std::string_view name, std::vector<TestArgument> arguments,
                                   const TestCall& call = {});
// CAST(argument AS to), with a format if there are more arguments.
absl::StatusOr<Value> CallCast(std::vector<TestArgument> arguments, const Type& to,
                               const TestCall& call = {});

// "INT64: 1", "OUT_OF_RANGE: Bad int64 value: x".
std::string TextOf(const absl::StatusOr<Value>& result);
// The same of a call.
std::string Called(std::string_view name, std::vector<TestArgument> arguments, const TestCall& call = {});

}  // namespace sonde::sql
