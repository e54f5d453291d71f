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

// The argument of a conversion of bytes to a number; null: it is none.
const ExpressionPtr* ConvertedOf(const Expression& expression, NumberBytes* written) {
  if (expression.arguments.size() != 1) return nullptr;
  const ExpressionPtr& argument = expression.arguments[0];
  if (IsCallOf(expression, "TO_INT64")) {
    *written = NumberBytes::kBigEndianInteger;
    return &argument;
  }
  if (IsCallOf(expression, "TO_FLOAT64")) {
    *written = NumberBytes::kBigEndianDouble;
    return &argument;
  }
  // INT64 is none: of numbers as text a table says what they are, and not whether there was 9 or 9.0.
  const bool is_cast = expression.kind == Expression::Kind::kCast && expression.type.Is(TypeKind::kFloat64) &&
                       argument->kind == Expression::Kind::kCast && argument->type.Is(TypeKind::kString) &&
                       argument->arguments.size() == 1;
  *written = NumberBytes::kDecimalText;
  return is_cast ? &argument->arguments[0] : nullptr;
}

NumberAccess MakeNumberAccess(NumberBytes written, const Type& number) {
  NumberAccess access;
  access.number.kind = ScanColumn::Kind::kNumber;
  access.number.written = written;
  access.number.type = number;
  access.bytes.kind = ScanColumn::Kind::kNumberBytes;
  access.bytes.written = written;
  access.bytes.type = TypeKind::kBytes;
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

std::optional<Access> AccessOf(const Expression& expression) { return CellOf(expression); }

std::optional<NumberAccess> NumberAccessOf(const Expression& expression) {
  NumberBytes written = NumberBytes::kDecimalText;
  const ExpressionPtr* const converted = ConvertedOf(expression, &written);
  if (converted == nullptr || !(*converted)->type.Is(TypeKind::kBytes)) return std::nullopt;
  NumberAccess access = MakeNumberAccess(written, expression.type);
  access.cell = converted->get();
  const Expression* reference = access.cell;
  if (const std::optional<Access> cell = CellOf(*access.cell); cell.has_value()) {
    if (cell->kind != ScanColumn::Kind::kCell) return std::nullopt;
    access.number.qualifier = access.bytes.qualifier = cell->qualifier;
    reference = cell->family;
  } else if (reference->kind != Expression::Kind::kColumn && reference->kind != Expression::Kind::kOuter) {
    return std::nullopt;
  }
  access.number.family = access.bytes.family = reference;
  return access;
}

NumberAccess AccessOfTimes() { return MakeNumberAccess(NumberBytes::kBigEndianInteger, TypeKind::kInt64); }

ExpressionPtr MakeOfNumber(const Expression& expression, const NumberAccess& access, ExpressionPtr number,
                           ExpressionPtr bytes) {
  ExpressionPtr of_bytes = Clone(expression);
  ExpressionPtr* at = &of_bytes->arguments[0];
  if (expression.arguments[0].get() != access.cell) at = &(*at)->arguments[0];
  *at = std::move(bytes);
  auto either = std::make_unique<Expression>();
  either->kind = Expression::Kind::kCoalesce;
  either->type = expression.type;
  either->arguments.push_back(std::move(number));
  either->arguments.push_back(std::move(of_bytes));
  return either;
}

}  // namespace sonde::sql
