// CAST and EXTRACT.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "sql/bind/query_binder.h"
#include "sql/cast/cast.h"
#include "sql/plan/plan_tree.h"
#include "sql/plan/try.h"
#include "sql/time/calendar.h"

namespace sonde::sql {

absl::StatusOr<ExpressionPtr> QueryBinder::MakeCast(ExpressionPtr value, const Type& to, bool is_safe,
                                                    Position position) {
  const Kernel kernel = FindCast(value->type, to);
  if (kernel == nullptr) {
    return Error(position, fmt::format("Invalid cast from {} to {}", value->type.ToString(), to.ToString()));
  }
  auto cast = std::make_unique<Expression>();
  cast->kind = Expression::Kind::kCast;
  cast->type = to;
  cast->cast = kernel;
  cast->is_safe = is_safe;
  cast->arguments.push_back(std::move(value));
  return cast;
}

absl::StatusOr<ExpressionPtr> QueryBinder::BindCast(const Expr& expr, const Site& site) {
  const Expr& operand = *expr.children[0];
  SONDE_TRY_SET(ExpressionPtr value, BindExpression(operand, site));
  SONDE_TRY_SET(const Type to, BindType(*expr.type));
  const Expr* const format = expr.children.size() > 1 ? expr.children[1].get() : nullptr;
  const Expr* const zone = expr.children.size() > 2 ? expr.children[2].get() : nullptr;
  if (value->kind == Expression::Kind::kLiteral && value->written == Expression::Written::kUntyped) {
    SONDE_TRY_SET(value, Coerce(std::move(value), to, operand.position));
    value->written = Expression::Written::kNo;
    return value;
  }
  if (format == nullptr && zone == nullptr) {
    if (value->type == to) {
      value->written = Expression::Written::kNo;
      return value;
    }
    return MakeCast(std::move(value), to, expr.safe, operand.position);
  }
  const Kernel kernel = FindFormatCast(value->type, to);
  const std::string pair = fmt::format("cast from {} to {}", value->type.ToString(), to.ToString());
  if (kernel == nullptr || (format == nullptr && zone != nullptr)) {
    return format == nullptr ? Error(zone->position, fmt::format("AT TIME ZONE is not allowed for {}", pair))
                             : Error(format->position, fmt::format("FORMAT is not allowed for {}", pair));
  }
  if (zone != nullptr && !value->type.Is(TypeKind::kTimestamp) && !to.Is(TypeKind::kTimestamp)) {
    return Error(zone->position, fmt::format("AT TIME ZONE is not allowed for {}", pair));
  }
  SONDE_TRY_SET(ExpressionPtr cast, [&]() -> Bound {
    auto made = std::make_unique<Expression>();
    made->kind = Expression::Kind::kCast;
    made->type = to;
    made->cast = kernel;
    made->is_safe = expr.safe;
    made->arguments.push_back(std::move(value));
    return made;
  }());
  for (const Expr* const extra : {format, zone}) {
    if (extra == nullptr) continue;
    SONDE_TRY_SET(ExpressionPtr bound, BindExpression(*extra, site));
    if (!CoercionCost(FactsOf(*bound), TypeKind::kString).has_value()) {
      return Error(extra->position,
                   fmt::format("{} should be a STRING, but is {}",
                               extra == format ? "FORMAT expression" : "AT TIME ZONE expression",
                               bound->type.ToString()));
    }
    SONDE_TRY_SET(bound, Coerce(std::move(bound), TypeKind::kString, extra->position));
    cast->arguments.push_back(std::move(bound));
  }
  return cast;
}

absl::StatusOr<ExpressionPtr> QueryBinder::BindExtract(const Expr& expr, const Site& site) {
  std::vector<ExpressionPtr> arguments;
  arguments.push_back(MakeLiteral(Value::String(expr.text)));
  SONDE_TRY_SET(ExpressionPtr value, BindExpression(*expr.children[0], site));
  const ArgumentFacts facts = FactsOf(*value);
  if (!value->type.Is(TypeKind::kDate) && !value->type.Is(TypeKind::kTimestamp) && !facts.is_untyped_null) {
    return Error(expr.position,
                 fmt::format("EXTRACT does not support {}{} arguments",
                             facts.literal.has_value() ? "literal " : "", value->type.ToString()));
  }
  const bool is_date = value->type.Is(TypeKind::kDate);
  arguments.push_back(std::move(value));
  if (expr.children.size() > 1 && expr.children[1] != nullptr) {
    if (is_date) return Error(expr.position, "EXTRACT from DATE does not support AT TIME ZONE");
    SONDE_TRY_SET(ExpressionPtr zone, BindExpression(*expr.children[1], site));
    arguments.push_back(std::move(zone));
  }
  const std::optional<DatePart> part = ParseDatePart(expr.text);
  const bool is_known =
      part.has_value() && part->kind != DatePartKind::kTime && part->kind != DatePartKind::kDatetime;
  if (!is_known) {
    return Error(WordFrom(WordFrom(expr.position, "("), expr.text),
                 fmt::format("A valid date part name is required but found {}", expr.text));
  }
  const absl::Status taken = CheckDatePart("EXTRACT", is_date ? "DATE" : "TIMESTAMP", *part);
  if (!taken.ok()) return Error(expr.position, std::string(taken.message()));
  SONDE_TRY_SET(ExpressionPtr call,
                CallOperator("$extract", "function EXTRACT", std::move(arguments), expr.position));
  if (part->kind == DatePartKind::kDate) call->type = TypeKind::kDate;
  return call;
}

}  // namespace sonde::sql
