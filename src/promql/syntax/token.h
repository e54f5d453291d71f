// The kinds of tokens of a query.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sonde::promql {

// Bytes [start, end) of a query.
struct Range {
  size_t start = 0;
  size_t end = 0;
};

enum class TokenKind {
  kEnd,
  kError,  // its text is the message
  kIdentifier,
  kMetricIdentifier,  // with a colon
  kNumber,
  kDuration,
  kString,
  kLeftParen,
  kRightParen,
  kLeftBrace,
  kRightBrace,
  kLeftBracket,
  kRightBracket,
  kComma,
  kColon,
  kEqual,
  kMatches,
  kMatchesNot,
  // Operators.
  kAdd,
  kSub,
  kMul,
  kDiv,
  kMod,
  kPow,
  kAtan2,
  kEqualEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kTrimUpper,
  kTrimLower,
  kAnd,
  kOr,
  kUnless,
  kAt,
  // Aggregators.
  kSum,
  kAvg,
  kCount,
  kMin,
  kMax,
  kGroup,
  kStddev,
  kStdvar,
  kTopk,
  kBottomk,
  kCountValues,
  kQuantile,
  kLimitk,
  kLimitRatio,
  // Words.
  kOffset,
  kSmoothed,
  kAnchored,
  kBy,
  kWithout,
  kOn,
  kIgnoring,
  kGroupLeft,
  kGroupRight,
  kFill,
  kFillLeft,
  kFillRight,
  kBool,
  kStart,
  kEndWord,
  kStep,
  kRangeWord,
  kMaxOf,
  kMinOf,
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  Range range;
  std::string text;  // as it was written; of kError: the message
};

// The word or sign of a kind; empty where the kind has no text of its own.
std::string_view TextOf(TokenKind kind);
// The kind of a word in any case; kIdentifier where it is no word of the language.
TokenKind KindOfWord(std::string_view word);

bool IsAggregator(TokenKind kind);
// Its first argument is a parameter.
bool HasParameter(TokenKind kind);
bool IsExperimentalAggregator(TokenKind kind);
bool IsComparison(TokenKind kind);
bool IsSetOperator(TokenKind kind);
bool IsBinaryOperator(TokenKind kind);
// Words that may name a metric, and a label in a list of labels.
bool MayNameMetric(TokenKind kind);
bool MayNameLabel(TokenKind kind);

}  // namespace sonde::promql
