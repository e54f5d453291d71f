#include "sql/syntax/lexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"

namespace sonde::sql {
namespace {

bool BeginsName(char c) { return absl::ascii_isalpha(c) || c == '_'; }
bool ContinuesName(char c) { return absl::ascii_isalnum(c) || c == '_'; }

std::string_view WithoutLeadingSpace(std::string_view text) {
  while (!text.empty() && absl::ascii_isspace(text.front())) text.remove_prefix(1);
  return text;
}

std::string_view WithoutTrailingSpace(std::string_view text) {
  while (!text.empty() && absl::ascii_isspace(text.back())) text.remove_suffix(1);
  return text;
}

// A byte as C has it in a literal.
std::string EscapedByte(char c) {
  return absl::ascii_isprint(c) ? std::string(1, c) : fmt::format("\\{:03o}", static_cast<uint8_t>(c));
}

// How many bytes the space takes that `text` begins with; 0: it begins with none.
size_t SpaceBytes(std::string_view text) {
  if (absl::ascii_isspace(text.front())) return 1;
  // U+00A0, U+1680, U+2000 to U+200A, U+2028, U+2029, U+202F, U+205F, U+3000.
  if (text.starts_with("\xC2\xA0")) return 2;
  if (text.size() < 3) return 0;
  const std::string_view character = text.substr(0, 3);
  if (character >= "\xE2\x80\x80" && character <= "\xE2\x80\x8A") return 3;
  for (const std::string_view space :
       {"\xE1\x9A\x80", "\xE2\x80\xA8", "\xE2\x80\xA9", "\xE2\x80\xAF", "\xE2\x81\x9F", "\xE3\x80\x80"}) {
    if (character == space) return 3;
  }
  return 0;
}

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  Tokens Run() {
    while (tokens_.error.empty()) {
      SkipBlanks();
      if (!tokens_.error.empty() || at_ == text_.size()) break;
      ReadToken();
    }
    if (tokens_.error.empty()) Add(Token::Kind::kEnd, EndOffset(), 0);
    return std::move(tokens_);
  }

 private:
  using Kind = Token::Kind;

  char Peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  std::string_view Rest() const { return text_.substr(at_); }

  void Add(Kind kind, size_t offset, size_t bytes, Word word = {}) {
    Token token;
    token.kind = kind;
    token.word = word;
    token.offset = static_cast<uint32_t>(offset);
    token.bytes = static_cast<uint32_t>(bytes);
    tokens_.tokens.push_back(token);
  }

  void Fail(size_t offset, std::string message) {
    tokens_.error = fmt::format("Syntax error: {}", message);
    Add(Kind::kError, offset, 0);
  }

  // The end of a statement stands behind its last token, or behind the comments that follow.
  size_t EndOffset() const {
    const size_t end =
        tokens_.tokens.empty() ? 0 : tokens_.tokens.back().offset + tokens_.tokens.back().bytes;
    const std::string_view rest = WithoutLeadingSpace(text_.substr(end));
    if (!rest.starts_with("--") && !rest.starts_with("#") && !rest.starts_with("/*")) return end;
    const std::string_view stripped = WithoutTrailingSpace(rest);
    return stripped.ends_with("*/") ? text_.size() - (rest.size() - stripped.size()) : text_.size();
  }

  void SkipBlanks() {
    while (at_ < text_.size()) {
      const std::string_view rest = Rest();
      if (const size_t bytes = SpaceBytes(rest)) {
        at_ += bytes;
      } else if (rest.starts_with("#") || rest.starts_with("--")) {
        at_ = std::min(text_.find_first_of("\r\n", at_), text_.size());
      } else if (rest.starts_with("/*")) {
        const size_t end = text_.find("*/", at_ + 2);
        if (end == std::string_view::npos) return Fail(at_, "Unclosed comment");
        at_ = end + 2;
      } else {
        return;
      }
    }
  }

  void ReadToken() {
    const char c = Peek();
    if (is_behind_dot_ && ContinuesName(c)) return ReadName();
    is_behind_dot_ = false;
    if (const size_t prefix_bytes = QuotePrefix()) return ReadQuoted(prefix_bytes - 1);
    if (BeginsName(c)) return ReadWord();
    if (absl::ascii_isdigit(c) || (c == '.' && absl::ascii_isdigit(Peek(1)) && !FollowsPath()))
      return ReadNumber();
    if (c == '`') return ReadQuotedName();
    if (const std::optional<Word> symbol = Word::Symbol(Rest())) return ReadSymbol(*symbol);
    if (c == '!' || c == '%' || c == '$' || c == '\\') return ReadOther();
    Fail(at_, fmt::format("Illegal input character \"{}\"", EscapedByte(Rest().front())));
  }

  size_t NameBytes() const {
    size_t bytes = 0;
    while (ContinuesName(Peek(bytes))) ++bytes;
    return bytes;
  }

  void ReadName() {
    is_behind_dot_ = false;
    const size_t bytes = NameBytes();
    Add(Kind::kName, at_, bytes);
    at_ += bytes;
  }

  void ReadWord() {
    const size_t bytes = NameBytes();
    const std::optional<Word> word = Word::Keyword(Rest().substr(0, bytes));
    Add(word ? Kind::kKeyword : Kind::kName, at_, bytes, word.value_or(Word()));
    at_ += bytes;
  }

