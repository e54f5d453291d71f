// A query as tokens, with Prometheus' words where it is wrong.
//
// A lexer is for one query and one thread.  Its text must outlive it.
#pragma once

#include <string>
#include <string_view>

#include "promql/syntax/token.h"
#include "promql/syntax/words.h"

namespace sonde::promql {

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  // The next token; after kEnd or kError always kEnd.  Comments are passed over.
  Token Next();

 private:
  enum class State { kStatement, kBraces, kDuration, kDone };

  // Each reads one token, or spaces; false: nothing was read that is a token.
  bool ReadStatement();
  bool ReadBraces();
  bool ReadDuration();
  bool ReadSign(char32_t sign);
  bool ReadOperator(char32_t sign);
  bool ReadBracketed(char32_t sign);
  void ReadNumberOrDuration();
  void ReadString(char32_t quote);
  bool ReadEscape(char32_t quote);
  void ReadWord();
  bool ReadDurationWord();
  bool ScanNumber();
  bool ScanDuration();
  bool IsFollowedByParen() const;

  char32_t Advance();
  void Back() { position_ -= width_; }
  char32_t Peek();
  bool Accept(std::string_view signs);
  bool IsNext(std::string_view signs);
  void SkipSpaces();
  void SkipComment();
  bool Emit(TokenKind kind);
  // Always true: an error is a token.
  bool Fail(std::string message);

  const std::string_view text_;
  State state_ = State::kStatement;
  size_t position_ = 0;
  size_t start_ = 0;  // of the token
  size_t width_ = 0;  // of the sign that was read last
  int parens_ = 0;
  bool is_brace_open_ = false;
  bool is_bracket_open_ = false;
  bool has_colon_ = false;     // since the bracket
  bool has_duration_ = false;  // since the first bracket of all
  Token token_;
};

}  // namespace sonde::promql
