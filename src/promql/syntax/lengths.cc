// What stands behind an expression, ranges, offsets and times; and the lengths in them.
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <utility>

#include "promql/syntax/grammar.h"
#include "promql/syntax/words.h"

namespace sonde::promql {
namespace {

constexpr char kLengthWanted[] = "number, duration, step(), or range()";

int LengthPrecedence(TokenKind kind) {
  switch (kind) {
    case TokenKind::kAdd:
    case TokenKind::kSub:
      return 1;
    case TokenKind::kMul:
    case TokenKind::kDiv:
    case TokenKind::kMod:
      return 2;
    case TokenKind::kPow:
      return 3;
    default:
      return 0;
  }
}

bool BeginsLength(TokenKind kind) {
  switch (kind) {
    case TokenKind::kNumber:
    case TokenKind::kDuration:
    case TokenKind::kLeftParen:
    case TokenKind::kAdd:
    case TokenKind::kSub:
    case TokenKind::kStep:
    case TokenKind::kRangeWord:
    case TokenKind::kMaxOf:
    case TokenKind::kMinOf:
      return true;
    default:
      return false;
  }
}

bool IsNumber(const ExpressionPtr& length) { return length->kind == ExpressionKind::kNumber; }

// Whether no time.Duration of Go holds it, or not its negative.  Prometheus takes NaN for the least Duration, and prints that wrongly.
bool IsOutOfRange(double seconds) {
  constexpr double kMost = 9223372036854775808.0 / 1e9;
  return !(seconds < kMost && seconds > -kMost);
}

int64_t NanosOf(double seconds) {
  const double nanos = std::round(seconds * 1e9);
  if (!(nanos < 9223372036854775808.0)) return std::numeric_limits<int64_t>::max();
  if (nanos <= -9223372036854775808.0) return -std::numeric_limits<int64_t>::max();
  return static_cast<int64_t>(nanos);
}

}  // namespace

Length Grammar::LengthOf(ExpressionPtr length) {
  Length result;
  if (IsNumber(length)) {
    result.nanos = NanosOf(length->number);
  } else {
    result.expression = std::move(length);
  }
  return result;
}

ExpressionPtr Grammar::WithinRange(ExpressionPtr literal, Range place) {
  if (!IsOutOfRange(literal->number)) return literal;
  Note(place, "duration out of range");
  return NewNumber(0, literal->place);
}

ExpressionPtr Grammar::PositiveLength(ExpressionPtr length) {
  if (!IsNumber(length) || length->number > 0 || std::isnan(length->number)) return length;
  Note(length->place, "duration must be greater than 0");
  return NewNumber(0, length->place);
}

ExpressionPtr Grammar::ReadLength(int least_precedence) {
  const Nested nested(this);
  ExpressionPtr left = ReadLengthOperand();
  while (true) {
    const TokenKind op = token().kind;
    const int precedence = LengthPrecedence(op);
    if (precedence == 0 || precedence < least_precedence) return left;
    const Token sign = Take();
    ExpressionPtr right = ReadLength(op == TokenKind::kPow ? precedence : precedence + 1);
    const bool divides = op == TokenKind::kDiv || op == TokenKind::kMod;
    if (divides && IsNumber(right) && right->number == 0) {
      Note(sign.range, op == TokenKind::kDiv ? "division by zero" : "modulo by zero");
    }
    ExpressionPtr result = New(ExpressionKind::kLength, {left->place.start, right->place.end});
    result->op = op;
    result->operands.push_back(std::move(left));
    result->operands.push_back(std::move(right));
    left = std::move(result);
  }
}

ExpressionPtr Grammar::ReadLengthOperand() {
  switch (token().kind) {
    case TokenKind::kNumber:
    case TokenKind::kDuration: {
      ExpressionPtr literal = ReadNumber();
      const Range place = literal->place;
      return WithinRange(std::move(literal), place);
    }
    case TokenKind::kAdd:
    case TokenKind::kSub: {
      const Token sign = Take();
      return NegatedLength(sign, ReadLength(3), false);
    }
    case TokenKind::kLeftParen: {
      Take();
      ExpressionPtr inner = ReadLength(1);
      if (!TakeIf(TokenKind::kRightParen)) throw ReadingEnds();
      if (!IsNumber(inner)) inner->is_wrapped = true;
      return inner;
    }
    default:
      return ReadLengthWord();
  }
}

// step(), range(), max_of(a, b), min_of(a, b).  Where it is none, the caller says what it wants.
ExpressionPtr Grammar::ReadLengthWord() {
  const TokenKind kind = token().kind;
  if (kind < TokenKind::kStep || kind > TokenKind::kMinOf) throw ReadingEnds();
  const Token word = Take();
  ExpressionPtr result = New(ExpressionKind::kLength, word.range);
  result->op = kind;
  if (!TakeIf(TokenKind::kLeftParen)) throw ReadingEnds();
  if (kind == TokenKind::kMaxOf || kind == TokenKind::kMinOf) {
    result->operands.push_back(ReadLength(1));
    if (!TakeIf(TokenKind::kComma)) throw ReadingEnds();
    result->operands.push_back(ReadLength(1));
  }
  if (!Is(TokenKind::kRightParen)) throw ReadingEnds();
  result->place.end = Take().range.end;
  return result;
}

ExpressionPtr Grammar::NegatedLength(const Token& sign, ExpressionPtr length, bool is_wrapped) {
  if (IsNumber(length)) {
    if (sign.kind == TokenKind::kSub) length->number *= -1;
    length->place.start = sign.range.start;
    return WithinRange(std::move(length), sign.range);
  }
  if (is_wrapped) length->is_wrapped = true;
  if (sign.kind != TokenKind::kSub) return length;
  ExpressionPtr result = New(ExpressionKind::kLength, {sign.range.start, length->place.end});
  result->op = TokenKind::kSub;
  result->operands.push_back(std::move(length));
  return result;
}

ExpressionPtr Grammar::ReadBrackets(ExpressionPtr inner) {
  const Token open = Take();
  // A length that is not understood is told at the token that was read last, in the words of its place.
  const auto read = [&](std::string_view context, std::string_view wanted) {
    if (!BeginsLength(token().kind)) Unexpected(context, wanted);
    try {
      return PositiveLength(ReadLength(1));
    } catch (const ReadingEnds&) {
      if (status_.ok()) Unexpected(context, wanted);
      throw;
    }
  };
  ExpressionPtr range = read("subquery or range selector", kLengthWanted);
  if (!Is(TokenKind::kColon) && !Is(TokenKind::kRightBracket)) {
    Unexpected("subquery or range", "\":\" or \"]\"");
  }
  if (Take().kind == TokenKind::kRightBracket) {
    const Range brackets = {open.range.start, last_.range.end};
    if (inner->kind != ExpressionKind::kSelector) {
      Note(brackets, "ranges only allowed for vector selectors");
    } else if (inner->shift.offset.nanos != 0) {
      Note(brackets, "no offset modifiers allowed before range");
    } else if (inner->shift.at_millis) {
      Note(brackets, "no @ modifiers allowed before range");
    }
    ExpressionPtr result = New(ExpressionKind::kRange, {inner->place.start, end_});
    result->range = LengthOf(std::move(range));
    result->operands.push_back(std::move(inner));
    return result;
  }
  ExpressionPtr result = New(ExpressionKind::kSubquery, inner->place);
  if (!Is(TokenKind::kRightBracket)) {
    result->step = LengthOf(read("subquery selector", "number, duration, step(), range(), or \"]\""));
    if (!Is(TokenKind::kRightBracket)) Unexpected("subquery selector", "\"]\"");
  }
  result->place.end = Take().range.end;
  result->range = LengthOf(std::move(range));
  result->operands.push_back(std::move(inner));
  return result;
}

ExpressionPtr Grammar::ReadOffsetLength() {
  const bool has_sign = Is(TokenKind::kAdd) || Is(TokenKind::kSub);
  std::optional<Token> sign;
  if (has_sign) sign = Take();
  ExpressionPtr length;
  switch (token().kind) {
    case TokenKind::kNumber:
    case TokenKind::kDuration: {
      length = ReadNumber();
      if (!sign) {
        const Range place = length->place;
        return WithinRange(std::move(length), place);
      }
      break;
    }
    case TokenKind::kLeftParen: {
      if (!sign) return ReadLength(1);
      Take();
      length = ReadLength(1);
      if (!TakeIf(TokenKind::kRightParen)) throw ReadingEnds();
      return NegatedLength(*sign, std::move(length), true);
    }
    case TokenKind::kAdd:
    case TokenKind::kSub:
      return NegatedLength(*sign, ReadLength(3), false);
    default:
      length = ReadLengthWord();
      break;
  }
  return sign ? NegatedLength(*sign, std::move(length), false) : std::move(length);
}

void Grammar::ReadOffset(Expression* inner) {
  Take();
  ExpressionPtr length;
  try {
    length = ReadOffsetLength();
  } catch (const ReadingEnds&) {
    if (status_.ok()) Unexpected("offset", kLengthWanted);
    throw;
  }
  SetOffset(inner, LengthOf(std::move(length)));
}

// Null: it was noted that `inner` has no times of its own.
TimeShift* Grammar::ShiftOf(Expression* inner, std::string_view what) {
  switch (inner->kind) {
    case ExpressionKind::kSelector:
    case ExpressionKind::kSubquery:
      return &inner->shift;
    case ExpressionKind::kRange:
      if (inner->operands[0]->kind == ExpressionKind::kSelector) return &inner->operands[0]->shift;
      Note(inner->place, "ranges only allowed for vector selectors");
      return nullptr;
    default:
      Note(inner->place,
           fmt::format("{} modifier must be preceded by an instant vector selector or range vector "
                       "selector or a subquery",
                       what));
      return nullptr;
  }
}

void Grammar::SetOffset(Expression* inner, Length offset) {
  TimeShift* shift = ShiftOf(inner, "offset");
  if (shift == nullptr) return;
  if (shift->offset.IsSet()) {
    Note(inner->place, "offset may not be set multiple times");
    return;
  }
  shift->offset = std::move(offset);
  inner->place.end = end_;
}

void Grammar::ReadExtension(Expression* inner) {
  const TokenKind kind = Take().kind;
  const auto note = [&](std::string_view what) {
    Note(inner->place, fmt::format("{} modifier {}", TextOf(kind), what));
  };
  if (!options_.allows_experimental) return note("is experimental and not enabled");
  if (inner->kind == ExpressionKind::kSubquery) return note("is not supported for subqueries");
  if (inner->kind != ExpressionKind::kSelector && inner->kind != ExpressionKind::kRange) {
    return note("not implemented");
  }
  Expression* const selector = inner->kind == ExpressionKind::kRange ? inner->operands[0].get() : inner;
  const Extension extension = kind == TokenKind::kAnchored ? Extension::kAnchored : Extension::kSmoothed;
  if (selector->extension != Extension::kNone && selector->extension != extension) {
    Note(inner->place, "anchored and smoothed modifiers cannot be used together");
  }
  selector->extension = extension;
}

void Grammar::ReadAt(Expression* inner) {
  Take();
  if (Is(TokenKind::kStart) || Is(TokenKind::kEndWord)) {
    const AtWord word = Take().kind == TokenKind::kStart ? AtWord::kStart : AtWord::kEnd;
    if (!TakeIf(TokenKind::kLeftParen)) Unexpected("@", "timestamp");
    if (!TakeIf(TokenKind::kRightParen)) Unexpected("@", "timestamp");
    TimeShift* shift = ShiftOf(inner, "@");
    if (shift == nullptr) return;
    if (shift->HasAt()) return Note(inner->place, "@ <timestamp> may not be set multiple times");
    shift->at_word = word;
    inner->place.end = end_;
    return;
  }
  double sign = 1;
  if (Is(TokenKind::kAdd) || Is(TokenKind::kSub)) sign = Take().kind == TokenKind::kSub ? -1 : 1;
  if (!Is(TokenKind::kNumber) && !Is(TokenKind::kDuration)) Unexpected("@", "timestamp");
  const double seconds = sign * ReadNumber()->number;
  constexpr double kMost = 9223372036854775808.0;
  if (!std::isfinite(seconds) || seconds >= kMost || seconds <= -kMost) {
    const std::string text = std::isfinite(seconds) ? fmt::format("{:f}", seconds) : PlainNumber(seconds);
    Note(inner->place, fmt::format("timestamp out of bounds for @ modifier: {}", text));
  }
  TimeShift* shift = ShiftOf(inner, "@");
  if (shift == nullptr) return;
  if (shift->HasAt()) return Note(inner->place, "@ <timestamp> may not be set multiple times");
  const double millis = std::round(seconds * 1000);
  shift->at_millis =
      millis < kMost && millis > -kMost ? static_cast<int64_t>(millis) : std::numeric_limits<int64_t>::min();
  inner->place.end = end_;
}

}  // namespace sonde::promql
