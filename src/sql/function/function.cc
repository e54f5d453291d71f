#include "sql/function/function.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/check.h"
#include "sql/function/families.h"

namespace sonde::sql {
namespace {

bool NameIsLess(const Function& a, std::string_view name) { return a.name < name; }

const Function* FindIn(const std::vector<Function>& functions, std::string_view name) {
  const auto found = std::lower_bound(functions.begin(), functions.end(), name, NameIsLess);
  return found == functions.end() || found->name != name ? nullptr : &*found;
}

void FillAlias(const std::vector<Function>& functions, Function* alias) {
  const Function* const of = FindIn(functions, alias->alias_of);
  CHECK(of != nullptr);
  alias->kind = of->kind;
  alias->overloads = of->overloads;
  alias->meaning = of->meaning;
  alias->examples = of->examples;
  alias->is_volatile = of->is_volatile;
  alias->takes_nulls = of->takes_nulls;
}

std::vector<Function> MakeAll() {
  std::vector<Function> all;
  for (const Family family : Families()) {
    std::vector<Function> functions = family();
    std::move(functions.begin(), functions.end(), std::back_inserter(all));
  }
  std::sort(all.begin(), all.end(), [](const Function& a, const Function& b) { return a.name < b.name; });
  for (size_t i = 1; i < all.size(); ++i) CHECK(all[i - 1].name != all[i].name);
  for (Function& function : all) {
    if (!function.alias_of.empty() && function.overloads.empty()) FillAlias(all, &function);
  }
  return all;
}

const std::vector<Function>& All() {
  static const std::vector<Function> all = MakeAll();
  return all;
}

}  // namespace

const Function* FindFunction(std::string_view name) { return FindIn(All(), name); }

absl::Span<const Function> AllFunctions() { return All(); }

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
