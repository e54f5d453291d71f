#include "promql/syntax/tree.h"

namespace sonde::promql {

ValueType TypeOf(const Expression& expression) {
  switch (expression.kind) {
    case ExpressionKind::kNumber:
    case ExpressionKind::kLength:
      return ValueType::kScalar;
    case ExpressionKind::kString:
      return ValueType::kString;
    case ExpressionKind::kSelector:
    case ExpressionKind::kAggregate:
      return ValueType::kVector;
    case ExpressionKind::kRange:
    case ExpressionKind::kSubquery:
      return ValueType::kMatrix;
    case ExpressionKind::kCall:
      return expression.function->result;
    case ExpressionKind::kBinary:
      return TypeOf(*expression.operands[0]) == ValueType::kScalar &&
                     TypeOf(*expression.operands[1]) == ValueType::kScalar
                 ? ValueType::kScalar
                 : ValueType::kVector;
    case ExpressionKind::kUnary:
    case ExpressionKind::kParen:
      return TypeOf(*expression.operands[0]);
  }
  return ValueType::kNone;
}

}  // namespace sonde::promql
