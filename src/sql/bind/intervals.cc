// Parts of dates, and TIMESTAMP plus or minus INTERVAL.
#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "sql/bind/query_binder.h"
#include "sql/function/function.h"
#include "sql/library/library.h"
#include "sql/plan/try.h"
#include "sql/time/calendar.h"

namespace sonde::sql {

absl::Status QueryBinder::CheckParts(const Expr& expr, const Function& function, const ChosenOverload& chosen,
                                     const std::vector<CallArgument>& arguments) const {
  std::optional<Type> value;
  for (size_t i = 0; i < arguments.size() && !value.has_value(); ++i) {
    if (arguments[i].facts.kind == ArgumentFacts::Kind::kValue) value = chosen.match.argument_types[i];
  }
  if (!value.has_value()) return absl::OkStatus();
  for (const CallArgument& argument : arguments) {
    const bool has_part = argument.facts.kind == ArgumentFacts::Kind::kPart ||
                          argument.facts.kind == ArgumentFacts::Kind::kInterval;
    const std::optional<DatePart> part = has_part ? ParseDatePart(argument.part) : std::nullopt;
    if (!part.has_value()) continue;
    if (const absl::Status status = CheckDatePart(function.name, value->ToString(), *part); !status.ok()) {
      return Error(expr.position, std::string(status.message()));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<ExpressionPtr> QueryBinder::BindIntervalOperator(const Expr& expr, const Site& site) {
  const std::string shown = fmt::format("operator {}", expr.text);
  const Function* const function = FindFunction(expr.text == "+" ? "$add" : "$subtract");
  const bool is_first = expr.children[0]->kind == Expr::Kind::kInterval;
  std::vector<CallArgument> arguments;
  for (const size_t place : {is_first ? 1 : 0, is_first ? 0 : 1}) {
    const Expr& child = *expr.children[place];
    SONDE_TRY_SET(CallArgument argument, BindArgument(child, *function, arguments.size(), site));
    if (argument.bound != nullptr && argument.facts.kind == ArgumentFacts::Kind::kValue) {
      SONDE_TRY(RefuseNull(expr.text, child, *argument.bound));
    }
    arguments.push_back(std::move(argument));
  }
  const std::vector<ArgumentFacts> facts = {arguments[0].facts, arguments[1].facts};
  const std::vector<ArgumentFacts> written =
      is_first ? std::vector<ArgumentFacts>{facts[1], facts[0]} : facts;
  if (facts[0].kind == ArgumentFacts::Kind::kValue && facts[0].type.Is(TypeKind::kDate)) {
    return absl::UnimplementedError(
        fmt::format("DATE {} INTERVAL gives a DATETIME, a type that is not built; DATE_{} gives a DATE",
                    expr.text, expr.text == "+" ? "ADD" : "SUB"));
  }
  const std::optional<ChosenOverload> chosen = ChooseOverload(*function, facts);
  if (!chosen.has_value() || (is_first && expr.text == "-")) {
    return Error(expr.position, NoSignatureText(shown, *function, written));
  }
  auto made = std::make_unique<Expression>();
  made->kind = Expression::Kind::kCall;
  made->type = chosen->match.result;
  made->function = function;
  made->overload = chosen->overload;
  SONDE_TRY_SET(made->arguments, FinishArguments(*chosen, std::move(arguments), site));
  return made;
}

}  // namespace sonde::sql
