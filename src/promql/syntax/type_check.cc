// The types of a tree.
#include <fmt/format.h>

#include <algorithm>

#include "promql/syntax/grammar.h"
#include "promql/syntax/words.h"

namespace sonde::promql {
namespace {

bool IsSpace(char sign) { return sign == ' ' || sign == '\t' || sign == '\n' || sign == '\r'; }

class TypeCheck {
 public:
  explicit TypeCheck(Grammar* grammar) : grammar_(grammar) {}

  // The type of `node`, whose operands are checked first.
  ValueType Check(Expression* node);

 private:
  void CheckAggregate(Expression* node);
  void CheckBinary(Expression* node);
  void CheckMatching(Expression* node, ValueType left, ValueType right);
  void CheckCall(Expression* node);
  void CheckArgumentCount(const Expression& node);
  void CheckInfoSelector(Expression* node);
  void CheckSelector(const Expression& node);
  void Expect(Expression* node, ValueType wanted, std::string_view context);
  // The operator between the operands.
  Range OperatorPlace(const Expression& node) const;

  Grammar* const grammar_;
};

ValueType TypeCheck::Check(Expression* node) {
  switch (node->kind) {
    case ExpressionKind::kAggregate:
      CheckAggregate(node);
      break;
    case ExpressionKind::kBinary:
      CheckBinary(node);
      break;
    case ExpressionKind::kCall:
      CheckCall(node);
      break;
    case ExpressionKind::kParen:
    case ExpressionKind::kRange:
      Check(node->operands[0].get());
      break;
    case ExpressionKind::kUnary: {
      const ValueType type = Check(node->operands[0].get());
      if (type != ValueType::kScalar && type != ValueType::kVector) {
        grammar_->Note(node->place,
                       fmt::format("unary expression only allowed on expressions of type scalar or instant "
                                   "vector, got \"{}\"",
                                   DocumentedName(type)));
      }
      break;
    }
    case ExpressionKind::kSubquery: {
      const ValueType type = Check(node->operands[0].get());
      if (type != ValueType::kVector) {
        grammar_->Note(node->place, fmt::format("subquery is only allowed on instant vector, got {} instead",
                                                ShortName(type)));
      }
      break;
    }
    case ExpressionKind::kSelector:
      CheckSelector(*node);
      break;
    case ExpressionKind::kNumber:
    case ExpressionKind::kString:
    case ExpressionKind::kLength:
      break;
  }
  return TypeOf(*node);
}

void TypeCheck::Expect(Expression* node, ValueType wanted, std::string_view context) {
  const ValueType type = Check(node);
  if (type == wanted) return;
  grammar_->Note(node->place, fmt::format("expected type {} in {}, got {}", DocumentedName(wanted), context,
                                          DocumentedName(type)));
}

void TypeCheck::CheckAggregate(Expression* node) {
  Expect(node->operands.back().get(), ValueType::kVector, "aggregation expression");
  if (node->operands.size() < 2) return;
  const ValueType wanted = node->op == TokenKind::kCountValues ? ValueType::kString : ValueType::kScalar;
  Expect(node->operands[0].get(), wanted, "aggregation parameter");
}

Range TypeCheck::OperatorPlace(const Expression& node) const {
  Range place = {node.operands[0]->place.end, node.operands[1]->place.start};
  while (place.start < place.end && IsSpace(grammar_->text()[place.start])) ++place.start;
  return place;
}

void TypeCheck::CheckBinary(Expression* node) {
  const ValueType left = Check(node->operands[0].get());
  const ValueType right = Check(node->operands[1].get());
  const bool is_comparison = IsComparison(node->op);
  if (node->returns_bool && !is_comparison) {
    grammar_->Note(OperatorPlace(*node), "bool modifier can only be used on comparison operators");
  }
  if (is_comparison && !node->returns_bool && left == ValueType::kScalar && right == ValueType::kScalar) {
    grammar_->Note(OperatorPlace(*node), "comparisons between scalars must use BOOL modifier");
  }
  Matching& matching = *node->matching;
  if (IsSetOperator(node->op) && matching.card == MatchingCard::kOneToOne) {
    matching.card = MatchingCard::kManyToMany;
  }
  for (const std::string& label : matching.labels) {
    const bool is_included =
        std::find(matching.include.begin(), matching.include.end(), label) != matching.include.end();
    if (is_included && matching.is_on) {
      grammar_->Note(OperatorPlace(*node),
                     fmt::format("label {} must not occur in ON and GROUP clause at once", Quoted(label)));
    }
  }
  if (!IsBinaryOperator(node->op)) {
    grammar_->Note(node->place,
                   fmt::format("binary expression does not support operator {}", Quoted(TextOf(node->op))));
  }
  CheckMatching(node, left, right);
}

void TypeCheck::CheckMatching(Expression* node, ValueType left, ValueType right) {
  const auto is_operand = [](ValueType type) {
    return type == ValueType::kScalar || type == ValueType::kVector;
  };
  constexpr char kOperands[] = "binary expression must contain only scalar and instant vector types";
  if (!is_operand(left)) grammar_->Note(node->operands[0]->place, kOperands);
  if (!is_operand(right)) grammar_->Note(node->operands[1]->place, kOperands);
  const bool is_set = IsSetOperator(node->op);
  const bool fills = node->matching->fill_left || node->matching->fill_right;
  if (left != ValueType::kVector || right != ValueType::kVector) {
    if (!node->matching->labels.empty()) {
      grammar_->Note(node->place, "vector matching only allowed between instant vectors");
    }
    if (fills) grammar_->Note(node->place, "filling in missing series only allowed between instant vectors");
    node->matching.reset();
  } else if (is_set) {
    if (node->matching->card != MatchingCard::kManyToMany) {
      grammar_->Note(node->place,
                     fmt::format("no grouping allowed for {} operation", Quoted(TextOf(node->op))));
    }
    if (fills) grammar_->Note(node->place, "filling in missing series not allowed for set operators");
  }
  if (is_set && (left == ValueType::kScalar || right == ValueType::kScalar)) {
    grammar_->Note(node->place, fmt::format("set operator {} not allowed in binary scalar expression",
                                            Quoted(TextOf(node->op))));
  }
}

void TypeCheck::CheckArgumentCount(const Expression& node) {
  const FunctionSignature& function = *node.function;
  const size_t count = node.operands.size();
  const size_t most = function.ArgumentCount();
  if (function.optional_count == 0) {
    if (count == most) return;
    grammar_->Note(node.place, fmt::format("expected {} argument(s) in call to {}, got {}", most,
                                           Quoted(function.name), count));
    return;
  }
  const size_t least = most - 1;
  const size_t limit = least + static_cast<size_t>(std::max(function.optional_count, 0));
  if (count < least) {
    grammar_->Note(node.place, fmt::format("expected at least {} argument(s) in call to {}, got {}", least,
                                           Quoted(function.name), count));
  } else if (function.optional_count > 0 && count > limit) {
    grammar_->Note(node.place, fmt::format("expected at most {} argument(s) in call to {}, got {}", limit,
                                           Quoted(function.name), count));
  }
}

void TypeCheck::CheckInfoSelector(Expression* node) {
  const Expression& selector = *node->operands[1];
  if (TypeOf(selector) != ValueType::kVector) {
    grammar_->Note(node->place,
                   fmt::format("expected type instant vector in call to function \"info\", got {}",
                               DocumentedName(TypeOf(selector))));
  }
  if (selector.kind != ExpressionKind::kSelector) {
    grammar_->Note(selector.place, "expected label selectors only");
  } else if (!selector.text.empty()) {
    grammar_->Note(selector.place, "expected label selectors only, got vector selector instead");
  }
}

void TypeCheck::CheckCall(Expression* node) {
  CheckArgumentCount(*node);
  const FunctionSignature& function = *node->function;
  const bool is_info = function.name == "info";
  if (is_info && node->operands.size() > 1) CheckInfoSelector(node);
  for (size_t i = 0; i < node->operands.size(); ++i) {
    if (i >= function.ArgumentCount() && function.optional_count == 0) return;
    Expression* argument = node->operands[i].get();
    // The second argument of info may match everything.
    if (is_info && i == 1 && argument->kind == ExpressionKind::kSelector) continue;
    const ValueType type = Check(argument);
    const ValueType wanted = function.ArgumentType(i);
    if (type == wanted) continue;
    grammar_->Note(argument->place,
                   fmt::format("expected type {} in call to function {}, got {}", DocumentedName(wanted),
                               Quoted(function.name), DocumentedName(type)));
  }
}

void TypeCheck::CheckSelector(const Expression& node) {
  if (!node.text.empty()) {
    for (size_t i = 0; i + 1 < node.matchers.size(); ++i) {
      if (node.matchers[i].name() != kMetricLabel) continue;
      grammar_->Note(node.place, fmt::format("metric name must not be set twice: {} or {}", Quoted(node.text),
                                             Quoted(node.matchers[i].value())));
    }
    return;
  }
  const bool selects = std::any_of(node.matchers.begin(), node.matchers.end(),
                                   [](const Matcher& matcher) { return !matcher.Matches(""); });
  if (!selects) grammar_->Note(node.place, "vector selector must contain at least one non-empty matcher");
}

}  // namespace

void CheckTypes(Expression* expression, Grammar* grammar) { TypeCheck(grammar).Check(expression); }

}  // namespace sonde::promql
