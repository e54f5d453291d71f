#include "sql/library/library.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "base/check.h"
#include "sql/aggregate/functions.h"
#include "sql/cast/functions.h"
#include "sql/library/functions.h"
#include "sql/list/functions.h"
#include "sql/number/functions.h"
#include "sql/text/functions.h"
#include "sql/time/functions.h"

namespace sonde::sql {
namespace {

using Family = std::vector<Function> (*)();

// All families.  A function with an alias_of and without overloads gets the overloads, meaning and examples of the function that
// it names.
constexpr Family kFamilies[] = {
    OperatorFunctions, ConversionFunctions, MathFunctions,      StringFunctions,      RegexpFunctions,
    FormatFunctions,   JsonFunctions,       DateFunctions,      TimestampFunctions,   ArrayFunctions,
    MapFunctions,      VectorFunctions,     AggregateFunctions, StatisticalFunctions, SketchFunctions,
    PointFunctions,    WindowFunctions,     NotBuiltFunctions,
};

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
  for (const Family family : kFamilies) {
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

}  // namespace sonde::sql
