// The parts that OperatorFunctions is made of.
#pragma once

#include <vector>

#include "sql/function/function.h"

namespace sonde::sql {

std::vector<Function> ArithmeticOperators();
Overload TimestampPlusInterval();
Overload TimestampMinusInterval();
std::vector<Function> BitwiseOperators();
std::vector<Function> ComparisonOperators();
std::vector<Function> MembershipOperators();  // IN
std::vector<Function> LikeOperators();
std::vector<Function> SubscriptOperators();
std::vector<Function> LogicOperators();
std::vector<Function> ConcatOperators();

}  // namespace sonde::sql
