#include "promql/syntax/grammar.h"

#include <fmt/format.h>

#include <utility>

#include "promql/syntax/words.h"

namespace sonde::promql {
namespace {

constexpr int kLeast = 1;
constexpr int kProduct = 5;
constexpr int kPower = 6;

// 0: no binary operator.
int PrecedenceOf(TokenKind kind) {
  switch (kind) {
    case TokenKind::kOr:
      return kLeast;
    case TokenKind::kAnd:
    case TokenKind::kUnless:
      return 2;
    case TokenKind::kEqualEqual:
    case TokenKind::kNotEqual:
    case TokenKind::kLess:
    case TokenKind::kLessEqual:
    case TokenKind::kGreater:
    case TokenKind::kGreaterEqual:
    case TokenKind::kTrimUpper:
    case TokenKind::kTrimLower:
      return 3;
    case TokenKind::kAdd:
    case TokenKind::kSub:
      return 4;
    case TokenKind::kMul:
    case TokenKind::kDiv:
    case TokenKind::kMod:
    case TokenKind::kAtan2:
      return kProduct;
    case TokenKind::kPow:
      return kPower;
    default:
      return 0;
  }
}

// A text as tokens are shown: the first ten signs.
std::string Shortened(const std::string& text) {
  constexpr size_t kSignsShownMax = 10;
  if (text.size() <= kSignsShownMax) return Quoted(text);
  size_t bytes = 0;
  for (size_t i = 0; i < kSignsShownMax && bytes < text.size(); ++i) bytes += SignAt(text, bytes).bytes;
  return Quoted(std::string_view(text).substr(0, bytes)) + "...";
}

std::string Described(const Token& token) {
  const TokenKind kind = token.kind;
  switch (kind) {
    case TokenKind::kEnd:
      return "end of input";
    case TokenKind::kIdentifier:
      return "identifier " + Quoted(token.text);
    case TokenKind::kMetricIdentifier:
      return "metric identifier " + Quoted(token.text);
    case TokenKind::kString:
      return "string " + Shortened(token.text);
    case TokenKind::kNumber:
      return "number " + Shortened(token.text);
    case TokenKind::kDuration:
      return "duration " + Shortened(token.text);
    default:
      break;
  }
  if (kind >= TokenKind::kOffset && kind <= TokenKind::kBool) return fmt::format("<{}>", token.text);
  if (IsAggregator(kind)) return fmt::format("<aggr:{}>", token.text);
  const bool is_operator = kind >= TokenKind::kMatches && kind <= TokenKind::kAt;
  return is_operator ? fmt::format("<op:{}>", token.text) : Shortened(token.text);
}

}  // namespace

Grammar::Nested::Nested(Grammar* grammar) : grammar_(grammar) {
  if (++grammar_->nested_ <= kNestedMax) return;
  --grammar_->nested_;
  if (grammar_->status_.ok()) {
    grammar_->status_ = absl::ResourceExhaustedError(
        fmt::format("the query has more than {} expressions within each other", kNestedMax));
  }
  throw ReadingEnds();
}

ExpressionPtr Grammar::New(ExpressionKind kind, Range place) {
  if (++nodes_ > kNodesMax) {
    if (status_.ok()) {
      status_ =
          absl::ResourceExhaustedError(fmt::format("the query has more than {} expressions", kNodesMax));
    }
    throw ReadingEnds();
  }
  return std::make_unique<Expression>(kind, place);
}

const Token& Grammar::token() {
  if (token_) return *token_;
  token_ = lexer_.Next();
  last_ = *token_;
  switch (token_->kind) {
    case TokenKind::kError:
      Note(token_->range, token_->text);
      throw ReadingEnds();
    case TokenKind::kRightBrace:
    case TokenKind::kRightParen:
    case TokenKind::kRightBracket:
    case TokenKind::kDuration:
    case TokenKind::kNumber:
      end_ = token_->range.end;
      break;
    default:
      break;
  }
  return *token_;
}

Token Grammar::Take() {
  token();
  Token result = *std::move(token_);
  token_.reset();
  return result;
}

bool Grammar::TakeIf(TokenKind kind) {
  if (!Is(kind)) return false;
  Take();
  return true;
}

void Grammar::Expect(TokenKind kind) {
  if (!TakeIf(kind)) Unexpected();
}

void Grammar::Note(Range place, std::string_view message) {
  if (!status_.ok()) return;
  status_ =
      absl::InvalidArgumentError(fmt::format("{}: parse error: {}", PlaceText(text_, place.start), message));
}

void Grammar::Unexpected() { Unexpected(aggregations_ > 0 ? "aggregation" : "", ""); }

void Grammar::Unexpected(std::string_view context, std::string_view expected) {
  const Token& wrong = token();
  std::string message = "unexpected " + Described(wrong);
  if (!context.empty()) message += fmt::format(" in {}", context);
  if (!expected.empty()) message += fmt::format(", expected {}", expected);
  Note(wrong.range, message);
  throw ReadingEnds();
}

ExpressionPtr Grammar::ReadAll() {
  try {
    if (Is(TokenKind::kEnd)) {
      Note({}, "no expression found in input");
      return nullptr;
    }
    ExpressionPtr result = ReadBinary(kLeast);
    if (!Is(TokenKind::kEnd)) Unexpected();
    if (status_.ok()) CheckTypes(result.get(), this);
    return status_.ok() ? std::move(result) : nullptr;
  } catch (const ReadingEnds&) {
    return nullptr;
  }
}

std::vector<Matcher> Grammar::ReadSelectorOnly() {
  try {
    std::optional<Token> name;
    if (MayNameMetric(token().kind)) name = Take();
    if (!name && !Is(TokenKind::kLeftBrace)) Unexpected();
    ExpressionPtr result = ReadSelector(std::move(name));
    if (!Is(TokenKind::kEnd)) Unexpected();
    return std::move(result->matchers);
  } catch (const ReadingEnds&) {
    return {};
  }
}

ExpressionPtr Grammar::ReadBinary(int least_precedence) {
  const Nested nested(this);
  ExpressionPtr left = ReadUnary();
  while (true) {
    const TokenKind op = token().kind;
    const int precedence = PrecedenceOf(op);
    if (precedence == 0 || precedence < least_precedence) return left;
    Take();
    ExpressionPtr binary = New(ExpressionKind::kBinary, left->place);
    binary->op = op;
    ReadBinaryModifiers(binary.get());
    ExpressionPtr right = ReadBinary(op == TokenKind::kPow ? precedence : precedence + 1);
    binary->place.end = right->place.end;
    binary->operands.push_back(std::move(left));
    binary->operands.push_back(std::move(right));
    const Matching& matching = *binary->matching;
    if ((matching.fill_left || matching.fill_right) && !options_.allows_experimental) {
      Note(binary->place, "binop fill modifiers are experimental and not enabled");
    }
    left = std::move(binary);
  }
}

void Grammar::ReadBinaryModifiers(Expression* binary) {
  Matching& matching = binary->matching.emplace();
  binary->returns_bool = TakeIf(TokenKind::kBool);
  if (Is(TokenKind::kOn) || Is(TokenKind::kIgnoring)) {
    matching.is_on = Take().kind == TokenKind::kOn;
    matching.labels = ReadGrouping();
    if (Is(TokenKind::kGroupLeft) || Is(TokenKind::kGroupRight)) {
      matching.card =
          Take().kind == TokenKind::kGroupLeft ? MatchingCard::kManyToOne : MatchingCard::kOneToMany;
      // A parenthesis here is always a list of labels.
      if (Is(TokenKind::kLeftParen)) matching.include = ReadGrouping();
    }
  }
  ReadFills(&matching);
}

void Grammar::ReadFills(Matching* matching) {
  if (TakeIf(TokenKind::kFill)) {
    matching->fill_left = matching->fill_right = ReadFill();
  } else if (TakeIf(TokenKind::kFillLeft)) {
    matching->fill_left = ReadFill();
    if (TakeIf(TokenKind::kFillRight)) matching->fill_right = ReadFill();
  } else if (TakeIf(TokenKind::kFillRight)) {
    matching->fill_right = ReadFill();
    if (TakeIf(TokenKind::kFillLeft)) matching->fill_left = ReadFill();
  }
}

double Grammar::ReadFill() {
  if (!TakeIf(TokenKind::kLeftParen)) Unexpected();
  double sign = 1;
  if (Is(TokenKind::kAdd) || Is(TokenKind::kSub)) sign = Take().kind == TokenKind::kSub ? -1 : 1;
  if (!Is(TokenKind::kNumber) && !Is(TokenKind::kDuration)) Unexpected();
  const double value = sign * ReadNumber()->number;
  if (!TakeIf(TokenKind::kRightParen)) Unexpected();
  return value;
}

ExpressionPtr Grammar::ReadUnary() {
  if (!Is(TokenKind::kAdd) && !Is(TokenKind::kSub)) return ReadPostfix();
  const Token sign = Take();
  ExpressionPtr operand = ReadBinary(kPower);
  if (operand->kind == ExpressionKind::kNumber) {
    if (sign.kind == TokenKind::kSub) operand->number *= -1;
    operand->place.start = sign.range.start;
    return operand;
  }
  ExpressionPtr result = New(ExpressionKind::kUnary, {sign.range.start, operand->place.end});
  result->op = sign.kind;
  result->operands.push_back(std::move(operand));
  return result;
}

ExpressionPtr Grammar::ReadPostfix() {
  ExpressionPtr result = ReadPrimary();
  while (true) {
    switch (token().kind) {
      case TokenKind::kLeftBracket:
        result = ReadBrackets(std::move(result));
        break;
      case TokenKind::kOffset:
        ReadOffset(result.get());
        break;
      case TokenKind::kAt:
        ReadAt(result.get());
        break;
      case TokenKind::kAnchored:
      case TokenKind::kSmoothed:
        ReadExtension(result.get());
        break;
      default:
        return result;
    }
  }
}

ExpressionPtr Grammar::ReadPrimary() {
  switch (token().kind) {
    case TokenKind::kNumber:
    case TokenKind::kDuration:
      return ReadNumber();
    case TokenKind::kString: {
      const Token text = Take();
      ExpressionPtr result = New(ExpressionKind::kString, text.range);
      result->text = Unquote(text);
      return result;
    }
    case TokenKind::kLeftParen: {
      const Token open = Take();
      ExpressionPtr inner = ReadBinary(kLeast);
      if (!Is(TokenKind::kRightParen)) Unexpected();
      ExpressionPtr result = New(ExpressionKind::kParen, {open.range.start, Take().range.end});
      result->operands.push_back(std::move(inner));
      return result;
    }
    case TokenKind::kLeftBrace:
      return ReadSelector(std::nullopt);
    default:
      return ReadWord();
  }
}

ExpressionPtr Grammar::ReadWord() {
  const TokenKind kind = token().kind;
  if (!MayNameMetric(kind)) Unexpected();
  const Token name = Take();
  if (IsAggregator(kind)) {
    const bool is_aggregation = Is(TokenKind::kLeftParen) || Is(TokenKind::kBy) || Is(TokenKind::kWithout);
    return is_aggregation ? ReadAggregate(name) : ReadSelector(name);
  }
  const bool may_be_call =
      kind == TokenKind::kIdentifier || (kind >= TokenKind::kStart && kind <= TokenKind::kMinOf);
  if (may_be_call && Is(TokenKind::kLeftParen)) return ReadCall(name);
  return ReadSelector(name);
}

}  // namespace sonde::promql