  void ReadSymbol(Word symbol) {
    const size_t index = tokens_.tokens.size();
    is_behind_dot_ = symbol == ".";
    Add(Kind::kSymbol, at_, symbol.text().size(), symbol);
    at_ += symbol.text().size();
    if (symbol == "(") {
      open_.push_back(index);
    } else if (symbol == ")" && !open_.empty()) {
      tokens_.tokens[open_.back()].partner = static_cast<uint32_t>(index);
      open_.pop_back();
    }
  }

  void ReadOther() {
    const size_t bytes = 1;
    at_ += bytes;
    const size_t name_bytes = text_[at_ - 1] == '$' ? NameBytes() : 0;
    Add(Kind::kOther, at_ - bytes, bytes + name_bytes);
    at_ += name_bytes;
  }

  // Whether a dot here continues a path, rather than begins a number.
  bool FollowsPath() const {
    if (tokens_.tokens.empty()) return false;
    const Token& last = tokens_.tokens.back();
    if (last.kind == Kind::kName || last.kind == Kind::kString || last.kind == Kind::kBytes) return true;
    if (last.kind == Kind::kKeyword) {
      const size_t count = tokens_.tokens.size();
      const bool is_parameter = count > 1 && tokens_.tokens[count - 2].word == "@";
      return !last.word.is_reserved() || is_parameter;
    }
    return last.word == ")" || last.word == "]" || last.word == "?" || last.word == "}";
  }

  void ReadNumber() {
    const size_t begin = at_;
    const auto skip_digits = [&] {
      while (absl::ascii_isdigit(Peek())) ++at_;
    };
    bool is_float = false;
    if (Peek() == '0' && (Peek(1) == 'x' || Peek(1) == 'X') && absl::ascii_isxdigit(Peek(2))) {
      at_ += 2;
      while (absl::ascii_isxdigit(Peek())) ++at_;
    } else {
      skip_digits();
      if (Peek() == '.') {
        is_float = true;
        ++at_;
        skip_digits();
      }
      const size_t sign_bytes = Peek(1) == '+' || Peek(1) == '-' ? 1 : 0;
      if ((Peek() == 'e' || Peek() == 'E') && absl::ascii_isdigit(Peek(1 + sign_bytes))) {
        const size_t exponent = at_;
        at_ += 1 + sign_bytes;
        skip_digits();
        const bool is_name = sign_bytes == 0 && BeginsName(Peek());  // the e10k of 1e10k
        if (is_name) at_ = exponent;
        is_float = is_float || !is_name;
      }
    }
    Add(is_float ? Kind::kFloat : Kind::kInteger, begin, at_ - begin);
    if (BeginsName(Peek()) && text_[at_ - 1] != '.') {
      const size_t bytes = NameBytes();
      Add(Kind::kAttached, at_, bytes);
      at_ += bytes;
    }
  }

  // 1 and the bytes of r, b, rb, br if these and a quote begin here; else 0.
  size_t QuotePrefix() const {
    size_t bytes = 0;
    bool has_raw = false;
    bool has_bytes = false;
    while (bytes < 2) {
      const char c = absl::ascii_tolower(Peek(bytes));
      bool& has = c == 'r' ? has_raw : has_bytes;
      if ((c != 'r' && c != 'b') || has) break;
      has = true;
      ++bytes;
    }
    return Peek(bytes) == '\'' || Peek(bytes) == '"' ? bytes + 1 : 0;
  }

  void ReadQuoted(size_t prefix_bytes) {
    const size_t begin = at_;
    const std::string prefix = UpperCase(text_.substr(begin, prefix_bytes));
    const bool is_bytes = prefix.find('B') != std::string::npos;
    const bool is_raw = prefix.find('R') != std::string::npos;
    const char quote = text_[begin + prefix_bytes];
    const std::string triple(3, quote);
    const bool is_triple = text_.substr(begin + prefix_bytes).starts_with(triple);
    at_ = begin + prefix_bytes + (is_triple ? 3 : 1);
    if (!SkipTo(is_triple ? triple : std::string(1, quote), is_triple)) {
      return Fail(begin, fmt::format("Unclosed {}{}{} literal", is_triple ? "triple-quoted " : "",
                                     is_raw ? "raw " : "", is_bytes ? "bytes" : "string"));
    }
    Add(is_bytes ? Kind::kBytes : Kind::kString, begin, at_ - begin);
  }

  void ReadQuotedName() {
    const size_t begin = at_++;
    if (!SkipTo("`", false)) return Fail(begin, "Unclosed identifier literal");
    if (at_ - begin == 2) return Fail(begin, "Invalid empty identifier");
    Add(Kind::kName, begin, at_ - begin);
  }

  // Goes behind the next `quote`; only with `takes_lines` over the end of a line.
  bool SkipTo(std::string_view quote, bool takes_lines) {
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (!takes_lines && (c == '\n' || c == '\r')) return false;
      if (c == '\\') {
        ++at_;
      } else if (Rest().starts_with(quote)) {
        at_ += quote.size();
        return true;
      }
    }
    return false;
  }

  const std::string_view text_;
  size_t at_ = 0;
  bool is_behind_dot_ = false;
  std::vector<size_t> open_;  // the "(" that wait for their ")"
  Tokens tokens_;
};

}  // namespace

Tokens CutIntoTokens(std::string_view text) { return Lexer(text).Run(); }

}  // namespace sonde::sql
