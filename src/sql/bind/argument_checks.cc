// Arguments of functions that are checked before a row is read: patterns of FORMAT and LIKE, paths of JSON, keys of maps.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "sql/bind/query_binder.h"
#include "sql/function/function.h"
#include "sql/plan/constant.h"
#include "sql/text/format_pattern.h"
#include "sql/text/like_pattern.h"
#include "sql/value/value_text.h"

namespace sonde::sql {
namespace {

// The functions whose second argument, a JSONPath, must be constant.
constexpr std::array<std::string_view, 8> kWithPaths = {
    "JSON_VALUE",   "JSON_QUERY",         "JSON_VALUE_ARRAY",    "JSON_QUERY_ARRAY",
    "JSON_EXTRACT", "JSON_EXTRACT_ARRAY", "JSON_EXTRACT_SCALAR", "JSON_EXTRACT_STRING_ARRAY"};

// Whether the value of an expression is the same for all rows of a query.
bool IsConstantForQuery(const Expression& expression) {
  switch (expression.kind) {
    case Expression::Kind::kColumn:
    case Expression::Kind::kOuter:
    case Expression::Kind::kLambda:
    case Expression::Kind::kScalarQuery:
    case Expression::Kind::kArrayQuery:
    case Expression::Kind::kExistsQuery:
    case Expression::Kind::kInQuery:
      return false;
    default:
      return !expression.is_volatile && std::all_of(expression.arguments.begin(), expression.arguments.end(),
                                                    [](const ExpressionPtr& part) {
                                                      return part == nullptr || IsConstantForQuery(*part);
                                                    });
  }
}

// The value of a literal, or of a cast of one.
std::optional<Value> LiteralOf(const Expression& expression) {
  if (expression.kind == Expression::Kind::kLiteral) return expression.value;
  const bool is_cast = expression.kind == Expression::Kind::kCast && expression.arguments.size() == 1 &&
                       expression.arguments[0]->kind == Expression::Kind::kLiteral;
  if (!is_cast) return std::nullopt;
  absl::StatusOr<Value> value = CastValue(expression.arguments[0]->value, expression.type);
  if (!value.ok()) return std::nullopt;
  return *std::move(value);
}

bool HasMap(const Type& type) {
  if (type.Is(TypeKind::kArray)) return HasMap(type.element());
  if (!type.Is(TypeKind::kStruct)) return type.Is(TypeKind::kMap);
  return std::any_of(type.fields().begin(), type.fields().end(),
                     [](const Type::Field& field) { return HasMap(field.type); });
}

}  // namespace

absl::Status QueryBinder::CheckArguments(const Expr& expr, const Function& function,
                                         const ChosenOverload& chosen,
                                         const std::vector<CallArgument>& arguments) const {
  if (function.name == "FORMAT") return CheckFormat(expr, arguments);
  const bool has_path = arguments.size() > 1 &&
                        std::find(kWithPaths.begin(), kWithPaths.end(), function.name) != kWithPaths.end();
  if (has_path && !IsConstantForQuery(*arguments[1].bound)) {
    return Error(arguments[1].expr->position,
                 fmt::format("Argument 2 to {} must be a constant expression", function.name));
  }
  if (function.name == "MAP_FROM_ARRAY" && HasMap(chosen.match.result.key())) {
    return Error(expr.position,
                 fmt::format("MAP_FROM_ARRAY expected a groupable key, but got a key of type {}, "
                             "which does not support grouping",
                             chosen.match.result.key().ToString()));
  }
  const bool has_mode =
      (function.name == "ARRAY_FIND" || function.name == "ARRAY_OFFSET") && arguments.size() == 3;
  return has_mode ? CheckFindMode(arguments[2]) : absl::OkStatus();
}

absl::Status QueryBinder::CheckFindMode(const CallArgument& mode) const {
  if (!mode.facts.literal.has_value() || mode.facts.literal->is_null()) return absl::OkStatus();
  const std::string_view text = mode.facts.literal->datum().bytes();
  if (text == "FIRST" || text == "LAST") return absl::OkStatus();
  const std::string upper = absl::AsciiStrToUpper(std::string(text));
  const bool is_lower = upper == "FIRST" || upper == "LAST";
  return Error(
      mode.expr->position,
      fmt::format(
          "Could not cast literal {} to type ARRAY_FIND_MODE{}", StringLiteral(text),
          is_lower ? fmt::format("; Did you mean '{}'? (Note: ENUM values are case sensitive)", upper) : ""));
}

absl::Status QueryBinder::CheckFormat(const Expr& expr, const std::vector<CallArgument>& arguments) const {
  const std::optional<Value>& pattern = arguments[0].facts.literal;
  if (!pattern.has_value() || pattern->is_null() || !pattern->type().Is(TypeKind::kString))
    return absl::OkStatus();
  std::vector<Type> types;
  for (size_t i = 1; i < arguments.size(); ++i) types.push_back(arguments[i].facts.type);
  const absl::Status status = ParseFormatPattern(pattern->datum().bytes(), types).status();
  return status.ok() ? status : Error(expr.position, std::string(status.message()));
}

void QueryBinder::CheckLikePattern(const Expression& pattern) {
  const std::optional<Value> literal = LiteralOf(pattern);
  if (!literal.has_value() || literal->is_null()) return;
  const bool is_text = literal->type().Is(TypeKind::kString);
  if (!is_text && !literal->type().Is(TypeKind::kBytes)) return;
  error_of_all_rows_.Update(LikePattern::Compile(literal->datum().bytes(), is_text
                                                                               ? LikePattern::Over::kString
                                                                               : LikePattern::Over::kBytes)
                                .status());
}

}  // namespace sonde::sql
