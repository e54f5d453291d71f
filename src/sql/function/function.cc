#include "sql/function/function.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace sonde::sql {
namespace {

bool TakesForm(const Function& function, const Overload& overload, const CallForm& form) {
  if (overload.needs_name && !form.has_names) return false;
  return function.kind != Function::Kind::kWindow || (overload.aggregator == nullptr) == form.has_over;
}

}  // namespace

bool Function::IsExtension() const {
  return !overloads.empty() && std::ranges::all_of(overloads, &Overload::is_extension);
}

bool Function::IsAlsoAggregate() const {
  return kind == Kind::kWindow && std::ranges::any_of(overloads, [](const Overload& overload) {
           return overload.aggregator != nullptr;
         });
}

std::optional<ChosenOverload> ChooseOverload(const Function& function,
                                             absl::Span<const ArgumentFacts> arguments,
                                             const Signature::LambdaResult& lambda_result,
                                             const CallForm& form) {
  std::optional<ChosenOverload> best;
  for (const Overload& overload : function.overloads) {
    if (!TakesForm(function, overload, form)) continue;
    std::optional<Signature::Match> match = overload.signature.Fit(arguments, lambda_result);
    if (!match.has_value() || (best.has_value() && best->match.cost <= match->cost)) continue;
    best = ChosenOverload{&overload, std::move(*match)};
  }
  return best;
}

}  // namespace sonde::sql
