#include "promql/syntax/token.h"

#include <array>
#include <utility>

#include "absl/strings/ascii.h"

namespace sonde::promql {
namespace {

using Word = std::pair<TokenKind, std::string_view>;

constexpr std::array<Word, 36> kWords = {{
    {TokenKind::kAnd, "and"},
    {TokenKind::kOr, "or"},
    {TokenKind::kUnless, "unless"},
    {TokenKind::kAtan2, "atan2"},
    {TokenKind::kSum, "sum"},
    {TokenKind::kAvg, "avg"},
    {TokenKind::kCount, "count"},
    {TokenKind::kMin, "min"},
    {TokenKind::kMax, "max"},
    {TokenKind::kGroup, "group"},
    {TokenKind::kStddev, "stddev"},
    {TokenKind::kStdvar, "stdvar"},
    {TokenKind::kTopk, "topk"},
    {TokenKind::kBottomk, "bottomk"},
    {TokenKind::kCountValues, "count_values"},
    {TokenKind::kQuantile, "quantile"},
    {TokenKind::kLimitk, "limitk"},
    {TokenKind::kLimitRatio, "limit_ratio"},
    {TokenKind::kOffset, "offset"},
    {TokenKind::kSmoothed, "smoothed"},
    {TokenKind::kAnchored, "anchored"},
    {TokenKind::kBy, "by"},
    {TokenKind::kWithout, "without"},
    {TokenKind::kOn, "on"},
    {TokenKind::kIgnoring, "ignoring"},
    {TokenKind::kGroupLeft, "group_left"},
    {TokenKind::kGroupRight, "group_right"},
    {TokenKind::kFill, "fill"},
    {TokenKind::kFillLeft, "fill_left"},
    {TokenKind::kFillRight, "fill_right"},
    {TokenKind::kBool, "bool"},
    {TokenKind::kStart, "start"},
    {TokenKind::kEndWord, "end"},
    {TokenKind::kStep, "step"},
    {TokenKind::kRangeWord, "range"},
    {TokenKind::kMaxOf, "max_of"},
}};

constexpr std::array<Word, 27> kSigns = {{
    {TokenKind::kMinOf, "min_of"},  // the last word, here so that both tables stay short
    {TokenKind::kLeftParen, "("},     {TokenKind::kRightParen, ")"},
    {TokenKind::kLeftBrace, "{"},     {TokenKind::kRightBrace, "}"},
    {TokenKind::kLeftBracket, "["},   {TokenKind::kRightBracket, "]"},
    {TokenKind::kComma, ","},         {TokenKind::kColon, ":"},
    {TokenKind::kEqual, "="},         {TokenKind::kMatches, "=~"},
    {TokenKind::kMatchesNot, "!~"},   {TokenKind::kAdd, "+"},
    {TokenKind::kSub, "-"},           {TokenKind::kMul, "*"},
    {TokenKind::kDiv, "/"},           {TokenKind::kMod, "%"},
    {TokenKind::kPow, "^"},           {TokenKind::kEqualEqual, "=="},
    {TokenKind::kNotEqual, "!="},     {TokenKind::kLess, "<"},
    {TokenKind::kLessEqual, "<="},    {TokenKind::kGreater, ">"},
    {TokenKind::kGreaterEqual, ">="}, {TokenKind::kTrimUpper, "</"},
    {TokenKind::kTrimLower, ">/"},    {TokenKind::kAt, "@"},
}};

bool IsBetween(TokenKind kind, TokenKind first, TokenKind last) { return kind >= first && kind <= last; }

}  // namespace

std::string_view TextOf(TokenKind kind) {
  for (const Word& word : kWords) {
    if (word.first == kind) return word.second;
  }
  for (const Word& sign : kSigns) {
    if (sign.first == kind) return sign.second;
  }
  return {};
}

TokenKind KindOfWord(std::string_view text) {
  std::string word(text);
  absl::AsciiStrToLower(&word);
  if (word == "inf" || word == "nan") return TokenKind::kNumber;
  if (word == "min_of") return TokenKind::kMinOf;
  for (const Word& known : kWords) {
    if (known.second == word) return known.first;
  }
  return TokenKind::kIdentifier;
}

bool IsAggregator(TokenKind kind) { return IsBetween(kind, TokenKind::kSum, TokenKind::kLimitRatio); }

bool HasParameter(TokenKind kind) { return IsBetween(kind, TokenKind::kTopk, TokenKind::kLimitRatio); }

bool IsExperimentalAggregator(TokenKind kind) {
  return kind == TokenKind::kLimitk || kind == TokenKind::kLimitRatio;
}

bool IsComparison(TokenKind kind) {
  return IsBetween(kind, TokenKind::kEqualEqual, TokenKind::kGreaterEqual);
}

bool IsSetOperator(TokenKind kind) { return IsBetween(kind, TokenKind::kAnd, TokenKind::kUnless); }

bool IsBinaryOperator(TokenKind kind) { return IsBetween(kind, TokenKind::kAdd, TokenKind::kUnless); }

bool MayNameMetric(TokenKind kind) {
  if (kind == TokenKind::kIdentifier || kind == TokenKind::kMetricIdentifier) return true;
  if (IsSetOperator(kind) || IsAggregator(kind)) return true;
  if (!IsBetween(kind, TokenKind::kOffset, TokenKind::kMinOf)) return false;
  return kind != TokenKind::kBool && !IsBetween(kind, TokenKind::kOn, TokenKind::kGroupRight);
}

bool MayNameLabel(TokenKind kind) {
  if (kind == TokenKind::kIdentifier || kind == TokenKind::kMetricIdentifier) return true;
  if (kind == TokenKind::kAtan2 || IsSetOperator(kind) || IsAggregator(kind)) return true;
  return IsBetween(kind, TokenKind::kOffset, TokenKind::kMinOf) && kind != TokenKind::kWithout;
}

}  // namespace sonde::promql
