#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

#include "sql/expression/expression.h"
#include "sql/value/message_type.h"

namespace sonde::sql {
namespace {

// Names of functions of two arguments that are written between these.
constexpr std::pair<std::string_view, std::string_view> kInfix[] = {
    {"$add", "+"},          {"$subtract", "-"},       {"$multiply", "*"},    {"$divide", "/"},
    {"$bitwise_and", "&"},  {"$bitwise_or", "|"},     {"$bitwise_xor", "^"}, {"$shift_left", "<<"},
    {"$shift_right", ">>"}, {"$concat", "||"},        {"$equal", "="},       {"$not_equal", "!="},
    {"$less", "<"},         {"$less_or_equal", "<="}, {"$greater", ">"},     {"$greater_or_equal", ">="},
    {"$like", "LIKE"},
};

std::string Joined(const Expression& expression, std::string_view between) {
  std::string text;
  for (const ExpressionPtr& argument : expression.arguments) {
    if (!text.empty()) text += between;
    text += ToString(*argument);
  }
  return text;
}

std::string CallText(const Expression& expression) {
  const std::string_view name =
      expression.function != nullptr ? std::string_view(expression.function->name) : "?";
  if (expression.arguments.size() == 2 && !expression.is_safe) {
    for (const auto& [function, sign] : kInfix) {
      if (function == name) return fmt::format("({})", Joined(expression, fmt::format(" {} ", sign)));
    }
  }
  return fmt::format("{}{}({})", expression.is_safe ? "SAFE." : "", name, Joined(expression, ", "));
}

std::string CaseText(const Expression& expression) {
  std::string text = "CASE";
  const auto& arguments = expression.arguments;
  for (size_t i = 0; i + 1 < arguments.size(); i += 2) {
    text += fmt::format(" WHEN {} THEN {}", ToString(*arguments[i]), ToString(*arguments[i + 1]));
  }
  if (arguments.size() % 2 == 1) text += fmt::format(" ELSE {}", ToString(*arguments.back()));
  return text + " END";
}

std::string LambdaText(const Expression& expression) {
  std::string text = "(";
  for (size_t i = 0; i < expression.count; ++i) {
    text += fmt::format("{}${}", i > 0 ? ", " : "", expression.index + i);
  }
  return text + ") -> " + ToString(*expression.arguments[0]);
}

}  // namespace

std::string ToString(const Expression& expression) {
  using Kind = Expression::Kind;
  switch (expression.kind) {
    case Kind::kLiteral:
      return expression.value.ToSql();
    case Kind::kParameter:
      return fmt::format("@{}", expression.index);
    case Kind::kColumn:
      return fmt::format("${}", expression.index);
    case Kind::kOuter:
      return fmt::format("${}.{}", std::string(expression.depth, '^'), expression.index);
    case Kind::kCall:
      return CallText(expression);
    case Kind::kCast:
      return fmt::format("{}({} AS {})", expression.is_safe ? "SAFE_CAST" : "CAST",
                         Joined(expression, " FORMAT "), expression.type.ToString());
    case Kind::kAnd:
      return fmt::format("({})", Joined(expression, " AND "));
    case Kind::kOr:
      return fmt::format("({})", Joined(expression, " OR "));
    case Kind::kIf:
      return fmt::format("IF({})", Joined(expression, ", "));
    case Kind::kCase:
      return CaseText(expression);
    case Kind::kCoalesce:
      return fmt::format("COALESCE({})", Joined(expression, ", "));
    case Kind::kNullIf:
      return fmt::format("NULLIF({})", Joined(expression, ", "));
    case Kind::kIfError:
      return fmt::format("IFERROR({})", Joined(expression, ", "));
    case Kind::kIsError:
      return fmt::format("ISERROR({})", Joined(expression, ", "));
    case Kind::kNullIfError:
      return fmt::format("NULLIFERROR({})", Joined(expression, ", "));
    case Kind::kArray:
      return fmt::format("[{}]", Joined(expression, ", "));
    case Kind::kStruct:
      return fmt::format("STRUCT({})", Joined(expression, ", "));
    case Kind::kField: {
      const Type& type = expression.arguments[0]->type;
      const bool has_name = type.Is(TypeKind::kStruct) && expression.index < type.fields().size() &&
                            !type.fields()[expression.index].name.empty();
      return fmt::format(
          "{}.{}", ToString(*expression.arguments[0]),
          has_name ? type.fields()[expression.index].name : fmt::format("{}", expression.index));
    }
    case Kind::kProtoField:
      return fmt::format("{}.{}{}", ToString(*expression.arguments[0]), expression.count == 1 ? "has_" : "",
                         expression.arguments[0]->type.message()->fields[expression.index].name);
    case Kind::kLambda:
      return LambdaText(expression);
    case Kind::kScalarQuery:
      return "(query)";
    case Kind::kArrayQuery:
      return "ARRAY(query)";
    case Kind::kExistsQuery:
      return "EXISTS(query)";
    case Kind::kInQuery:
      return fmt::format("({} IN (query))", ToString(*expression.arguments[0]));
  }
  return "?";
}

}  // namespace sonde::sql
