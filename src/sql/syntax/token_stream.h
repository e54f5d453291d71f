// Tokens, one after the other, and the error that ends them.
//
// The first error stays, and the stream is at its end from then on: every question about the token here is
// answered with no.  So code that reads goes on without asking after each step, and its loops end.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "sql/syntax/lexer.h"

namespace sonde::sql {

class TokenStream {
 public:
  // `text` outlives the stream.  `what` names it in errors: statement, expression.
  TokenStream(std::string_view text, std::string_view what);

  const Token& Peek(size_t ahead = 0) const { return At(at_ + ahead); }
  size_t index() const { return at_; }
  const Token& At(size_t index) const { return index < tokens_.size() ? tokens_[index] : tokens_.back(); }
  Position position(size_t ahead = 0) const { return Position{Peek(ahead).offset}; }
  // The token as it stands in the text.
  std::string_view Raw(const Token& token) const { return text_.substr(token.offset, token.bytes); }

  // Whether the token, so many further on, is this keyword or symbol.
  bool Is(Word word, size_t ahead = 0) const { return Peek(ahead).word == word; }
  bool Is(Token::Kind kind, size_t ahead = 0) const { return Peek(ahead).kind == kind; }
  // Whether it can be a name where nothing else is meant: no reserved word.
  bool IsName(size_t ahead = 0) const;
  // Whether it stands right behind the one before.
  bool IsAdjacent(size_t ahead) const;

  void Skip(size_t count = 1);
  bool Take(Word word);
  // Takes this, or fails: `others` might have stood there, too.
  void Expect(Word word, std::initializer_list<Word> others = {});
  // Takes a name; without backticks.
  std::string TakeName(std::initializer_list<Word> others = {});
  // The value of this string, bytes, or quoted name; not taken.
  std::string Value(const Token& token);
  // Takes the > that closes the arguments of a type; of >> the first.
  bool TakeCloseOfType();

  bool failed() const { return !status_.ok(); }
  const absl::Status& status() const { return status_; }
  void Fail(Position position, std::string_view message);
  // The token here is none that can stand here.  `expected`: what can, if that is little.
  void FailUnexpected(std::initializer_list<Word> expected = {});

 private:
  std::string Description(const Token& token) const;

  const std::string_view text_;
  const std::string_view what_;
  std::vector<Token> tokens_;
  std::string lexical_error_;
  size_t at_ = 0;
  absl::Status status_;
};

}  // namespace sonde::sql
