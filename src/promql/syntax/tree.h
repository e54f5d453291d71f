// A query as a tree.
//
// Each node owns its operands.  Times of `@` are milliseconds since 1970, lengths nanoseconds, as Prometheus has them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "promql/syntax/function_table.h"
#include "promql/syntax/matcher.h"
#include "promql/syntax/token.h"

namespace sonde::promql {

enum class ExpressionKind {
  kNumber,     // number, is_duration
  kString,     // text
  kSelector,   // matchers, shift, extension
  kRange,      // operands: the selector; range
  kSubquery,   // operands: the inner query; range, step, at, offset
  kCall,       // function, operands: the arguments
  kAggregate,  // op, grouping, operands: the vector, or the parameter and the vector
  kBinary,     // op, matching, operands: left, right
  kUnary,      // op: kAdd or kSub, operands: one
  kParen,      // operands: one
  kLength,     // a length that is calculated; op, operands: none, one (a sign), or two; is_wrapped
};

struct Expression;
using ExpressionPtr = std::unique_ptr<Expression>;

// A length, or what it is calculated from.
struct Length {
  int64_t nanos = 0;
  ExpressionPtr expression;  // kLength

  bool IsSet() const { return nanos != 0 || expression != nullptr; }
};

enum class AtWord { kNone, kStart, kEnd };

// `offset` and `@` of a selector, a range (on its selector) or a subquery.
struct TimeShift {
  Length offset;
  std::optional<int64_t> at_millis;
  AtWord at_word = AtWord::kNone;

  bool HasAt() const { return at_millis.has_value() || at_word != AtWord::kNone; }
};

// Which samples beyond its range, or its time, a selector looks at.
enum class Extension {
  kNone,
  kAnchored,  // the last one before the range
  kSmoothed,  // those around both ends, for values between them
};

enum class MatchingCard { kOneToOne, kManyToOne, kOneToMany, kManyToMany };

struct Matching {
  MatchingCard card = MatchingCard::kOneToOne;
  bool is_on = false;
  std::vector<std::string> labels;
  std::vector<std::string> include;  // of group_left and group_right
  // The values that stand for series that the left or the right side does not have.
  std::optional<double> fill_left;
  std::optional<double> fill_right;
};

struct Expression {
  ExpressionKind kind = ExpressionKind::kNumber;
  Range place;
  std::vector<ExpressionPtr> operands;

  double number = 0;
  bool is_duration = false;
  std::string text;  // a string's value; a metric's name outside the braces
  std::vector<Matcher> matchers;
  TimeShift shift;
  Extension extension = Extension::kNone;  // of a selector
  Length range;
  Length step;
  const FunctionSignature* function = nullptr;
  TokenKind op = TokenKind::kEnd;
  bool is_without = false;
  std::vector<std::string> grouping;
  bool returns_bool = false;
  std::optional<Matching> matching;  // of two vectors
  bool is_wrapped = false;           // a length in parentheses
  // Set by whoever carries the query out: it is the same at all steps, and evaluated once.
  bool is_step_invariant = false;

  Expression(ExpressionKind a_kind, Range a_place) : kind(a_kind), place(a_place) {}
  // The vector of an aggregation.
  const Expression& AggregateOperand() const { return *operands.back(); }
};

ValueType TypeOf(const Expression& expression);

}  // namespace sonde::promql
