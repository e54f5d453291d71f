// For tests: functions and expressions made by hand, and columns of every form.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rows/batch.h"
#include "sql/expression/evaluator.h"
#include "sql/expression/expression.h"
#include "sql/expression/scatter.h"
#include "sql/function/function.h"
#include "sql/function/row_kernel.h"
#include "sql/value/value.h"

namespace sonde::sql {

// How many rows CheckedAdd was evaluated for.
inline size_t checked_rows = 0;

// a + b; 13 is an error, wherever it stands.
inline absl::StatusOr<int64_t> CheckedAdd(Call&, int64_t a, int64_t b) {
  ++checked_rows;
  if (a == 13 || b == 13) return absl::OutOfRangeError("unlucky: 13");
  return a + b;
}
inline bool Less(Call&, int64_t a, int64_t b) { return a < b; }
inline bool Equal(Call&, int64_t a, int64_t b) { return a == b; }
inline absl::StatusOr<int64_t> Cancel(Call&, int64_t) { return absl::CancelledError("cancelled"); }
inline absl::StatusOr<int64_t> Always(Call&, std::string_view text) {
  return absl::OutOfRangeError(std::string(text));
}
inline std::string_view Join(Call& call, std::string_view a, std::string_view b) {
  return call.arena()->Copy(std::string(a) + std::string(b));
}
// Evaluates a lambda for each element of arrays, and adds the results; NULL and an array that is NULL count as 0.
inline ColumnView SumOfLambda(Call& call, absl::Span<const ColumnView> arguments) {
  std::vector<Datum> elements;
  std::vector<size_t> outer;
  for (size_t row = 0; row < call.rows(); ++row) {
    const Datum array = DatumAt(arguments[0], row);
    if (!array.is_there) continue;
    for (const Datum& item : array.list()) {
      elements.push_back(item);
      outer.push_back(row);
    }
  }
  auto* const values = call.arena()->New<int64_t>(elements.size());
  auto* const there = call.arena()->New<uint8_t>(elements.size());
  for (size_t i = 0; i < elements.size(); ++i) {
    values[i] = elements[i].integer;
    there[i] = elements[i].is_there ? 1 : 0;
  }
  const std::vector<ColumnView> columns = {ColumnView::OfInts({values, elements.size()}, there)};
  auto* const sums = call.arena()->New<int64_t>(call.rows());
  std::fill_n(sums, call.rows(), 0);
  const absl::StatusOr<ColumnView> results = call.lambda(1)->Evaluate(columns, outer);
  if (!results.ok()) {
    call.Fail(0, results.status());
  } else {
    for (size_t i = 0; i < elements.size(); ++i) {
      if (results->IsThere(i)) sums[outer[i]] += results->ints()[results->PlaceOf(i)];
    }
  }
  return ColumnView::OfInts({sums, call.rows()});
}

// A function of one overload.
inline Function MakeFunction(std::string name, Kernel kernel) {
  Function function;
  function.name = std::move(name);
  function.overloads.emplace_back();
  function.overloads[0].kernel = kernel;
  return function;
}
struct TestFunctions {
  Function add = MakeFunction("$add", RowKernel<CheckedAdd>);
  Function less = MakeFunction("$less", RowKernel<Less>);
  Function equal = MakeFunction("$equal", RowKernel<Equal>);
  Function cancel = MakeFunction("CANCEL", RowKernel<Cancel>);
  Function error = MakeFunction("ERROR", RowKernel<Always>);
  Function join = MakeFunction("JOIN", RowKernel<Join>);
  Function sum = MakeFunction("SUM_OF", SumOfLambda);
};
inline const TestFunctions& Functions() {
  static const TestFunctions* const kFunctions = [] {
    auto* const functions = new TestFunctions;
    functions->error.is_volatile = true;
    return functions;
  }();
  return *kFunctions;
}

template <typename... Arguments>
std::vector<ExpressionPtr> List(Arguments... arguments) {
  std::vector<ExpressionPtr> list;
  (list.push_back(std::move(arguments)), ...);
  return list;
}
inline ExpressionPtr Make(Expression::Kind kind, Type type, std::vector<ExpressionPtr> arguments) {
  auto expression = std::make_unique<Expression>();
  expression->kind = kind;
  expression->type = std::move(type);
  expression->arguments = std::move(arguments);
  return expression;
}
inline ExpressionPtr MakeCall(const Function& function, Type type, std::vector<ExpressionPtr> arguments) {
  ExpressionPtr call = Make(Expression::Kind::kCall, std::move(type), std::move(arguments));
  call->function = &function;
  call->overload = &function.overloads[0];
  call->is_volatile = function.is_volatile;
  return call;
}
inline ExpressionPtr Int(int64_t value) { return MakeLiteral(Value::Int(value)); }
inline ExpressionPtr NullInt() { return MakeLiteral(Value::Null(TypeKind::kInt64)); }
inline ExpressionPtr Bool(bool value) { return MakeLiteral(Value::Bool(value)); }
inline ExpressionPtr Column(size_t index) { return MakeColumn(index, TypeKind::kInt64); }
inline ExpressionPtr Add(ExpressionPtr a, ExpressionPtr b) {
  return MakeCall(Functions().add, TypeKind::kInt64, List(std::move(a), std::move(b)));
}
inline ExpressionPtr IsLess(ExpressionPtr a, ExpressionPtr b) {
  return MakeCall(Functions().less, TypeKind::kBool, List(std::move(a), std::move(b)));
}
inline ExpressionPtr IsEqual(ExpressionPtr a, ExpressionPtr b) {
  return MakeCall(Functions().equal, TypeKind::kBool, List(std::move(a), std::move(b)));
}
// `index`: the first parameter.
inline ExpressionPtr MakeLambda(size_t index, size_t count, ExpressionPtr body) {
  const Type type = body->type;
  ExpressionPtr lambda = Make(Expression::Kind::kLambda, type, List(std::move(body)));
  lambda->index = index;
  lambda->count = count;
  return lambda;
}

// Columns of a batch, which it holds.
class TestBatch {
 public:
  explicit TestBatch(size_t rows) { batch_.rows = rows; }

