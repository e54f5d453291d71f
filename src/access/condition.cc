#include "access/condition.h"

#include <fmt/format.h>

#include <optional>

#include "base/bytes.h"

namespace sonde {

// Reads a text from left to right.
class ConditionParser {
 public:
  using Node = Condition::Node;
  using Op = Condition::Op;
  using Test = Condition::Test;

  explicit ConditionParser(std::string_view text) : text_(text), rest_(text) {}

  absl::StatusOr<Condition> Parse() {
    const std::optional<size_t> whole = Either(0);
    Skip();
    if (!whole.has_value() || !rest_.empty()) {
      return absl::InvalidArgumentError(
          fmt::format("The condition '{}' is not supported, from byte {} on: it may compare request.time "
                      "with timestamps, "
                      "and resource.name and resource.type with texts (==, !=, startsWith, endsWith), joined "
                      "by &&, ||, !, "
                      "up to {} deep",
                      Printable(text_), text_.size() - rest_.size(), kConditionDepthMax));
    }
    return std::move(made_);
  }

 private:
  void Skip() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\t' || rest_.front() == '\n' ||
                              rest_.front() == '\r')) {
      rest_.remove_prefix(1);
    }
  }
  bool Take(std::string_view word) {
    Skip();
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  size_t Add(Node node) {
    made_.nodes_.push_back(std::move(node));
    return made_.nodes_.size() - 1;
  }

  // nullopt, here and below: the text is none of the supported.
  std::optional<size_t> Either(int depth) {
    std::optional<size_t> left = Both(depth);
    while (left.has_value() && Take("||")) {
      const std::optional<size_t> right = Both(depth);
      if (!right.has_value()) return std::nullopt;
      left = Add({.op = Op::kOr, .left = *left, .right = *right});
    }
    return left;
  }
  std::optional<size_t> Both(int depth) {
    std::optional<size_t> left = One(depth);
    while (left.has_value() && Take("&&")) {
      const std::optional<size_t> right = One(depth);
      if (!right.has_value()) return std::nullopt;
      left = Add({.op = Op::kAnd, .left = *left, .right = *right});
    }
    return left;
  }
  std::optional<size_t> One(int depth) {
    if (depth >= kConditionDepthMax) return std::nullopt;
    if (Take("!")) {
      const std::optional<size_t> operand = One(depth + 1);
      if (!operand.has_value()) return std::nullopt;
      return Add({.op = Op::kNot, .left = *operand});
    }
    if (Take("(")) {
      const std::optional<size_t> inner = Either(depth + 1);
      return inner.has_value() && Take(")") ? inner : std::nullopt;
    }
    if (Take("request.time")) return TimeTest();
    if (Take("resource.name")) return TextTest(Op::kName);
    if (Take("resource.type")) return TextTest(Op::kType);
    return std::nullopt;
  }

  std::optional<Test> Comparison() {
    // A longer sign before the one that it begins with.
    if (Take("<=")) return Test::kLessEqual;
    if (Take("<")) return Test::kLess;
    if (Take(">=")) return Test::kGreaterEqual;
    if (Take(">")) return Test::kGreater;
    if (Take("==")) return Test::kEqual;
    if (Take("!=")) return Test::kNotEqual;
    return std::nullopt;
  }
  std::optional<size_t> TimeTest() {
    const std::optional<Test> test = Comparison();
    if (!test.has_value() || !Take("timestamp") || !Take("(")) return std::nullopt;
    const std::optional<std::string> text = Text();
    Node node{.op = Op::kTime, .test = *test};
    if (!text.has_value() || !Take(")") ||
        !absl::ParseTime(absl::RFC3339_full, *text, &node.time, /*err=*/nullptr)) {
      return std::nullopt;
    }
    return Add(std::move(node));
  }
  std::optional<size_t> TextTest(Op op) {
    Node node{.op = op};
    const bool is_call = Take(".");
    if (is_call) {
      if (Take("startsWith")) {
        node.test = Test::kStarts;
      } else if (Take("endsWith")) {
        node.test = Test::kEnds;
      } else {
        return std::nullopt;
      }
      if (!Take("(")) return std::nullopt;
    } else {
      const std::optional<Test> test = Comparison();
      if (test != Test::kEqual && test != Test::kNotEqual) return std::nullopt;
      node.test = *test;
    }
    std::optional<std::string> text = Text();
    if (!text.has_value() || (is_call && !Take(")"))) return std::nullopt;
    node.text = *std::move(text);
    return Add(std::move(node));
  }
  // A text between quotes.  Names of resources need no escapes, so a backslash is not supported.
  std::optional<std::string> Text() {
    Skip();
    if (rest_.empty() || (rest_.front() != '"' && rest_.front() != '\'')) return std::nullopt;
    const size_t end = rest_.find(rest_.front(), 1);
    if (end == std::string_view::npos) return std::nullopt;
    std::string text(rest_.substr(1, end - 1));
    if (text.find_first_of("\\\n") != std::string::npos) return std::nullopt;
    rest_.remove_prefix(end + 1);
    return text;
  }

  const std::string_view text_;
  std::string_view rest_;
  Condition made_;
};

absl::StatusOr<Condition> Condition::Parse(std::string_view text) {
  if (text.size() > kConditionBytesMax) {
    return absl::InvalidArgumentError(
        fmt::format("A condition has {} bytes; limit {}", text.size(), kConditionBytesMax));
  }
  return ConditionParser(text).Parse();
}

bool Condition::Holds(size_t at, const ConditionFacts& facts) const {
  const Node& node = nodes_[at];
  const auto compare = [&](const auto& left, const auto& right) {
    switch (node.test) {
      case Test::kLess:
        return left < right;
      case Test::kLessEqual:
        return left <= right;
      case Test::kGreater:
        return left > right;
      case Test::kGreaterEqual:
        return left >= right;
      case Test::kEqual:
        return left == right;
      case Test::kNotEqual:
        return left != right;
      case Test::kStarts:
      case Test::kEnds:
        break;
    }
    return false;
  };
  switch (node.op) {
    case Op::kAnd:
      return Holds(node.left, facts) && Holds(node.right, facts);
    case Op::kOr:
      return Holds(node.left, facts) || Holds(node.right, facts);
    case Op::kNot:
      return !Holds(node.left, facts);
    case Op::kTime:
      return compare(facts.now, node.time);
    case Op::kName:
    case Op::kType: {
      const std::string_view value = node.op == Op::kName ? facts.resource_name : facts.resource_type;
      if (node.test == Test::kStarts) return value.starts_with(node.text);
      if (node.test == Test::kEnds) return value.ends_with(node.text);
      return compare(value, std::string_view(node.text));
    }
  }
  return false;
}

}  // namespace sonde
