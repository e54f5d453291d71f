// Operators, by precedence: OR, AND, NOT, comparisons, then kBinaryLevels, then signs, then what follows an
// operand.  An operator's node begins where its first operand does, with the parentheses of that operand.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "sql/syntax/grammar.h"
#include "sql/syntax/parser.h"

namespace sonde::sql {
namespace {

using Kind = Expr::Kind;

// From the weakest; operators of one level group from the left.
struct BinaryLevel {
  Word first;
  Word second;
};
constexpr std::array<BinaryLevel, 7> kBinaryLevels = {{
    {"|", {}},
    {"^", {}},
    {"&", {}},
    {"<<", ">>"},
    {"+", "-"},
    {"||", {}},
    {"*", "/"},
}};

int BinaryLevelOf(Word word) {
  for (size_t i = 0; i < kBinaryLevels.size(); ++i) {
    if (word != Word() && (word == kBinaryLevels[i].first || word == kBinaryLevels[i].second))
      return static_cast<int>(i);
  }
  return -1;
}

bool IsComparison(const Expr& binary) {
  return binary.text == "LIKE" || binary.text == "IS DISTINCT FROM" || binary.text == "=" ||
         binary.text == "!=" || binary.text == "<" || binary.text == "<=" || binary.text == ">" ||
         binary.text == ">=";
}

bool IsIndexName(std::string_view name) {
  return name == "OFFSET" || name == "ORDINAL" || name == "SAFE_OFFSET" || name == "SAFE_ORDINAL" ||
         name == "KEY" || name == "SAFE_KEY";
}

// Whether `call` has so many arguments and nothing else.
bool IsPlainCall(const Expr::Call& call, size_t arguments_count) {
  return call.arguments.size() == arguments_count && call.named.empty() && !call.star && !call.distinct &&
         call.nulls == Expr::Call::Nulls::kUnsaid && !call.having_max && !call.having_min &&
         call.order_by.empty() && !call.limit && !call.over;
}

// The operator of a comparison of two operands; empty: `word` is none.
std::string_view ComparisonText(Word word) {
  if (word == "<>") return "!=";
  for (const Word comparison : {Word("="), Word("!="), Word("<"), Word("<="), Word(">"), Word(">=")}) {
    if (word == comparison) return comparison.text();
  }
  return "";
}

}  // namespace

Grammar::Level::Level(Grammar* grammar) : grammar_(*grammar), outer_height_(grammar->height_) {
  grammar_.height_ = 0;
  if (++grammar_.depth_ <= kNestingMax) return;
  grammar_.tokens_.Fail(
      grammar_.tokens_.position(),
      fmt::format("Query is too deep: expressions, queries and types nest more than {} times in each other",
                  kNestingMax));
}

Grammar::Level::~Level() {
  --grammar_.depth_;
  grammar_.GrowTree();
  grammar_.height_ = std::max(outer_height_, grammar_.height_);
}

Grammar::Side::Side(Grammar* grammar) : grammar_(*grammar), outer_height_(grammar->height_) {
  grammar_.height_ = 0;
}

Grammar::Side::~Side() { grammar_.height_ = std::max(outer_height_, grammar_.height_); }

void Grammar::GrowTree() {
  if (++height_ <= kTreeHeightMax) return;
  tokens_.Fail(
      tokens_.position(),
      fmt::format("Query is too deep: more than {} operators or expressions stand one upon the other",
                  kTreeHeightMax));
}

void Grammar::CheckListLength(size_t count) {
  if (count <= kListMax) return;
  tokens_.Fail(tokens_.position(), fmt::format("Query has a list of more than {} elements", kListMax));
}

void Grammar::Unsupported(Position position, std::string_view what) {
  tokens_.Fail(position, fmt::format("{} not supported", what));
}

ExprPtr Grammar::Make(Kind kind, Position position) const {
  auto expr = std::make_unique<Expr>();
  expr->kind = kind;
  expr->position = position;
  return expr;
}

ExprPtr Grammar::MakeText(Kind kind, Position position, std::string text) const {
  ExprPtr expr = Make(kind, position);
  expr->text = std::move(text);
  return expr;
}

// e OR e OR ...
ExprPtr Grammar::Expression() {
  const Level level(this);
  const Position position = tokens_.position();
  ExprPtr first = Conjunction();
  if (!tokens_.Is("OR")) return first;
  ExprPtr expr = MakeText(Kind::kBinary, position, "OR");
  expr->children.push_back(std::move(first));
  while (tokens_.Take("OR")) {
    expr->children.push_back(Conjunction());
    CheckListLength(expr->children.size());
  }
  return expr;
}

// e AND e AND ...
ExprPtr Grammar::Conjunction() {
  const Side side(this);
  const Position position = tokens_.position();
  ExprPtr first = Negation();
  if (!tokens_.Is("AND")) return first;
  ExprPtr expr = MakeText(Kind::kBinary, position, "AND");
  expr->children.push_back(std::move(first));
  while (tokens_.Take("AND")) {
    expr->children.push_back(Negation());
    CheckListLength(expr->children.size());
  }
  GrowTree();
  return expr;
}

ExprPtr Grammar::Negation() {
  const Position position = tokens_.position();
  if (!tokens_.Take("NOT")) return Comparison();
  const Level level(this);
  ExprPtr expr = MakeText(Kind::kUnary, position, "NOT");
  expr->children.push_back(Negation());
  return expr;
}

ExprPtr Grammar::Comparison() {
  const Side side(this);
  const Position position = tokens_.position();
  ExprPtr expr = Binary(0);
  while (BeginsComparison()) {
    expr = ComparisonWith(std::move(expr));
    expr->position = position;
    GrowTree();
  }
  return expr;
}

bool Grammar::BeginsComparison() const {
  const size_t ahead = tokens_.Is("NOT") ? 1 : 0;
  for (const Word word : {Word("LIKE"), Word("IN"), Word("BETWEEN")}) {
    if (tokens_.Is(word, ahead)) return true;
  }
  return tokens_.Is("IS") || !ComparisonText(tokens_.Peek().word).empty();
}

// Comparisons do not follow each other without parentheses.
void Grammar::CheckLeft(const Expr& left, std::string_view name) {
  if (left.parenthesized) return;
  if (left.kind == Kind::kBetween || (left.kind == Kind::kBinary && IsComparison(left)))
    tokens_.FailUnexpected();
  const bool is_test = left.kind == Kind::kIs || left.kind == Kind::kInList || left.kind == Kind::kInUnnest ||
                       left.kind == Kind::kInQuery;
  if (!is_test) return;
  tokens_.Fail(tokens_.position(tokens_.Is("NOT") ? 1 : 0),
               fmt::format("Syntax error: Expression to the left of {} must be parenthesized", name));
}

ExprPtr Grammar::ComparisonWith(ExprPtr left) {
  if (tokens_.Is("IS")) return IsTest(std::move(left));
  const bool negated = tokens_.Is("NOT");
  const Word operation = tokens_.Peek(negated ? 1 : 0).word;
  if (operation == "IN") return InTest(std::move(left), negated);
  if (operation == "BETWEEN") return BetweenTest(std::move(left), negated);
  CheckLeft(*left, operation == "LIKE" ? "LIKE" : "comparison");
  tokens_.Skip(negated ? 2 : 1);
  for (const Word quantifier : {Word("ANY"), Word("SOME"), Word("ALL")}) {
    if (tokens_.Is(quantifier)) Unsupported(tokens_.position(), "Comparison with ANY, SOME or ALL is");
  }
  ExprPtr expr = MakeText(Kind::kBinary, left->position,
                          std::string(operation == "LIKE" ? "LIKE" : ComparisonText(operation)));
  expr->negated = negated;
  expr->children.push_back(std::move(left));
  expr->children.push_back(Binary(0));
  return expr;
}

// IS [NOT] NULL, TRUE, FALSE, UNKNOWN; IS [NOT] DISTINCT FROM e.
ExprPtr Grammar::IsTest(ExprPtr left) {
  const bool is_distinct = tokens_.Is("DISTINCT", tokens_.Is("NOT", 1) ? 2 : 1);
  const bool follows_test =
      !left->parenthesized && left->kind != Kind::kBinary && left->kind != Kind::kBetween;
  if (!is_distinct || !follows_test) CheckLeft(*left, "IS");
  tokens_.Expect("IS");
  const bool negated = tokens_.Take("NOT");
  ExprPtr expr = Make(Kind::kIs, left->position);
  expr->negated = negated;
  expr->children.push_back(std::move(left));
  if (tokens_.Take("DISTINCT")) {
    if (!tokens_.Take("FROM")) tokens_.FailUnexpected();
    expr->kind = Kind::kBinary;
    expr->text = "IS DISTINCT FROM";
    expr->children.push_back(Binary(0));
    return expr;
  }
  for (const Word word : {Word("NULL"), Word("TRUE"), Word("FALSE")}) {
    if (!tokens_.Take(word)) continue;
    expr->text = word.text();
    return expr;
  }
  if (tokens_.Take("UNKNOWN")) {
    expr->text = "NULL";  // of BOOL, which alone can be unknown
    return expr;
  }
  tokens_.FailUnexpected({"NULL", "TRUE", "FALSE", "UNKNOWN"});
  return expr;
}

ExprPtr Grammar::InTest(ExprPtr left, bool negated) {
  CheckLeft(*left, "IN");
  tokens_.Skip(negated ? 2 : 1);
  ExprPtr expr = Make(Kind::kInList, left->position);
  expr->negated = negated;
  expr->children.push_back(std::move(left));
  if (tokens_.Is("(") && OpensQuery()) {
    expr->kind = Kind::kInQuery;
    expr->query = QueryInParentheses();
    return expr;
  }
  const bool is_unnest = tokens_.Take("UNNEST");
  if (is_unnest) {
    expr->kind = Kind::kInUnnest;
    tokens_.Expect("(");
    if (tokens_.Is("SELECT")) FailArgumentIsQuery("The argument to UNNEST is");
    expr->children.push_back(Expression());
    tokens_.Expect(")", {")", ","});
    return expr;
  }
  if (!tokens_.Take("(")) tokens_.FailUnexpected();
  List([&] { expr->children.push_back(Expression()); });
  tokens_.Expect(")", expr->children.size() > 2 ? std::initializer_list<Word>{")", ","}
                                                : std::initializer_list<Word>{","});
  return expr;
}

ExprPtr Grammar::BetweenTest(ExprPtr left, bool negated) {
  CheckLeft(*left, "BETWEEN");
  tokens_.Skip(negated ? 2 : 1);
  ExprPtr expr = Make(Kind::kBetween, left->position);
  expr->negated = negated;
  expr->children.push_back(std::move(left));
  const bool is_negation = tokens_.Is("NOT");
  expr->children.push_back(is_negation ? Negation() : Binary(0));
  // A comparison here would not be ambiguous, but the standard wants parentheses.
  if (is_negation || BeginsComparison() || tokens_.Is("OR")) {
    tokens_.Fail(expr->children.back()->position,
                 "Syntax error: Expression in BETWEEN must be parenthesized");
  }
  if (!tokens_.Take("AND")) tokens_.FailUnexpected();
  expr->children.push_back(Binary(0));
  return expr;
}

// Operators of this level and of stronger ones.
ExprPtr Grammar::Binary(int level_min) {
  const Side side(this);
  const Position position = tokens_.position();
  ExprPtr left = Unary();
  while (true) {
    const Word operation = tokens_.Peek().word;
    const int level = BinaryLevelOf(operation);
    if (level < level_min) return left;
    tokens_.Skip();
    ExprPtr expr = MakeText(Kind::kBinary, position, std::string(operation.text()));
    expr->children.push_back(std::move(left));
    expr->children.push_back(Binary(level + 1));
    GrowTree();
    left = std::move(expr);
  }
}

ExprPtr Grammar::Unary() {
  const Token& token = tokens_.Peek();
  if (token.word != "-" && token.word != "+" && token.word != "~") return Postfix();
  const Level level(this);
  ExprPtr expr = MakeText(Kind::kUnary, tokens_.position(), std::string(token.word.text()));
  tokens_.Skip();
  expr->children.push_back(Unary());
  return expr;
}

ExprPtr Grammar::Postfix() {
  const Side side(this);
  const Position position = tokens_.position();
  ExprPtr expr = Primary();
  while (true) {
    if (tokens_.Is("[")) {
      expr = Index(std::move(expr));
    } else if (tokens_.Is("(")) {
      expr = CallOf(std::move(expr));
    } else if (tokens_.Is(".") && !tokens_.Is("*", 1)) {
      expr = Field(std::move(expr));
    } else {
      return expr;
    }
    expr->position = position;
    GrowTree();
  }
}

ExprPtr Grammar::Field(ExprPtr base) {
  tokens_.Expect(".");
  if (tokens_.Is("(")) Unsupported(tokens_.position(), "Generalized field access is");
  ExprPtr expr = Make(Kind::kField, base->position);
  expr->children.push_back(std::move(base));
  expr->text = tokens_.TakeName();
  return expr;
}

// e[index], e[OFFSET(index)], ...
ExprPtr Grammar::Index(ExprPtr base) {
  tokens_.Expect("[");
  ExprPtr expr = Make(Kind::kIndex, base->position);
  expr->children.push_back(std::move(base));
  ExprPtr index = Expression();
  tokens_.Expect("]");
  if (index->kind == Kind::kCall && !index->parenthesized && index->call->name.parts.size() == 1 &&
      IsIndexName(index->call->name.parts[0]) && IsPlainCall(*index->call, 1)) {
    expr->text = index->call->name.parts[0];
    ExprPtr inner = std::move(index->call->arguments[0]);
    index = std::move(inner);
  }
  expr->children.push_back(std::move(index));
  return expr;
}

}  // namespace sonde::sql
