// Calls, aggregations and selectors.
#include <fmt/format.h>

#include <utility>

#include "promql/syntax/grammar.h"

namespace sonde::promql {

std::vector<ExpressionPtr> Grammar::ReadArguments() {
  if (!Is(TokenKind::kLeftParen)) Unexpected();
  Take();
  std::vector<ExpressionPtr> arguments;
  if (TakeIf(TokenKind::kRightParen)) return arguments;
  arguments.push_back(ReadBinary(1));
  while (!TakeIf(TokenKind::kRightParen)) {
    if (!Is(TokenKind::kComma)) Unexpected();
    const Token comma = Take();
    if (Is(TokenKind::kRightParen) || Is(TokenKind::kComma)) {
      Note(comma.range, "trailing commas not allowed in function call args");
      continue;
    }
    arguments.push_back(ReadBinary(1));
  }
  return arguments;
}

ExpressionPtr Grammar::ReadCall(const Token& name) {
  std::vector<ExpressionPtr> arguments = ReadArguments();
  const FunctionSignature* function = FindFunction(name.text);
  if (function == nullptr) {
    Note(name.range, fmt::format("unknown function with name {}", Quoted(name.text)));
    throw ReadingEnds();
  }
  if (function->is_experimental && !options_.allows_experimental) {
    Note(name.range, fmt::format("function {} is not enabled", Quoted(name.text)));
  }
  ExpressionPtr result = New(ExpressionKind::kCall, {name.range.start, end_});
  result->function = function;
  result->operands = std::move(arguments);
  return result;
}

bool Grammar::ReadAggregateModifier(Expression* aggregate) {
  if (!Is(TokenKind::kBy) && !Is(TokenKind::kWithout)) return false;
  aggregate->is_without = Take().kind == TokenKind::kWithout;
  aggregate->grouping = ReadGrouping();
  return true;
}

ExpressionPtr Grammar::ReadAggregate(const Token& name) {
  ExpressionPtr result = New(ExpressionKind::kAggregate, name.range);
  result->op = name.kind;
  ++aggregations_;
  const bool has_modifier = ReadAggregateModifier(result.get());
  std::vector<ExpressionPtr> arguments = ReadArguments();
  result->place.end = end_;
  if (!has_modifier && ReadAggregateModifier(result.get())) result->place.end = end_;
  --aggregations_;
  if (arguments.empty()) {
    Note(result->place, "no arguments for aggregate expression provided");
    throw ReadingEnds();
  }
  if (IsExperimentalAggregator(name.kind) && !options_.allows_experimental) {
    Note(result->place, fmt::format("{}() is experimental and must be enabled with --promql-experimental",
                                    TextOf(name.kind)));
  }
  const size_t wanted = HasParameter(name.kind) ? 2 : 1;
  if (arguments.size() != wanted) {
    Note(result->place,
         fmt::format("wrong number of arguments for aggregate expression provided, expected {}, got {}",
                     wanted, arguments.size()));
    throw ReadingEnds();
  }
  result->operands = std::move(arguments);
  return result;
}

ExpressionPtr Grammar::ReadSelector(std::optional<Token> name) {
  ExpressionPtr result = New(ExpressionKind::kSelector, name ? name->range : token().range);
  if (Is(TokenKind::kLeftBrace)) ReadMatchers(result.get());
  if (name) {
    result->text = name->text;
    result->matchers.push_back(*Matcher::Create(MatchKind::kEqual, kMetricLabel, name->text));
  }
  return result;
}

void Grammar::ReadMatchers(Expression* selector) {
  Take();
  if (!Is(TokenKind::kRightBrace)) {
    ReadMatcher(&selector->matchers);
    while (!Is(TokenKind::kRightBrace)) {
      if (!Is(TokenKind::kComma)) Unexpected("label matching", "\",\" or \"}\"");
      Take();
      if (Is(TokenKind::kRightBrace)) break;
      ReadMatcher(&selector->matchers);
    }
  }
  selector->place.end = Take().range.end;
}

void Grammar::ReadMatcher(std::vector<Matcher>* matchers) {
  if (!Is(TokenKind::kIdentifier) && !Is(TokenKind::kString)) {
    Unexpected("label matching", "identifier or \"}\"");
  }
  const Token label = Take();
  const bool is_text = label.kind == TokenKind::kString;
  std::string name = is_text ? Unquote(label) : label.text;
  std::optional<MatchKind> kind;
  switch (token().kind) {
    case TokenKind::kEqual:
      kind = MatchKind::kEqual;
      break;
    case TokenKind::kNotEqual:
      kind = MatchKind::kNotEqual;
      break;
    case TokenKind::kMatches:
      kind = MatchKind::kMatches;
      break;
    case TokenKind::kMatchesNot:
      kind = MatchKind::kMatchesNot;
      break;
    default:
      break;
  }
  if (!kind) {
    if (!is_text) Unexpected("label matching", "label matching operator");
    AddMatcher(MatchKind::kEqual, kMetricLabel, label.range, std::move(name), matchers);
    return;
  }
  Take();
  if (!Is(TokenKind::kString)) Unexpected("label matching", "string");
  const Token value = Take();
  AddMatcher(*kind, std::move(name), {label.range.start, value.range.end}, Unquote(value), matchers);
}

void Grammar::AddMatcher(MatchKind kind, std::string name, Range place, std::string value,
                         std::vector<Matcher>* to) {
  absl::StatusOr<Matcher> matcher = Matcher::Create(kind, std::move(name), std::move(value));
  if (!matcher.ok()) {
    Note(place, TextOfError(matcher.status()));
    return;
  }
  to->push_back(*std::move(matcher));
}

}  // namespace sonde::promql
