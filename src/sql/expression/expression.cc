#include "sql/expression/expression.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/check.h"
#include "model/datum.h"

namespace sonde::sql {
namespace {

// Whether two data are the same bit by bit: -0.0 is not 0.0.
bool IsSameDatum(const Datum& a, const Datum& b) {
  if (a.is_there != b.is_there) return false;
  if (!a.is_there) return true;
  if (a.kind != b.kind) return false;
  switch (a.kind) {
    case Datum::Kind::kInt:
      return a.integer == b.integer;
    case Datum::Kind::kDouble:
      return std::bit_cast<uint64_t>(a.number) == std::bit_cast<uint64_t>(b.number);
    case Datum::Kind::kBytes:
      return a.bytes() == b.bytes();
    case Datum::Kind::kList:
      break;
  }
  return std::equal(a.list().begin(), a.list().end(), b.list().begin(), b.list().end(), IsSameDatum);
}

// Whether two expressions are the same but for their arguments.
bool IsSameNode(const Expression& a, const Expression& b) {
  return a.kind == b.kind && a.type == b.type && a.index == b.index && a.count == b.count &&
         a.depth == b.depth && a.is_safe == b.is_safe && a.function == b.function &&
         a.overload == b.overload && a.cast == b.cast && a.equal == b.equal && a.plan == b.plan &&
         a.is_correlated == b.is_correlated && a.outer_columns == b.outer_columns &&
         a.value.type() == b.value.type() && IsSameDatum(a.value.datum(), b.value.datum());
}

bool IsVolatile(const Expression& expression) {
  return expression.is_volatile || (expression.function != nullptr && expression.function->is_volatile);
}

// The parameters of the lambdas around an expression: columns [first, first + count).
struct Parameters {
  size_t first = 0;
  size_t count = 0;
  bool Has(size_t column) const { return column >= first && column - first < count; }
};

bool IsParameter(const std::vector<Parameters>& lambdas, size_t column) {
  return std::any_of(lambdas.begin(), lambdas.end(),
                     [column](const Parameters& parameters) { return parameters.Has(column); });
}

void CollectColumns(const Expression& expression, std::vector<Parameters>* lambdas,
                    std::vector<size_t>* columns) {
  if (expression.kind == Expression::Kind::kColumn && !IsParameter(*lambdas, expression.index)) {
    columns->push_back(expression.index);
  }
  DCHECK(!expression.is_correlated || !expression.outer_columns.empty());
  for (const size_t column : expression.outer_columns) {
    if (!IsParameter(*lambdas, column)) columns->push_back(column);
  }
  const bool is_lambda = expression.kind == Expression::Kind::kLambda;
  if (is_lambda) lambdas->push_back({expression.index, expression.count});
  for (const ExpressionPtr& argument : expression.arguments) CollectColumns(*argument, lambdas, columns);
  if (is_lambda) lambdas->pop_back();
}

bool IsConstantInside(const Expression& expression, std::vector<Parameters>* lambdas) {
  switch (expression.kind) {
    case Expression::Kind::kParameter:
    case Expression::Kind::kOuter:
    case Expression::Kind::kScalarQuery:
    case Expression::Kind::kArrayQuery:
    case Expression::Kind::kExistsQuery:
    case Expression::Kind::kInQuery:
      return false;
    case Expression::Kind::kColumn:
      return IsParameter(*lambdas, expression.index);
    default:
      break;
  }
  if (IsVolatile(expression)) return false;
  const bool is_lambda = expression.kind == Expression::Kind::kLambda;
  if (is_lambda) lambdas->push_back({expression.index, expression.count});
  const bool is_constant =
      std::all_of(expression.arguments.begin(), expression.arguments.end(),
                  [lambdas](const ExpressionPtr& argument) { return IsConstantInside(*argument, lambdas); });
  if (is_lambda) lambdas->pop_back();
  return is_constant;
}

// Replaces columns by a mapping, and moves what lambdas add behind the columns.
class ColumnMapper {
 public:
  explicit ColumnMapper(const std::vector<size_t>& mapping) : mapping_(mapping) {
    for (const size_t column : mapping) {
      if (column != kNowhere) end_ = std::max(end_, column + 1);
    }
  }