  TestBatch& Add(ColumnType type, const std::vector<Datum>& data) {
    Scatter scatter(type, data.size(), &arena_);
    for (size_t i = 0; i < data.size(); ++i) {
      if (data[i].is_there) scatter.PutRange(i, OneOf(type, data[i]));
    }
    batch_.columns.push_back(scatter.View());
    return *this;
  }
  TestBatch& Ints(const std::vector<std::optional<int64_t>>& values) {
    std::vector<Datum> data;
    for (const auto& value : values) data.push_back(value ? Datum::Int(*value) : Datum::Missing());
    return Add(ColumnType::kInt64, data);
  }
  TestBatch& Constant(const Value& value) {
    constants_.push_back(value);
    batch_.columns.push_back(constants_.back().AsColumn(batch_.rows));
    return *this;
  }
  const rows::Batch& batch() const { return batch_; }

 private:
  ColumnView OneOf(ColumnType type, const Datum& datum) {
    switch (type) {
      case ColumnType::kDouble:
        return ColumnView::OfDoubles({new (arena_.New<double>(1)) double(datum.number), 1});
      case ColumnType::kBytes:
        return ColumnView::OfBytes(
            {new (arena_.New<std::string_view>(1)) std::string_view(datum.bytes()), 1});
      case ColumnType::kList:
        return ColumnView::OfLists({new (arena_.New<Datum>(1)) Datum(CopyTo(&arena_, datum)), 1});
      default:
        return ColumnView::OfInts({new (arena_.New<int64_t>(1)) int64_t(datum.integer), 1});
    }
  }

  Arena arena_;
  std::vector<Value> constants_;
  rows::Batch batch_;
};

// A column as text: "1 NULL 3".
inline std::string TextOf(const Type& type, const ColumnView& column) {
  std::string text;
  for (size_t i = 0; i < column.size(); ++i) {
    if (i > 0) text += ' ';
    AppendSql(type, DatumAt(column, i), &text);
  }
  return text;
}

}  // namespace sonde::sql
