#include "promql/http/tree_json.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "promql/syntax/words.h"

namespace sonde::promql {
namespace {

using nlohmann::json;

int64_t MillisOf(const Length& length) { return length.nanos / kNanosPerMilli; }

json MatchersJson(const std::vector<Matcher>& matchers) {
  json all = json::array();
  for (const Matcher& matcher : matchers) {
    all.push_back({{"name", matcher.name()}, {"value", matcher.value()}, {"type", TextOf(matcher.kind())}});
  }
  return all;
}

void AddShift(const TimeShift& shift, json* node) {
  (*node)["offset"] = MillisOf(shift.offset);
  (*node)["timestamp"] = shift.at_millis ? json(*shift.at_millis) : json(nullptr);
  (*node)["startOrEnd"] = shift.at_word == AtWord::kNone    ? json(nullptr)
                          : shift.at_word == AtWord::kStart ? json("start")
                                                            : json("end");
}

// A selector, with or without a range.
json SelectorJson(std::string_view type, const Expression& selector) {
  json node = {{"type", type},
               {"name", selector.text},
               {"matchers", MatchersJson(selector.matchers)},
               {"anchored", selector.extension == Extension::kAnchored},
               {"smoothed", selector.extension == Extension::kSmoothed}};
  AddShift(selector.shift, &node);
  return node;
}

std::string_view CardText(MatchingCard card) {
  switch (card) {
    case MatchingCard::kOneToOne:
      return "one-to-one";
    case MatchingCard::kManyToOne:
      return "many-to-one";
    case MatchingCard::kOneToMany:
      return "one-to-many";
    case MatchingCard::kManyToMany:
      return "many-to-many";
  }
  return "";
}

json FillJson(std::optional<double> fill) { return fill ? json(*fill) : json(nullptr); }

json BinaryJson(const Expression& expression) {
  json node = {{"type", "binaryExpr"},
               {"op", TextOf(expression.op)},
               {"lhs", TreeJson(*expression.operands[0])},
               {"rhs", TreeJson(*expression.operands[1])},
               {"matching", nullptr},
               {"bool", expression.returns_bool}};
  if (expression.matching) {
    const Matching& matching = *expression.matching;
    node["matching"] = {
        {"card", CardText(matching.card)},
        {"labels", matching.labels},
        {"on", matching.is_on},
        {"include", matching.include},
        {"fillValues", {{"lhs", FillJson(matching.fill_left)}, {"rhs", FillJson(matching.fill_right)}}}};
  }
  return node;
}

json CallJson(const Expression& expression) {
  const FunctionSignature& function = *expression.function;
  json types = json::array();
  for (size_t i = 0; i < function.ArgumentCount(); ++i) types.push_back(ShortName(function.ArgumentType(i)));
  json arguments = json::array();
  for (const ExpressionPtr& operand : expression.operands) arguments.push_back(TreeJson(*operand));
  return {{"type", "call"},
          {"func",
           {{"name", function.name},
            {"argTypes", std::move(types)},
            {"variadic", function.optional_count},
            {"returnType", ShortName(function.result)}}},
          {"args", std::move(arguments)}};
}

json AggregateJson(const Expression& expression) {
  return {{"type", "aggregation"},
          {"op", TextOf(expression.op)},
          {"expr", TreeJson(expression.AggregateOperand())},
          {"param", expression.operands.size() > 1 ? TreeJson(*expression.operands[0]) : json(nullptr)},
          {"grouping", expression.grouping},
          {"without", expression.is_without}};
}

}  // namespace

json TreeJson(const Expression& expression) {
  switch (expression.kind) {
    case ExpressionKind::kNumber:
      return {{"type", "numberLiteral"}, {"val", PlainNumber(expression.number)}};
    case ExpressionKind::kString:
      return {{"type", "stringLiteral"}, {"val", expression.text}};
    case ExpressionKind::kSelector:
      return SelectorJson("vectorSelector", expression);
    case ExpressionKind::kRange: {
      json node = SelectorJson("matrixSelector", *expression.operands[0]);
      node["range"] = MillisOf(expression.range);
      return node;
    }
    case ExpressionKind::kSubquery: {
      json node = {{"type", "subquery"},
                   {"expr", TreeJson(*expression.operands[0])},
                   {"range", MillisOf(expression.range)},
                   {"step", MillisOf(expression.step)}};
      AddShift(expression.shift, &node);
      return node;
    }
    case ExpressionKind::kCall:
      return CallJson(expression);
    case ExpressionKind::kAggregate:
      return AggregateJson(expression);
    case ExpressionKind::kBinary:
      return BinaryJson(expression);
    case ExpressionKind::kUnary:
      return {
          {"type", "unaryExpr"}, {"op", TextOf(expression.op)}, {"expr", TreeJson(*expression.operands[0])}};
    case ExpressionKind::kParen:
      return {{"type", "parenExpr"}, {"expr", TreeJson(*expression.operands[0])}};
    case ExpressionKind::kLength:
      return {{"type", "durationExpr"}, {"op", TextOf(expression.op)}};
  }
  return nullptr;
}

}  // namespace sonde::promql
