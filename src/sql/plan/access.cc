#include "sql/plan/access.h"

#include <utility>

#include "sql/function/function.h"

namespace sonde::sql {
namespace {

const Function& WriteTimestamp() {
  static const Function* const function = [] {
    auto* const made = new Function;
    made->name = "WRITE_TIMESTAMP";
    return made;
  }();
  return *function;
}

bool IsReferenceToMap(const Expression& expression) {
  return (expression.kind == Expression::Kind::kColumn || expression.kind == Expression::Kind::kOuter) &&
         expression.type.Is(TypeKind::kMap) && expression.type.key().Is(TypeKind::kBytes);
}

bool IsLiteralBytes(const Expression& expression) {
  return expression.kind == Expression::Kind::kLiteral && expression.type.Is(TypeKind::kBytes) &&
         !expression.value.is_null();
}

std::optional<Access> CellOf(const Expression& expression) {
  const bool is_cell = IsCallOf(expression, "$map_at");
  if (!is_cell && !IsWriteTimestamp(expression)) return std::nullopt;
  if (!IsReferenceToMap(*expression.arguments[0]) || !IsLiteralBytes(*expression.arguments[1]))
    return std::nullopt;
  Access access;
  access.kind = is_cell ? ScanColumn::Kind::kCell : ScanColumn::Kind::kWriteTimestamp;
  access.qualifier = expression.arguments[1]->value.datum().bytes();
  access.type = expression.type;
  access.family = expression.arguments[0].get();
  return access;
}

// TO_INT64(cf['q']), TO_FLOAT64(cf['q']), CAST(CAST(cf['q'] AS STRING) AS INT64 | FLOAT64).
std::optional<Access> NumberOf(const Expression& expression) {
  const bool is_number = expression.type.Is(TypeKind::kInt64) || expression.type.Is(TypeKind::kFloat64);
  if (!is_number || expression.arguments.empty()) return std::nullopt;
  NumberBytes written = NumberBytes::kDecimalText;
  const Expression* cell = expression.arguments[0].get();
  bool is_safe = expression.is_safe;
  if (IsCallOf(expression, "TO_INT64")) {
    written = NumberBytes::kBigEndianInteger;
  } else if (IsCallOf(expression, "TO_FLOAT64")) {
    written = NumberBytes::kBigEndianDouble;
  } else if (expression.kind == Expression::Kind::kCast && expression.arguments.size() == 1 &&
             cell->kind == Expression::Kind::kCast && cell->type.Is(TypeKind::kString) &&
             cell->arguments.size() == 1) {
    // SAFE_CAST(CAST(x AS STRING) AS INT64) fails where x is no UTF-8: only both forms are one.
    if (cell->is_safe != expression.is_safe) return std::nullopt;
    cell = cell->arguments[0].get();
  } else {
    return std::nullopt;
  }
  std::optional<Access> access = CellOf(*cell);
  if (!access.has_value() || access->kind != ScanColumn::Kind::kCell || !access->type.Is(TypeKind::kBytes)) {
    return std::nullopt;
  }
  access->kind = ScanColumn::Kind::kNumber;
  access->written = written;
  access->is_safe = is_safe;
  access->type = expression.type;
  return access;
}

}  // namespace

ExpressionPtr MakeWriteTimestamp(ExpressionPtr family, ExpressionPtr qualifier) {
  auto call = std::make_unique<Expression>();
  call->kind = Expression::Kind::kCall;
  call->type = TypeKind::kTimestamp;
  call->function = &WriteTimestamp();
  call->arguments.push_back(std::move(family));
  call->arguments.push_back(std::move(qualifier));
  return call;
}

bool IsWriteTimestamp(const Expression& expression) {
  return expression.kind == Expression::Kind::kCall && expression.function == &WriteTimestamp();
}

std::optional<Access> AccessOf(const Expression& expression, bool numbers) {
  if (numbers) {
    std::optional<Access> number = NumberOf(expression);
    if (number.has_value()) return number;
  }
  return CellOf(expression);
}

}  // namespace sonde::sql
