#include "promql/syntax/printer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "absl/strings/str_join.h"
#include "promql/syntax/words.h"

namespace sonde::promql {
namespace {

std::string LabelList(const std::vector<std::string>& labels) {
  return absl::StrJoin(labels, ", ", [](std::string* out, const std::string& label) {
    out->append(IsPlainLabelName(label) ? label : Quoted(label));
  });
}

std::string Operands(const Expression& node) {
  return absl::StrJoin(node.operands, ", ",
                       [](std::string* out, const ExpressionPtr& operand) { out->append(Print(*operand)); });
}

std::string PrintNumber(const Expression& node) {
  if (!node.is_duration) return PlainNumber(node.number);
  const std::string text = DurationText(static_cast<int64_t>(std::fabs(node.number) * 1e9));
  return node.number < 0 ? "-" + text : text;
}

std::string PrintLength(const Length& length) {
  return length.expression ? Print(*length.expression) : DurationText(length.nanos);
}

std::string PrintAt(const TimeShift& shift) {
  if (shift.at_millis) return fmt::format(" @ {:.3f}", static_cast<double>(*shift.at_millis) / 1000.0);
  if (shift.at_word == AtWord::kStart) return " @ start()";
  if (shift.at_word == AtWord::kEnd) return " @ end()";
  return "";
}

std::string PrintOffset(const TimeShift& shift) {
  if (shift.offset.expression) return " offset " + Print(*shift.offset.expression);
  if (shift.offset.nanos > 0) return " offset " + DurationText(shift.offset.nanos);
  if (shift.offset.nanos < 0) return " offset -" + DurationText(-shift.offset.nanos);
  return "";
}

// Without its times.
std::string PrintSelector(const Expression& node) {
  std::vector<std::string> conditions;
  for (const Matcher& matcher : node.matchers) {
    const bool is_name = matcher.name() == kMetricLabel && matcher.kind() == MatchKind::kEqual &&
                         matcher.value() == node.text && !matcher.value().empty();
    if (!is_name) conditions.push_back(matcher.Text());
  }
  if (conditions.empty()) return node.text;
  std::sort(conditions.begin(), conditions.end());
  return fmt::format("{}{{{}}}", node.text, absl::StrJoin(conditions, ","));
}

std::string PrintAggregate(const Expression& node) {
  std::string result(TextOf(node.op));
  if (node.is_without) {
    result += fmt::format(" without ({}) ", LabelList(node.grouping));
  } else if (!node.grouping.empty()) {
    result += fmt::format(" by ({}) ", LabelList(node.grouping));
  }
  return fmt::format("{}({})", result, Operands(node));
}

std::string PrintMatching(const Matching& matching) {
  std::string result;
  const bool is_grouped =
      matching.card == MatchingCard::kManyToOne || matching.card == MatchingCard::kOneToMany;
  if (!matching.labels.empty() || matching.is_on || is_grouped) {
    result += fmt::format(" {} ({})", matching.is_on ? "on" : "ignoring", LabelList(matching.labels));
  }
  if (is_grouped) {
    result += fmt::format(" group_{} ({})", matching.card == MatchingCard::kManyToOne ? "left" : "right",
                          LabelList(matching.include));
  }
  return result;
}

std::string PrintBinary(const Expression& node) {
  return fmt::format("{} {}{}{} {}", Print(*node.operands[0]), TextOf(node.op),
                     node.returns_bool ? " bool" : "", node.matching ? PrintMatching(*node.matching) : "",
                     Print(*node.operands[1]));
}

std::string PrintLengthExpression(const Expression& node) {
  std::string result;
  switch (node.op) {
    case TokenKind::kStep:
    case TokenKind::kRangeWord:
    case TokenKind::kMaxOf:
    case TokenKind::kMinOf:
      result = fmt::format("{}({})", TextOf(node.op), Operands(node));
      break;
    default:
      result = node.operands.size() == 1 ? fmt::format("{}{}", TextOf(node.op), Print(*node.operands[0]))
                                         : PrintBinary(node);
  }
  return node.is_wrapped ? "(" + result + ")" : result;
}

}  // namespace

std::string Print(const Expression& node) {
  switch (node.kind) {
    case ExpressionKind::kNumber:
      return PrintNumber(node);
    case ExpressionKind::kString:
      return Quoted(node.text);
    case ExpressionKind::kSelector:
      return PrintSelector(node) + PrintAt(node.shift) + PrintOffset(node.shift);
    case ExpressionKind::kRange: {
      const Expression& selector = *node.operands[0];
      return fmt::format("{}[{}]{}{}", PrintSelector(selector), PrintLength(node.range),
                         PrintAt(selector.shift), PrintOffset(selector.shift));
    }
    case ExpressionKind::kSubquery:
      return fmt::format("{}[{}:{}]{}{}", Print(*node.operands[0]), PrintLength(node.range),
                         node.step.IsSet() ? PrintLength(node.step) : "", PrintAt(node.shift),
                         PrintOffset(node.shift));
    case ExpressionKind::kCall:
      return fmt::format("{}({})", node.function->name, Operands(node));
    case ExpressionKind::kAggregate:
      return PrintAggregate(node);
    case ExpressionKind::kBinary:
      return PrintBinary(node);
    case ExpressionKind::kUnary:
      return fmt::format("{}{}", TextOf(node.op), Print(*node.operands[0]));
    case ExpressionKind::kParen:
      return fmt::format("({})", Print(*node.operands[0]));
    case ExpressionKind::kLength:
      return PrintLengthExpression(node);
  }
  return "";
}

}  // namespace sonde::promql
