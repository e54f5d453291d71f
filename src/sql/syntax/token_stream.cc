#include "sql/syntax/token_stream.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>
#include <utility>

#include "sql/syntax/literal.h"
#include "sql/syntax/syntax_error.h"

namespace sonde::sql {
namespace {

constexpr size_t kShownLiteralBytesMax = 50;

std::string Expectation(Word word) {
  if (word == "@ for hint" || word == "end of input") return std::string(word.text());
  return word.is_keyword() ? fmt::format("keyword {}", word.text()) : fmt::format("\"{}\"", word.text());
}

// A literal on one line, with "..." before its closing quotes if it is long.
std::string Shortened(std::string_view literal) {
  std::string line;
  for (const char c : literal) {
    if (c == '\r' || c == '\n') {
      line += c == '\r' ? "\\r" : "\\n";
    } else {
      line.push_back(c);
    }
  }
  const size_t quotes_count = line.ends_with("'''") || line.ends_with("\"\"\"") ? 3 : 1;
  const size_t shown_bytes = kShownLiteralBytesMax - quotes_count;
  if (line.size() <= kShownLiteralBytesMax || shown_bytes + quotes_count + 4 > line.size()) return line;
  const std::string_view shown = std::string_view(line).substr(0, shown_bytes);
  return fmt::format("{}...{}", shown.substr(0, Utf8PrefixBytes(shown)),
                     line.substr(line.size() - quotes_count));
}

}  // namespace

TokenStream::TokenStream(std::string_view text, std::string_view what) : text_(text), what_(what) {
  Tokens cut = CutIntoTokens(text);
  tokens_ = std::move(cut.tokens);
  lexical_error_ = std::move(cut.error);
}

bool TokenStream::IsName(size_t ahead) const {
  const Token& token = Peek(ahead);
  return token.kind == Token::Kind::kName ||
         (token.kind == Token::Kind::kKeyword && !token.word.is_reserved());
}

bool TokenStream::IsAdjacent(size_t ahead) const {
  const Token& before = At(at_ + ahead - 1);
  return Peek(ahead).kind != Token::Kind::kEnd && before.offset + before.bytes == Peek(ahead).offset;
}

void TokenStream::Skip(size_t count) { at_ = std::min(at_ + count, tokens_.size() - 1); }

bool TokenStream::Take(Word word) {
  if (!Is(word)) return false;
  Skip();
  return true;
}

void TokenStream::Expect(Word word, std::initializer_list<Word> others) {
  if (Take(word)) return;
  if (others.size() == 0) return FailUnexpected({word});
  FailUnexpected(others);
}

std::string TokenStream::TakeName(std::initializer_list<Word> others) {
  if (!IsName()) {
    FailUnexpected(others);
    return "";
  }
  std::string name = Value(Peek());
  Skip();
  return name;
}

std::string TokenStream::Value(const Token& token) {
  const std::string_view raw = Raw(token);
  const bool is_quoted =
      token.kind == Token::Kind::kString || token.kind == Token::Kind::kBytes || raw.starts_with('`');
  if (!is_quoted) return std::string(raw);
  std::string value;
  if (const auto error = ReadLiteral(raw, &value)) {
    Fail(Position{token.offset + static_cast<uint32_t>(error->offset)},
         fmt::format("Syntax error: {}", error->message));
  }
  return value;
}

bool TokenStream::TakeCloseOfType() {
  if (Take(">")) return true;
  if (!Is(">>")) return false;
  Token& token = tokens_[at_];
  token.word = ">";
  ++token.offset;
  --token.bytes;
  return true;
}

void TokenStream::Fail(Position position, std::string_view message) {
  if (failed()) return;
  status_ = ErrorAt(text_, position, message);
  tokens_.back() = Token();
  at_ = tokens_.size() - 1;
}

void TokenStream::FailUnexpected(std::initializer_list<Word> expected) {
  if (failed()) return;
  const bool is_star = Is(".") && Is("*", 1);  // of a select list only
  const Token token = Peek(is_star ? 1 : 0);
  if (token.kind == Token::Kind::kError) return Fail(Position{token.offset}, lexical_error_);
  if (token.word == "OVER") {
    return Fail(Position{token.offset}, "Syntax error: OVER keyword must follow a function call");
  }
  if (token.word == "EXCEPT" && !Is("(", 1) && !Is("ALL", 1) && !Is("DISTINCT", 1)) {
    return Fail(Position{token.offset}, "EXCEPT must be followed by ALL, DISTINCT, or \"(\"");
  }
  std::set<std::string> expectations;
  for (const Word word : expected) expectations.insert(Expectation(word));
  if (expectations.empty() || is_star) {
    return Fail(Position{token.offset}, fmt::format("Syntax error: Unexpected {}", Description(token)));
  }
  Fail(Position{token.offset}, fmt::format("Syntax error: Expected {} but got {}",
                                           fmt::join(expectations, " or "), Description(token)));
}

std::string TokenStream::Description(const Token& token) const {
  const std::string_view raw = Raw(token);
  switch (token.kind) {
    case Token::Kind::kEnd:
      return fmt::format("end of {}", what_);
    case Token::Kind::kName:
      return raw.starts_with('`') ? fmt::format("identifier {}", raw) : fmt::format("identifier \"{}\"", raw);
    case Token::Kind::kKeyword:
      return fmt::format("keyword {}", token.word.text());
    case Token::Kind::kInteger:
      return fmt::format("integer literal \"{}\"", raw);
    case Token::Kind::kFloat:
      return fmt::format("floating point literal \"{}\"", raw);
    case Token::Kind::kString:
      return fmt::format("string literal {}", Shortened(raw));
    case Token::Kind::kBytes:
      return fmt::format("bytes literal {}", Shortened(raw));
    case Token::Kind::kSymbol:
      return token.word == "@{" ? "\"@\"" : fmt::format("\"{}\"", raw);
    case Token::Kind::kAttached:
    case Token::Kind::kOther:
    case Token::Kind::kError:
      break;
  }
  return fmt::format("\"{}\"", raw);
}

}  // namespace sonde::sql
