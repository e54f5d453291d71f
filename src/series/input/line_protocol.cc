#include "series/input/line_protocol.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

#include "base/bytes.h"
#include "series/key/field_codec.h"

namespace sonde::series {
namespace {

constexpr size_t kTextShownMax = 60;
constexpr std::string_view kLinesByteOrderMark = "\xEF\xBB\xBF";

size_t SizeOf(const char* begin, const char* end) { return static_cast<size_t>(end - begin); }

std::string TooLong(size_t bytes) {
  return fmt::format("a line of {} bytes; allowed: up to {}", bytes, kLineBytesMax);
}

// The first of `ends` in `text` that has no backslash before it; the text's size when there is none.
template <char... ends>
size_t FindEnd(std::string_view text) {
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\\') {
      ++at;
    } else if (((text[at] == ends) || ...)) {
      return at;
    }
  }
  return text.size();
}

// A plus in front of a number says nothing; from_chars takes none.
std::string_view WithoutPlus(std::string_view text) {
  const bool has_plus = text.size() > 1 && text[0] == '+' && text[1] != '-';
  return has_plus ? text.substr(1) : text;
}

template <typename Number>
bool IsWhole(std::string_view text) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

bool IsTrue(std::string_view text) {
  return text == "t" || text == "T" || text == "true" || text == "True" || text == "TRUE";
}
bool IsFalse(std::string_view text) {
  return text == "f" || text == "F" || text == "false" || text == "False" || text == "FALSE";
}

}  // namespace

bool LineProtocolParser::Fail(std::string problem) {
  problem_ = std::move(problem);
  return false;
}

std::string_view LineProtocolParser::Unescape(std::string_view text, std::string_view escaped) {
  if (std::memchr(text.data(), '\\', text.size()) == nullptr) return text;
  std::string& plain = unescaped_.emplace_back();
  for (size_t at = 0; at < text.size(); ++at) {
    const bool is_escape =
        text[at] == '\\' && at + 1 < text.size() && escaped.find(text[at + 1]) != std::string_view::npos;
    plain += text[is_escape ? ++at : at];
  }
  return plain;
}

LineProtocolParser::LineProtocolParser(std::string_view text) : rest_(text) {
  if (rest_.starts_with(kLinesByteOrderMark)) rest_.remove_prefix(kLinesByteOrderMark.size());
}

void LineProtocolParser::TakeLine(size_t end) {
  text_ = std::string_view(rest_.data(), end);
  rest_.remove_prefix(std::min(end + 1, rest_.size()));
  while (!text_.empty() && (text_.back() == '\r' || text_.back() == ' ')) text_.remove_suffix(1);
}

LineProtocolParser::Step LineProtocolParser::Next(LinePoint* point) {
  while (!rest_.empty()) {
    TakeLine(std::min(rest_.find('\n'), rest_.size()));
    line_ = next_line_++;
    while (!text_.empty() && (text_.front() == ' ' || text_.front() == '\t')) text_.remove_prefix(1);
    if (text_.empty() || text_.front() == '#') continue;
    unescaped_.clear();
    return ParseLine(point) ? Step::kPoint : Step::kBadLine;
  }
  return Step::kEnd;
}

std::optional<size_t> LineProtocolParser::EndOfText(std::string_view* text) {
  const size_t end = FindEnd<'"'>(*text);
  if (end < text->size()) return end;
  // The text holds line ends: the line goes on behind them, up to the next one behind the text.
  const char* const all_end = rest_.data() + rest_.size();
  const size_t line_bytes_left = kLineBytesMax - std::min(kLineBytesMax, SizeOf(text_.data(), text->data()));
  const std::string_view further(text->data(), std::min(SizeOf(text->data(), all_end), line_bytes_left));
  const size_t further_end = FindEnd<'"'>(further);
  if (further_end >= further.size()) return std::nullopt;
  const char* const start = text_.data();
  const char* const behind = further.data() + further_end + 1;
  next_line_ += std::count(further.data(), behind, '\n');
  rest_ = std::string_view(start, SizeOf(start, all_end));
  TakeLine(std::min(rest_.find('\n', SizeOf(start, behind)), rest_.size()));
  *text = std::string_view(text->data(), SizeOf(text->data(), start + text_.size()));
  return further_end;
}

bool LineProtocolParser::ParseTags(std::string_view text, LinePoint* point) {
  while (!text.empty()) {
    const size_t equals = FindEnd<'=', ','>(text);
    const std::string_view name = text.substr(0, equals);
    if (equals == text.size() || text[equals] != '=')
      return Fail(fmt::format("tag '{}' has no value", Printable(name, kTextShownMax)));
    text.remove_prefix(equals + 1);
    const size_t end = FindEnd<',', '='>(text);
    if (end < text.size() && text[end] == '=') {
      return Fail(fmt::format("the value of tag '{}' holds an equals sign without a backslash",
                              Printable(name, kTextShownMax)));
    }
    const std::string_view value = text.substr(0, end);
    if (name.empty()) return Fail("a tag has no name");
    if (value.empty()) return Fail(fmt::format("tag '{}' has no value", Printable(name, kTextShownMax)));
    point->tags.emplace_back(Unescape(name, ",= "), Unescape(value, ",= "));
    if (end == text.size()) break;
    text.remove_prefix(end + 1);
    if (text.empty()) return Fail("a comma behind the last tag");
  }
  return true;
}

