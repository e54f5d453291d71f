#include "sql/function/function.h"

#include <optional>
#include <utility>

namespace sonde::sql {
std::optional<ChosenOverload> ChooseOverload(const Function& function,
                                             absl::Span<const ArgumentFacts> arguments,
                                             const Signature::LambdaResult& lambda_result) {
  std::optional<ChosenOverload> best;
  for (const Overload& overload : function.overloads) {
    std::optional<Signature::Match> match = overload.signature.Fit(arguments, lambda_result);
    if (!match.has_value() || (best.has_value() && best->match.cost <= match->cost)) continue;
    best = ChosenOverload{&overload, std::move(*match)};
  }
  return best;
}

}  // namespace sonde::sql
