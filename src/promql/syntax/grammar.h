// The state of reading one query, for the units of the parser.
//
// The grammar is Prometheus', by recursive descent.  An error that ends the reading is an exception within this
// folder; what may be read on is noted by Note, and the first one is the answer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "promql/syntax/lexer.h"
#include "promql/syntax/matcher.h"
#include "promql/syntax/parse_options.h"
#include "promql/syntax/tree.h"

namespace sonde::promql {

// Ends the reading.
struct ReadingEnds {};

class Grammar {
 public:
  Grammar(std::string_view text, const ParseOptions& options)
      : text_(text), options_(options), lexer_(text) {}

  // The whole text; errors are in `status`.
  ExpressionPtr ReadAll();
  std::vector<Matcher> ReadSelectorOnly();
  absl::Status status() const { return status_; }

  // An error that leaves the rest readable.
  void Note(Range place, std::string_view message);
  std::string_view text() const { return text_; }

 private:
  // Expressions (grammar.cc).
  ExpressionPtr ReadBinary(int least_precedence);
  ExpressionPtr ReadUnary();
  ExpressionPtr ReadPostfix();
  ExpressionPtr ReadPrimary();
  ExpressionPtr ReadWord();
  void ReadBinaryModifiers(Expression* binary);
  void ReadFills(Matching* matching);
  double ReadFill();
  // Numbers and texts (literals.cc).
  ExpressionPtr ReadNumber();
  double NumberOf(const Token& token);
  std::string Unquote(const Token& token);
  std::vector<std::string> ReadGrouping();
  std::string ReadGroupingLabel();
  // Calls and selectors (selectors.cc).
  ExpressionPtr ReadCall(const Token& name);
  ExpressionPtr ReadAggregate(const Token& name);
  bool ReadAggregateModifier(Expression* aggregate);
  std::vector<ExpressionPtr> ReadArguments();
  ExpressionPtr ReadSelector(std::optional<Token> name);
  void ReadMatchers(Expression* selector);
  void ReadMatcher(std::vector<Matcher>* matchers);
  void AddMatcher(MatchKind kind, std::string name, Range place, std::string value, std::vector<Matcher>* to);
  // Lengths, and what stands behind an expression (lengths.cc).
  ExpressionPtr ReadBrackets(ExpressionPtr inner);
  void ReadOffset(Expression* inner);
  void ReadAt(Expression* inner);
  void ReadExtension(Expression* inner);
  void SetOffset(Expression* inner, Length offset);
  TimeShift* ShiftOf(Expression* inner, std::string_view what);
  ExpressionPtr ReadLength(int least_precedence);
  ExpressionPtr ReadLengthOperand();
  ExpressionPtr ReadLengthWord();
  ExpressionPtr ReadOffsetLength();
  ExpressionPtr NegatedLength(const Token& sign, ExpressionPtr length, bool is_wrapped);
  ExpressionPtr WithinRange(ExpressionPtr literal, Range place);
  ExpressionPtr PositiveLength(ExpressionPtr length);
  static Length LengthOf(ExpressionPtr length);

  const Token& token();
  Token Take();
  bool Is(TokenKind kind) { return token().kind == kind; }
  bool TakeIf(TokenKind kind);
  // The token at hand does not belong here; the words of the innermost part that says what it wants.
  [[noreturn]] void Unexpected();
  [[noreturn]] void Unexpected(std::string_view context, std::string_view expected);
  void Expect(TokenKind kind);
  ExpressionPtr New(ExpressionKind kind, Range place);
  ExpressionPtr NewNumber(double value, Range place);

  // An expression within another one.
  class Nested {
   public:
    explicit Nested(Grammar* grammar);
    ~Nested() { --grammar_->nested_; }
    Nested(const Nested&) = delete;
    Nested& operator=(const Nested&) = delete;

   private:
    Grammar* const grammar_;
  };

  const std::string_view text_;
  const ParseOptions options_;
  Lexer lexer_;
  std::optional<Token> token_;  // read, and not taken
  Token last_;                  // that was read last
  size_t nested_ = 0;
  size_t nodes_ = 0;
  int aggregations_ = 0;  // around the token at hand
  size_t end_ = 0;        // of the closing sign, number or duration that was read last
  absl::Status status_;
};

// Notes what is wrong with the types of a tree, and sets the matching of its binary operators.
void CheckTypes(Expression* expression, Grammar* grammar);

}  // namespace sonde::promql