bool LineProtocolParser::ParseText(std::string_view* text, LineField* field) {
  std::string_view quoted = text->substr(1);
  const std::optional<size_t> end = EndOfText(&quoted);
  if (!end)
    return Fail(fmt::format("the text of field '{}' never ends", Printable(field->name, kTextShownMax)));
  if (text_.size() > kLineBytesMax) return Fail(TooLong(text_.size()));
  field->type = LineValueType::kText;
  field->value = Unescape(quoted.substr(0, *end), "\"\\");
  *text = quoted.substr(*end + 1);
  return true;
}

bool LineProtocolParser::ParseValue(std::string_view* text, LineField* field) {
  if (!text->empty() && text->front() == '"') return ParseText(text, field);
  const size_t end = std::min(text->find_first_of(", "), text->size());
  const std::string_view value = text->substr(0, end);
  text->remove_prefix(end);
  const auto refuse = [&](std::string_view why) {
    return Fail(fmt::format("field '{}': '{}' {}", Printable(field->name, kTextShownMax),
                            Printable(value, kTextShownMax), why));
  };
  if (value.empty()) return refuse("is no value");
  const std::string_view digits = value.substr(0, value.size() - 1);
  if (value.back() == 'i') {
    field->type = LineValueType::kInt;
    field->value = WithoutPlus(digits);
    return IsWhole<int64_t>(field->value) || refuse("is no integer of 64 bits");
  }
  if (value.back() == 'u') {
    field->type = LineValueType::kUnsigned;
    field->value = digits;
    return IsWhole<uint64_t>(digits) || refuse("is no unsigned integer of 64 bits");
  }
  if (IsTrue(value) || IsFalse(value)) {
    field->type = LineValueType::kBool;
    field->value = IsTrue(value) ? "true" : "false";
    return true;
  }
  field->type = LineValueType::kFloat;
  field->value = WithoutPlus(value);
  return ParseFinite(&field->value) || refuse("is no finite number, integer (3i), boolean or quoted text");
}

bool LineProtocolParser::ParseFields(std::string_view* text, LinePoint* point) {
  while (true) {
    const size_t equals = FindEnd<'=', ',', ' '>(*text);
    LineField field;
    const std::string_view name = text->substr(0, equals);
    if (equals == text->size() || (*text)[equals] != '=') {
      return Fail(fmt::format("field '{}' has no value", Printable(name, kTextShownMax)));
    }
    if (name.empty()) return Fail("a field has no name");
    field.name = Unescape(name, ",= ");
    text->remove_prefix(equals + 1);
    if (!ParseValue(text, &field)) return false;
    point->fields.push_back(field);
    if (point->fields.size() + point->tags.size() > kLineNamesMax) {
      return Fail(fmt::format("more than {} tags and fields", kLineNamesMax));
    }
    if (text->empty() || text->front() == ' ') return true;
    if (text->front() != ',')
      return Fail(fmt::format("text behind the value of field '{}'", Printable(field.name, kTextShownMax)));
    text->remove_prefix(1);
  }
}

bool LineProtocolParser::ParseLine(LinePoint* point) {
  point->tags.clear();
  point->fields.clear();
  point->timestamp.reset();
  if (text_.size() > kLineBytesMax) return Fail(TooLong(text_.size()));
  std::string_view text = text_;
  const size_t name_end = FindEnd<',', ' '>(text);
  point->measurement = Unescape(text.substr(0, name_end), ", ");
  if (point->measurement.empty()) return Fail("the measurement is missing");
  text.remove_prefix(name_end);
  point->tags_text = {};
  if (!text.empty() && text.front() == ',') {
    text.remove_prefix(1);
    const size_t end = FindEnd<' '>(text);
    point->tags_text = text.substr(0, end);
    if (point->tags_text.empty()) return Fail("a comma behind the measurement and no tag");
    if (!ParseTags(point->tags_text, point)) return false;
    text.remove_prefix(end);
  }
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  if (text.empty()) return Fail("the fields are missing");
  if (!ParseFields(&text, point)) return false;
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  if (text.empty()) return true;
  int64_t timestamp = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), timestamp);
  if (error != std::errc() || end != text.data() + text.size()) {
    return Fail(fmt::format("'{}' is no time", Printable(text, kTextShownMax)));
  }
  point->timestamp = timestamp;
  return true;
}

}  // namespace sonde::series
