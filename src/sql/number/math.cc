#include <iterator>
#include <utility>
#include <vector>

#include "sql/function/function.h"
#include "sql/number/functions.h"
#include "sql/number/math_families.h"

namespace sonde::sql {

std::vector<Function> MathFunctions() {
  std::vector<Function> all;
  for (auto* const part : {NumberFunctions, RoundingFunctions, TranscendentFunctions, ExtremeFunctions}) {
    std::vector<Function> functions = part();
    std::move(functions.begin(), functions.end(), std::back_inserter(all));
  }
  return all;
}

}  // namespace sonde::sql
