#include "promql/syntax/printer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

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

std::string_view PrintExtension(const Expression& selector) {
  return selector.extension == Extension::kAnchored   ? " anchored"
         : selector.extension == Extension::kSmoothed ? " smoothed"
                                                      : "";
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

// What stands in front of the operands.
std::string PrintAggregator(const Expression& node) {
  std::string result(TextOf(node.op));
  if (node.is_without) {
    result += fmt::format(" without ({}) ", LabelList(node.grouping));
  } else if (!node.grouping.empty()) {
    result += fmt::format(" by ({}) ", LabelList(node.grouping));
  }
  return result;
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
  if (matching.fill_left && matching.fill_left == matching.fill_right) {
    return result + fmt::format(" fill ({})", GeneralNumber(*matching.fill_left));
  }
  if (matching.fill_left) result += fmt::format(" fill_left ({})", GeneralNumber(*matching.fill_left));
  if (matching.fill_right) result += fmt::format(" fill_right ({})", GeneralNumber(*matching.fill_right));
  return result;
}

std::string PrintOperator(const Expression& node) {
  return fmt::format("{}{}{}", TextOf(node.op), node.returns_bool ? " bool" : "",
                     node.matching ? PrintMatching(*node.matching) : "");
}

std::string PrintBinary(const Expression& node) {
  return fmt::format("{} {} {}", Print(*node.operands[0]), PrintOperator(node), Print(*node.operands[1]));
}

// What stands behind the operand.
std::string PrintSubqueryTimes(const Expression& node) {
  return fmt::format("[{}:{}]{}{}", PrintLength(node.range), node.step.IsSet() ? PrintLength(node.step) : "",
                     PrintAt(node.shift), PrintOffset(node.shift));
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

// What takes more signs is divided.
constexpr size_t kLineBytesMax = 100;

std::string Indent(size_t depth) { return std::string(2 * depth, ' '); }

std::string PrintIndented(const Expression& node, size_t depth);

// "NAME(", each operand on lines of its own, ")".
std::string PrintOperandLines(std::string_view name, const Expression& node, size_t depth) {
  const std::string operands =
      absl::StrJoin(node.operands, ",\n", [depth](std::string* out, const ExpressionPtr& operand) {
        out->append(PrintIndented(*operand, depth + 1));
      });
  return fmt::format("{0}{1}(\n{2}\n{0})", Indent(depth), name, operands);
}

std::string PrintIndented(const Expression& node, size_t depth) {
  const std::string line = Print(node);
  const bool is_divided = line.size() > kLineBytesMax;
  switch (node.kind) {
    case ExpressionKind::kAggregate:
      if (is_divided) return PrintOperandLines(PrintAggregator(node), node, depth);
      break;
    case ExpressionKind::kCall:
      if (is_divided) return PrintOperandLines(node.function->name, node, depth);
      break;
    case ExpressionKind::kParen:
      if (is_divided) return PrintOperandLines("", node, depth);
      break;
    case ExpressionKind::kBinary:
      if (!is_divided) break;
      return fmt::format("{}\n{}{}\n{}", PrintIndented(*node.operands[0], depth + 1), Indent(depth),
                         PrintOperator(node), PrintIndented(*node.operands[1], depth + 1));
    case ExpressionKind::kSubquery:
      // Prometheus does not indent one that is a line.
      if (!is_divided) return line;
      return PrintIndented(*node.operands[0], depth) + PrintSubqueryTimes(node);
    case ExpressionKind::kUnary: {
      // The sign stands in front of the operand's first line.
      const std::string inner = PrintIndented(*node.operands[0], depth);
      return fmt::format("{}{}{}", Indent(depth), TextOf(node.op),
                         inner.substr(std::min(inner.find_first_not_of(' '), inner.size())));
    }
    default:
      break;
  }
  return Indent(depth) + line;
}

}  // namespace

std::string PrintLines(const Expression& node) { return PrintIndented(node, 0); }

std::string Print(const Expression& node) {
  switch (node.kind) {
    case ExpressionKind::kNumber:
      return PrintNumber(node);
    case ExpressionKind::kString:
      return Quoted(node.text);
    case ExpressionKind::kSelector:
      return fmt::format("{}{}{}{}", PrintSelector(node), PrintAt(node.shift), PrintExtension(node),
                         PrintOffset(node.shift));
    case ExpressionKind::kRange: {
      const Expression& selector = *node.operands[0];
      return fmt::format("{}[{}]{}{}{}", PrintSelector(selector), PrintLength(node.range),
                         PrintExtension(selector), PrintAt(selector.shift), PrintOffset(selector.shift));
    }
    case ExpressionKind::kSubquery:
      return Print(*node.operands[0]) + PrintSubqueryTimes(node);
    case ExpressionKind::kCall:
      return fmt::format("{}({})", node.function->name, Operands(node));
    case ExpressionKind::kAggregate:
      return fmt::format("{}({})", PrintAggregator(node), Operands(node));
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
