#include "promql/syntax/lexer.h"

#include <fmt/format.h>

#include "absl/strings/ascii.h"

namespace sonde::promql {
namespace {

// No sign of Unicode: the end of the text.
constexpr char32_t kEndOfText = 0xFFFFFFFF;
constexpr char32_t kNoSign = 0xFFFD;
constexpr std::string_view kDigits = "0123456789";
constexpr std::string_view kHexDigits = "0123456789abcdefABCDEF";

bool IsSpace(char32_t sign) { return sign == ' ' || sign == '\t' || sign == '\n' || sign == '\r'; }
bool IsDigit(char32_t sign) { return sign >= '0' && sign <= '9'; }
bool IsLetter(char32_t sign) {
  return sign == '_' || (sign >= 'a' && sign <= 'z') || (sign >= 'A' && sign <= 'Z');
}
bool IsWordSign(char32_t sign) { return IsLetter(sign) || IsDigit(sign); }

std::string SignText(char32_t sign) { return QuotedSign(sign == kEndOfText ? kNoSign : sign); }
std::string SignName(char32_t sign) { return NamedSign(sign == kEndOfText ? kNoSign : sign); }

// Words of durations: step, range, max_of, min_of.
bool BeginsDurationWord(char32_t sign) {
  return sign < 0x80 && std::string_view("srmSRM").find(static_cast<char>(sign)) != std::string_view::npos;
}

uint32_t DigitOf(char32_t sign) {
  if (IsDigit(sign)) return sign - '0';
  if (sign >= 'a' && sign <= 'f') return sign - 'a' + 10;
  if (sign >= 'A' && sign <= 'F') return sign - 'A' + 10;
  return 16;
}

}  // namespace

Token Lexer::Next() {
  token_ = {};
  while (state_ != State::kDone) {
    const bool is_read = state_ == State::kBraces || is_brace_open_ ? ReadBraces()
                         : state_ == State::kDuration               ? ReadDuration()
                                                                    : ReadStatement();
    if (is_read) return token_;
  }
  token_.range = {text_.size(), text_.size()};
  return token_;
}

char32_t Lexer::Advance() {
  if (position_ >= text_.size()) {
    width_ = 0;
    return kEndOfText;
  }
  const Sign sign = SignAt(text_, position_);
  width_ = sign.bytes;
  position_ += sign.bytes;
  return sign.code;
}

char32_t Lexer::Peek() {
  const char32_t sign = Advance();
  Back();
  return sign;
}

bool Lexer::IsNext(std::string_view signs) {
  const char32_t sign = Peek();
  return sign < 0x80 && signs.find(static_cast<char>(sign)) != std::string_view::npos;
}

bool Lexer::Accept(std::string_view signs) {
  if (!IsNext(signs)) return false;
  Advance();
  return true;
}

void Lexer::SkipSpaces() {
  while (IsSpace(Peek())) Advance();
  start_ = position_;
}

void Lexer::SkipComment() {
  while (position_ < text_.size() && text_[position_] != '\n' && text_[position_] != '\r') ++position_;
  start_ = position_;
}

bool Lexer::Emit(TokenKind kind) {
  token_ = {kind, {start_, position_}, std::string(text_.substr(start_, position_ - start_))};
  start_ = position_;
  return true;
}

bool Lexer::Fail(std::string message) {
  token_ = {TokenKind::kError, {start_, text_.size()}, std::move(message)};
  state_ = State::kDone;
  return true;
}

bool Lexer::ReadStatement() {
  const char32_t sign = Advance();
  if (sign == kEndOfText) {
    if (parens_ != 0) return Fail("unclosed left parenthesis");
    if (is_bracket_open_) return Fail("unclosed left bracket");
    state_ = State::kDone;
    return Emit(TokenKind::kEnd);
  }
  if (sign == '#') {
    SkipComment();
    return false;
  }
  if (IsSpace(sign)) {
    SkipSpaces();
    return false;
  }
  if (IsDigit(sign) || (sign == '.' && IsDigit(Peek()))) {
    position_ = start_;
    ReadNumberOrDuration();
    return true;
  }
  if (sign == '"' || sign == '\'' || sign == '`') {
    ReadString(sign);
    return true;
  }
  if (IsLetter(sign) || sign == ':') {
    if (is_bracket_open_) return ReadBracketed(sign);
    position_ = start_;
    ReadWord();
    return true;
  }
  return ReadSign(sign);
}

// A letter or colon where a bracket is open.
bool Lexer::ReadBracketed(char32_t sign) {
  if (sign == ':') {
    if (has_colon_) return Fail(fmt::format("unexpected colon {}", SignText(sign)));
    has_colon_ = true;
    return Emit(TokenKind::kColon);
  }
  if (BeginsDurationWord(sign) && ReadDurationWord()) return true;
  return Fail(fmt::format("unexpected character: {}, expected {}", SignText(sign), SignText(':')));
}

bool Lexer::ReadSign(char32_t sign) {
  switch (sign) {
    case ',':
      return Emit(TokenKind::kComma);
    case '(':
      ++parens_;
      return Emit(TokenKind::kLeftParen);
    case ')':
      Emit(TokenKind::kRightParen);
      if (--parens_ < 0) return Fail(fmt::format("unexpected right parenthesis {}", SignText(sign)));
      return true;
    case '{':
      is_brace_open_ = true;
      return Emit(TokenKind::kLeftBrace);
    case '[':
      if (is_bracket_open_) return Fail(fmt::format("unexpected left bracket {}", SignText(sign)));
      has_colon_ = false;
      Emit(TokenKind::kLeftBracket);
      if (IsSpace(Peek())) SkipSpaces();
      is_bracket_open_ = true;
      state_ = State::kDuration;
      return true;
    case ']':
      if (!is_bracket_open_) return Fail(fmt::format("unexpected right bracket {}", SignText(sign)));
      is_bracket_open_ = false;
      return Emit(TokenKind::kRightBracket);
    case '@':
      return Emit(TokenKind::kAt);
    default:
      return ReadOperator(sign);
  }
}

bool Lexer::ReadOperator(char32_t sign) {
  switch (sign) {
    case '*':
      return Emit(TokenKind::kMul);
    case '/':
      return Emit(TokenKind::kDiv);
    case '%':
      return Emit(TokenKind::kMod);
    case '+':
      return Emit(TokenKind::kAdd);
    case '-':
      return Emit(TokenKind::kSub);
    case '^':
      return Emit(TokenKind::kPow);
    case '=':
      if (Peek() == '~') return Fail(fmt::format("unexpected character after '=': {}", SignText('~')));
      return Emit(Accept("=") ? TokenKind::kEqualEqual : TokenKind::kEqual);
    case '!': {
      const char32_t next = Advance();
      if (next == '=') return Emit(TokenKind::kNotEqual);
      return Fail(fmt::format("unexpected character after '!': {}", SignText(next)));
    }
    case '<':
      return Emit(Accept("=")   ? TokenKind::kLessEqual
                  : Accept("/") ? TokenKind::kTrimUpper
                                : TokenKind::kLess);
    case '>':
      return Emit(Accept("=")   ? TokenKind::kGreaterEqual
                  : Accept("/") ? TokenKind::kTrimLower
                                : TokenKind::kGreater);
    default:
      return Fail(fmt::format("unexpected character: {}", SignText(sign)));
  }
}

bool Lexer::ReadBraces() {
  const char32_t sign = Advance();
  if (sign == kEndOfText) return Fail("unexpected end of input inside braces");
  if (sign == '#') {
    SkipComment();
    return false;
  }
  if (IsSpace(sign)) {
    SkipSpaces();
    return false;
  }
  if (IsLetter(sign)) {
    while (IsWordSign(Peek())) Advance();
    return Emit(TokenKind::kIdentifier);
  }
  switch (sign) {
    case ',':
      return Emit(TokenKind::kComma);
    case '"':
    case '\'':
    case '`':
      ReadString(sign);
      return true;
    case '=':
      return Emit(Accept("~") ? TokenKind::kMatches : TokenKind::kEqual);
    case '!': {
      const char32_t next = Advance();
      if (next == '~') return Emit(TokenKind::kMatchesNot);
      if (next == '=') return Emit(TokenKind::kNotEqual);
      return Fail(fmt::format("unexpected character after '!' inside braces: {}", SignText(next)));
    }
    case '{':
      return Fail(fmt::format("unexpected left brace {}", SignText(sign)));
    case '}':
      is_brace_open_ = false;
      state_ = State::kStatement;
      return Emit(TokenKind::kRightBrace);
    default:
      return Fail(fmt::format("unexpected character inside braces: {}", SignText(sign)));
  }
}

// Behind `[`, up to the first number or string of signs that is no duration's.
bool Lexer::ReadDuration() {
  const char32_t sign = Advance();
  if (sign == kEndOfText) return Fail("unexpected end of input in duration expression");
  if (IsSpace(sign)) {
    SkipSpaces();
    return false;
  }
  if (BeginsDurationWord(sign)) {
    if (ReadDurationWord()) return true;
    return Fail(fmt::format("unexpected character in duration expression: {}", SignText(sign)));
  }
  if (IsDigit(sign) || (sign == '.' && IsDigit(Peek()))) {
    position_ = start_;
    has_duration_ = true;
    state_ = State::kStatement;
    ReadNumberOrDuration();
    return true;
  }
  switch (sign) {
    case ']':
      is_bracket_open_ = false;
      has_colon_ = false;
      state_ = State::kStatement;
      return Emit(TokenKind::kRightBracket);
    case ':':
      Emit(TokenKind::kColon);
      if (!has_duration_) return Fail("unexpected colon before duration in duration expression");
      if (has_colon_) return Fail("unexpected repeated colon in duration expression");
      has_colon_ = true;
      return true;
    case '(':
      ++parens_;
      return Emit(TokenKind::kLeftParen);
    case ')':
      Emit(TokenKind::kRightParen);
      if (--parens_ < 0) return Fail(fmt::format("unexpected right parenthesis {}", SignText(sign)));
      return true;
    case ',':
      return Emit(TokenKind::kComma);
    case '+':
    case '-':
    case '*':
    case '/':
    case '%':
    case '^':
      return ReadOperator(sign);
    default:
      return Fail(fmt::format("unexpected character in duration expression: {}", SignText(sign)));
  }
}

bool Lexer::ReadDurationWord() {
  while (IsLetter(Peek())) Advance();
  const TokenKind kind = KindOfWord(text_.substr(start_, position_ - start_));
  if (kind < TokenKind::kStep || kind > TokenKind::kMinOf) return false;
  return Emit(kind);
}

void Lexer::ReadWord() {
  while (IsWordSign(Peek()) || Peek() == ':') Advance();
  const std::string_view word = text_.substr(start_, position_ - start_);
  TokenKind kind = KindOfWord(word);
  if (kind >= TokenKind::kFill && kind <= TokenKind::kFillRight && !IsFollowedByParen()) {
    kind = TokenKind::kIdentifier;
  } else if (kind == TokenKind::kIdentifier && word.find(':') != std::string_view::npos) {
    kind = TokenKind::kMetricIdentifier;
  }
  Emit(kind);
}

bool Lexer::IsFollowedByParen() const {
  size_t next = position_;
  while (next < text_.size() && IsSpace(static_cast<unsigned char>(text_[next]))) ++next;
  return next < text_.size() && text_[next] == '(';
}

void Lexer::ReadNumberOrDuration() {
  if (ScanNumber()) {
    Emit(TokenKind::kNumber);
  } else if (ScanDuration()) {
    Emit(TokenKind::kDuration);
  } else {
    Fail(fmt::format("bad number or duration syntax: {}", Quoted(text_.substr(start_, position_ - start_))));
  }
}

// Where it is none, the position stays where that was seen: a duration may go on there.
bool Lexer::ScanNumber() {
  const size_t begin = position_;
  std::string_view digits = kDigits;
  if (Accept("0") && Accept("xX")) {
    Accept("_");
    digits = kHexDigits;
  }
  bool has_dot = false;
  bool has_exponent = false;
  Accept(".");
  Accept(digits);
  while (IsNext(digits) || IsNext("._eE")) {
    if (IsNext(".") && has_dot) {
      Accept(".");
      return false;
    }
    if (IsNext("eE") && has_exponent) {
      Advance();
      return false;
    }
    if (Accept(".")) {
      has_dot = true;
      if (Accept("_.") || digits.size() > kDigits.size()) return false;
    } else if (Accept("eE")) {
      has_exponent = true;
      Accept("+-");
      if (Accept("._eE") || Peek() == kEndOfText) return false;
    } else if (Accept("_")) {
      if (Accept("._eE") || Peek() == kEndOfText) return false;
    } else {
      while (Accept(digits)) continue;
    }
  }
  return position_ != begin && !IsWordSign(Peek());
}

bool Lexer::ScanDuration() {
  if (!Accept("smhdwy")) return false;
  Accept("s");
  while (Accept(kDigits)) {
    while (Accept(kDigits)) continue;
    if (!Accept("smhdw")) return false;
    Accept("s");
  }
  if (!IsWordSign(Peek())) return true;
  Advance();
  return false;
}

void Lexer::ReadString(char32_t quote) {
  while (true) {
    const char32_t sign = Advance();
    if (sign == quote) {
      Emit(TokenKind::kString);
      return;
    }
    if (sign == kNoSign) {
      Fail("invalid UTF-8 rune");
      return;
    }
    if (quote == '`') {
      if (sign != kEndOfText) continue;
      Fail("unterminated raw string");
      return;
    }
    if (sign == kEndOfText || sign == '\n') {
      Fail("unterminated quoted string");
      return;
    }
    if (sign == '\\' && !ReadEscape(quote)) return;
  }
}

// False: it failed.
bool Lexer::ReadEscape(char32_t quote) {
  char32_t sign = Advance();
  int count = 0;
  uint32_t base = 16;
  uint32_t most = 0x10FFFF;
  if (sign == quote || (sign < 0x80 && std::string_view("abfnrtv\\").find(static_cast<char>(sign)) !=
                                           std::string_view::npos)) {
    return true;
  }
  if (sign >= '0' && sign <= '7') {
    count = 3;
    base = 8;
    most = 255;
  } else if (sign == 'x' || sign == 'u' || sign == 'U') {
    count = sign == 'x' ? 2 : sign == 'u' ? 4 : 8;
    if (sign == 'x') most = 255;
    sign = Advance();
  } else if (sign == kEndOfText) {
    return !Fail("escape sequence not terminated");
  } else {
    return !Fail(fmt::format("unknown escape sequence {}", SignName(sign)));
  }
  uint32_t code = 0;
  for (; count > 0; --count) {
    const uint32_t digit = DigitOf(sign);
    if (digit >= base) {
      if (sign == kEndOfText) return !Fail("escape sequence not terminated");
      return !Fail(fmt::format("illegal character {} in escape sequence", SignName(sign)));
    }
    code = code * base + digit;
    if (count > 1) sign = Advance();
  }
  if (code > most || (code >= 0xD800 && code < 0xE000)) {
    return !Fail("escape sequence is an invalid Unicode code point");
  }
  return true;
}

}  // namespace sonde::promql
