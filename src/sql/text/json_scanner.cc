#include "sql/text/json_scanner.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "sql/function/utf8.h"

namespace sonde::sql {
namespace {

constexpr uint64_t kEachByte = 0x0101010101010101;

bool IsJsonSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool IsJsonDigit(char c) { return c >= '0' && c <= '9'; }
bool IsOctalDigit(char c) { return c >= '0' && c <= '7'; }

int ValueOfHex(char c) {
  if (IsJsonDigit(c)) return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

// The high bit of the bytes that are zero; bytes behind the first of these may have it, too.
uint64_t ZeroBytes(uint64_t word) { return (word - kEachByte) & ~word & (kEachByte << 7); }

// The first quote or backslash; `end`: there is none.
inline const char* FindQuoteOrBackslash(const char* at, const char* end, char quote) {
  if constexpr (std::endian::native == std::endian::little) {
    const uint64_t quotes = kEachByte * static_cast<unsigned char>(quote);
    const uint64_t backslashes = kEachByte * static_cast<unsigned char>('\\');
    for (; end - at >= 8; at += 8) {
      uint64_t word;
      std::memcpy(&word, at, sizeof(word));
      const uint64_t found = ZeroBytes(word ^ quotes) | ZeroBytes(word ^ backslashes);
      if (found != 0) return at + std::countr_zero(found) / 8;
    }
  }
  while (at != end && *at != quote && *at != '\\') ++at;
  return at;
}

// The bytes of an escape at a backslash, which the scanner found to be whole; appends what it stands for.
size_t AppendEscape(std::string_view escape, std::string* text) {
  const char kind = escape[1];
  if (kind == 'u' || kind == 'x') {
    const size_t bytes = kind == 'u' ? 6 : 4;
    CodePoint character = 0;
    for (size_t i = 2; i < bytes; ++i)
      character = character * 16 + static_cast<CodePoint>(ValueOfHex(escape[i]));
    // Halves of pairs are not put together, as GoogleSQL has it.
    const bool is_half = character >= 0xd800 && character < 0xe000;
    AppendCharacter(is_half ? 0xfffd : character, text);
    return bytes;
  }
  if (IsOctalDigit(kind)) {
    CodePoint character = 0;
    size_t bytes = 1;
    for (; bytes < std::min<size_t>(escape.size(), 4) && IsOctalDigit(escape[bytes]); ++bytes) {
      character = character * 8 + static_cast<CodePoint>(escape[bytes] - '0');
    }
    AppendCharacter(character, text);
    return bytes;
  }
  constexpr std::string_view kKinds = "bfnrtv";
  constexpr std::string_view kMeanings = "\b\f\n\r\t\v";
  if (const size_t place = kKinds.find(kind); place != std::string_view::npos) {
    *text += kMeanings[place];
    return 2;
  }
  // One byte, as SkipEscape has it: what follows in its character is plain text.
  text->push_back(kind);
  return 2;
}

}  // namespace

inline char JsonScanner::Skip() {
  while (true) {
    if (at_ == end_) return '\0';
    const char next = *at_;
    if (static_cast<unsigned char>(next) > ' ' || !IsJsonSpace(next)) return next;
    ++at_;
  }
}

inline bool JsonScanner::Enter() {
  ++at_;
  if (depth_ == kDepthMax) {
    is_too_deep_ = true;
    return false;
  }
  ++depth_;
  return true;
}

inline JsonScanner::Next JsonScanner::AfterItem(char closing) {
  char next = Skip();
  if (next == ',') {
    ++at_;
    next = Skip();
    if (next != closing) return Next::kMore;
  } else if (next != closing) {
    return Next::kFault;
  }
  ++at_;
  --depth_;
  return Next::kClosed;
}

bool JsonScanner::SkipEscape() {
  if (end_ - at_ < 2) return false;
  const char kind = at_[1];
  if (kind != 'u' && kind != 'x') {
    at_ += 2;
    return true;
  }
  const ptrdiff_t bytes = kind == 'u' ? 6 : 4;
  if (end_ - at_ < bytes) return false;
  for (ptrdiff_t i = 2; i < bytes; ++i) {
    if (ValueOfHex(at_[i]) < 0) return false;
  }
  at_ += bytes;
  return true;
}

bool JsonScanner::TakeString(String* string) { return ScanString(string); }

inline bool JsonScanner::ScanString(String* string) {
  const char quote = *at_++;
  const char* const begin = at_;
  string->has_escapes = false;
  while (true) {
    at_ = FindQuoteOrBackslash(at_, end_, quote);
    if (at_ == end_) return false;
    if (*at_ == quote) break;
    string->has_escapes = true;
    if (!SkipEscape()) return false;
  }
  string->inside = std::string_view(begin, static_cast<size_t>(at_ - begin));
  ++at_;
  return true;
}

inline bool JsonScanner::TakeKey(String* key) {
  const char quote = Skip();
  if ((quote != '"' && quote != '\'') || !ScanString(key)) return false;
  if (Skip() != ':') return false;
  ++at_;
  return true;
}

bool JsonScanner::TakeWord(std::string_view word) {
  if (!std::string_view(at_, static_cast<size_t>(end_ - at_)).starts_with(word)) return false;
  at_ += word.size();
  return true;
}

inline bool JsonScanner::TakeNumber() {
  const auto take_digits = [this] {
    const char* const begin = at_;
    while (at_ != end_ && IsJsonDigit(*at_)) ++at_;
    return at_ != begin;
  };
  if (*at_ == '-') ++at_;
  if (at_ != end_ && *at_ == '0') {
    ++at_;
  } else if (!take_digits()) {
    return false;
  }
  if (at_ != end_ && *at_ == '.') {
    ++at_;
    if (!take_digits()) return false;
  }
  if (at_ != end_ && (*at_ == 'e' || *at_ == 'E')) {
    ++at_;
    if (at_ != end_ && (*at_ == '+' || *at_ == '-')) ++at_;
    if (!take_digits()) return false;
  }
  return true;
}

JsonScanner::Kind JsonScanner::Peek() {
  const char first = Skip();
  switch (first) {
    case '{':
      return Kind::kObject;
    case '[':
      return Kind::kArray;
    case '"':
    case '\'':
      return Kind::kString;
    case 't':
    case 'f':
      return Kind::kBool;
    case 'n':
    case ',':
    case ']':
      return Kind::kNull;
    default:
      return first == '-' || IsJsonDigit(first) ? Kind::kNumber : Kind::kFault;
  }
}

bool JsonScanner::TakePlain(std::string_view* text) {
  const char* const begin = at_;
  *text = "null";
  bool is_whole = true;
  switch (*at_) {
    case ',':
    case ']':
      return true;
    case 't':
      is_whole = TakeWord("true");
      break;
    case 'f':
      is_whole = TakeWord("false");
      break;
    case 'n':
      is_whole = TakeWord("null");
      break;
    default:
      is_whole = TakeNumber();
  }
  *text = std::string_view(begin, static_cast<size_t>(at_ - begin));
  return is_whole;
}

// `first`: the byte that it begins with.
inline bool JsonScanner::SkipPlain(char first) {
  if (first == '"' || first == '\'') {
    String string;
    return ScanString(&string);
  }
  if (first == '-' || IsJsonDigit(first)) return TakeNumber();
  if (Peek() == Kind::kFault) return false;
  std::string_view text;
  return TakePlain(&text);
}

bool JsonScanner::SkipValue() {
  const char begin = Skip();
  return begin == '{' || begin == '[' ? SkipContainer() : SkipPlain(begin);
}

bool JsonScanner::SkipContainer() {
  const int outer = depth_;
  String key;
  while (true) {
    // A value begins here.
    const char first = Skip();
    if (first == '{' || first == '[') {
      if (!Enter()) return false;
      is_object_[depth_] = first == '{';
      const char closing = first == '{' ? '}' : ']';
      if (Skip() != closing) {
        if (first == '{' && !TakeKey(&key)) return false;
        continue;
      }
      ++at_;
      --depth_;
    } else if (!SkipPlain(first)) {
      return false;
    }
    // A value ended here, and perhaps others that it is in.
    Next next = Next::kClosed;
    while (depth_ > outer && next == Next::kClosed) next = AfterItem(is_object_[depth_] ? '}' : ']');
    if (next == Next::kFault) return false;
    if (next == Next::kClosed) return true;
    if (is_object_[depth_] && !TakeKey(&key)) return false;
  }
}

bool JsonScanner::EnterArray(bool* has_element) {
  if (!Enter()) return false;
  *has_element = Skip() != ']';
  if (*has_element) return true;
  ++at_;
  --depth_;
  return true;
}

bool JsonScanner::NextElement(bool* has_element) {
  const Next next = AfterItem(']');
  *has_element = next == Next::kMore;
  return next != Next::kFault;
}

bool JsonScanner::WriteItems(char closing, std::string* out) {
  if (!Enter()) return false;
  if (Skip() == closing) {
    ++at_;
    --depth_;
    return true;
  }
  while (true) {
    if (closing == '}') {
      String key;
      if (!TakeKey(&key)) return false;
      std::string name;
      if (key.has_escapes) AppendUnescaped(key.inside, &name);
      AppendJsonString(key.has_escapes ? std::string_view(name) : key.inside, out);
      *out += ':';
    }
    if (!WriteValue(out)) return false;
    const Next next = AfterItem(closing);
    if (next != Next::kMore) return next == Next::kClosed;
    *out += ',';
  }
}

bool JsonScanner::WriteValue(std::string* out) {
  switch (Peek()) {
    case Kind::kFault:
      return false;
    case Kind::kObject:
      *out += '{';
      if (!WriteItems('}', out)) return false;
      *out += '}';
      return true;
    case Kind::kArray:
      *out += '[';
      if (!WriteItems(']', out)) return false;
      *out += ']';
      return true;
    case Kind::kString: {
      String string;
      if (!TakeString(&string)) return false;
      std::string unescaped;
      if (string.has_escapes) AppendUnescaped(string.inside, &unescaped);
      AppendJsonString(string.has_escapes ? std::string_view(unescaped) : string.inside, out);
      return true;
    }
    default: {
      std::string_view text;
      if (!TakePlain(&text)) return false;
      out->append(text);
      return true;
    }
  }
}

JsonScanner::Found JsonScanner::FindStep(const JsonPath& path, size_t step) {
  const Kind kind = Peek();
  if (kind == Kind::kFault) return Found::kFault;
  if (step == path.steps.size()) return Found::kValue;
  if (kind == Kind::kObject) return FindInObject(path, step);
  if (kind == Kind::kArray && path.steps[step].index.has_value()) return FindInArray(path, step);
  return SkipValue() ? Found::kNothing : Found::kFault;
}

// Where a path does not go on in a member, the next one of the same name is tried.
JsonScanner::Found JsonScanner::FindInObject(const JsonPath& path, size_t step) {
  if (!Enter()) return Found::kFault;
  if (Skip() == '}') {
    ++at_;
    --depth_;
    return Found::kNothing;
  }
  const std::string_view name = path.steps[step].name;
  while (true) {
    String key;
    if (!TakeKey(&key)) return Found::kFault;
    bool is_sought = key.inside == name;
    if (key.has_escapes) {
      std::string unescaped;
      AppendUnescaped(key.inside, &unescaped);
      is_sought = unescaped == name;
    }
    if (is_sought) {
      if (const Found found = FindStep(path, step + 1); found != Found::kNothing) return found;
    } else if (!SkipValue()) {
      return Found::kFault;
    }
    const Next next = AfterItem('}');
    if (next != Next::kMore) return next == Next::kClosed ? Found::kNothing : Found::kFault;
  }
}

JsonScanner::Found JsonScanner::FindInArray(const JsonPath& path, size_t step) {
  bool has_element = false;
  if (!EnterArray(&has_element)) return Found::kFault;
  for (size_t index = 0; has_element; ++index) {
    if (index == *path.steps[step].index) {
      if (const Found found = FindStep(path, step + 1); found != Found::kNothing) return found;
    } else if (!SkipValue()) {
      return Found::kFault;
    }
    if (!NextElement(&has_element)) return Found::kFault;
  }
  return Found::kNothing;
}

void JsonScanner::AppendUnescaped(std::string_view inside, std::string* text) {
  while (true) {
    const size_t escape = inside.find('\\');
    text->append(inside.substr(0, escape));
    if (escape == std::string_view::npos) return;
    inside.remove_prefix(escape);
    inside.remove_prefix(AppendEscape(inside, text));
  }
}

bool NeedsJsonEscapes(std::string_view text) {
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\'; }) ||
         text.find("\u2028") != std::string_view::npos || text.find("\u2029") != std::string_view::npos;
}

void AppendJsonString(std::string_view text, std::string* out) {
  *out += '"';
  size_t plain = 0;  // from here on nothing is written yet
  const auto replace = [&](size_t place, size_t bytes, std::string_view with) {
    out->append(text.substr(plain, place - plain)).append(with);
    plain = place + bytes;
  };
  constexpr std::string_view kShort = "\b\f\n\r\t\"\\";
  constexpr std::string_view kShortEscapes[] = {"\\b", "\\f", "\\n", "\\r", "\\t", "\\\"", "\\\\"};
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte >= 0x20 && byte != '"' && byte != '\\' && byte != 0xe2) continue;
    if (byte == 0xe2) {
      // Separators of lines and paragraphs, which programs of JavaScript could not have in a string.
      const std::string_view character = text.substr(i, 3);
      if (character == "\u2028") replace(i, 3, "\\u2028");
      if (character == "\u2029") replace(i, 3, "\\u2029");
    } else if (const size_t place = kShort.find(text[i]); place != std::string_view::npos) {
      replace(i, 1, kShortEscapes[place]);
    } else {
      replace(i, 1, fmt::format("\\u{:04x}", byte));
    }
  }
  out->append(text.substr(plain)) += '"';
}

}  // namespace sonde::sql