  void Map(Expression* expression) {
    if (expression->kind == Expression::Kind::kColumn) expression->index = Mapped(expression->index);
    DCHECK(!expression->is_correlated || !expression->outer_columns.empty());
    for (size_t& column : expression->outer_columns) column = Mapped(column);
    if (expression->kind != Expression::Kind::kLambda) {
      for (const ExpressionPtr& argument : expression->arguments) Map(argument.get());
      return;
    }
    lambdas_.push_back({expression->index, expression->count});
    for (const ExpressionPtr& argument : expression->arguments) Map(argument.get());
    lambdas_.pop_back();
    expression->index = Moved(expression->index);
  }

 private:
  // What a mapping may have in the place of a column that no expression reads.
  static constexpr size_t kNowhere = static_cast<size_t>(-1);

  size_t Mapped(size_t column) const {
    if (IsParameter(lambdas_, column)) return Moved(column);
    CHECK(column < mapping_.size() && mapping_[column] != kNowhere);
    return mapping_[column];
  }
  size_t Moved(size_t parameter) const {
    DCHECK(parameter >= mapping_.size());
    return parameter - mapping_.size() + end_;
  }

  const std::vector<size_t>& mapping_;
  size_t end_ = 0;
  std::vector<Parameters> lambdas_;
};

}  // namespace

ExpressionPtr MakeLiteral(Value value) {
  auto expression = std::make_unique<Expression>();
  expression->kind = Expression::Kind::kLiteral;
  expression->type = value.type();
  expression->value = std::move(value);
  return expression;
}

ExpressionPtr MakeColumn(size_t index, Type type) {
  auto expression = std::make_unique<Expression>();
  expression->kind = Expression::Kind::kColumn;
  expression->type = std::move(type);
  expression->index = index;
  return expression;
}

ExpressionPtr Clone(const Expression& expression) {
  auto clone = std::make_unique<Expression>();
  clone->kind = expression.kind;
  clone->type = expression.type;
  clone->value = expression.value;
  clone->index = expression.index;
  clone->count = expression.count;
  clone->depth = expression.depth;
  clone->is_safe = expression.is_safe;
  clone->function = expression.function;
  clone->overload = expression.overload;
  clone->cast = expression.cast;
  clone->equal = expression.equal;
  clone->plan = expression.plan;
  clone->is_correlated = expression.is_correlated;
  clone->outer_columns = expression.outer_columns;
  clone->is_volatile = expression.is_volatile;
  clone->arguments.reserve(expression.arguments.size());
  for (const ExpressionPtr& argument : expression.arguments) clone->arguments.push_back(Clone(*argument));
  return clone;
}

bool IsSame(const Expression& a, const Expression& b) {
  if (!IsSameNode(a, b) || IsVolatile(a) || IsVolatile(b)) return false;
  return std::equal(a.arguments.begin(), a.arguments.end(), b.arguments.begin(), b.arguments.end(),
                    [](const ExpressionPtr& x, const ExpressionPtr& y) { return IsSame(*x, *y); });
}

bool IsCallOf(const Expression& expression, std::string_view name) {
  return expression.kind == Expression::Kind::kCall && expression.function != nullptr &&
         expression.function->name == name;
}

bool IsConstant(const Expression& expression) {
  std::vector<Parameters> lambdas;
  return IsConstantInside(expression, &lambdas);
}

std::vector<size_t> ColumnsOf(const Expression& expression) {
  std::vector<size_t> columns;
  std::vector<Parameters> lambdas;
  CollectColumns(expression, &lambdas, &columns);
  std::sort(columns.begin(), columns.end());
  columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
  return columns;
}

void MapColumns(const std::vector<size_t>& mapping, Expression* expression) {
  ColumnMapper(mapping).Map(expression);
}

}  // namespace sonde::sql
