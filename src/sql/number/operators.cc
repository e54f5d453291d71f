#include <iterator>
#include <utility>
#include <vector>

#include "sql/function/function.h"
#include "sql/number/functions.h"
#include "sql/number/operator_families.h"

namespace sonde::sql {

std::vector<Function> OperatorFunctions() {
  std::vector<Function> all;
  for (auto* const part : {ArithmeticOperators, BitwiseOperators, ComparisonOperators, MembershipOperators,
                           LikeOperators, SubscriptOperators, LogicOperators, ConcatOperators}) {
    std::vector<Function> functions = part();
    std::move(functions.begin(), functions.end(), std::back_inserter(all));
  }
  return all;
}

}  // namespace sonde::sql
