#include "base/text_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/bytes.h"

namespace sonde {
namespace {

// The size of the code point of UTF-8 that `text` begins with.  It is 0 if `text` begins with none, or with a
// control character.
size_t CodePointBytes(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  if (first < 0x80) return first < ' ' || first == 0x7F ? 0 : 1;
  if (first < 0xC2 || first > 0xF4) return 0;
  const size_t bytes = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  if (text.size() < bytes) return 0;
  for (const char c : text.substr(1, bytes - 1)) {
    if ((c & 0xC0) != 0x80) return 0;
  }
  const auto second = static_cast<unsigned char>(text[1]);
  // U+0080 to U+009F are control characters; overlong forms and surrogates are no UTF-8.
  const bool is_refused = (first == 0xC2 && second < 0xA0) || (first == 0xE0 && second < 0xA0) ||
                          (first == 0xED && second >= 0xA0) || (first == 0xF0 && second < 0x90) ||
                          (first == 0xF4 && second >= 0x90);
  return is_refused ? 0 : bytes;
}

}  // namespace

std::string DisplayText(std::string_view text, size_t bytes_max) {
  for (size_t at = 0; at < text.size();) {
    const size_t bytes = CodePointBytes(text.substr(at));
    if (bytes == 0) return Printable(text, bytes_max);
    if (at + bytes > bytes_max) return fmt::format("{}…", text.substr(0, at));
    at += bytes;
  }
  return std::string(text);
}

size_t DisplayWidth(std::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string CsvText(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted(1, '"');
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

TextTable::TextTable(const std::vector<Column>& columns, std::ostream* out) : out_(out) {
  Line names;
  for (const Column& column : columns) {
    names.push_back(column.name);
    is_right_.push_back(column.is_right);
  }
  lines_.push_back(std::move(names));
}

void TextTable::Row(std::vector<std::string> line) {
  lines_.push_back(std::move(line));
  if (lines_.size() > kTableLinesMeasured || !widths_.empty()) Print();
}

void TextTable::Print() {
  const bool is_first = widths_.empty();
  widths_.resize(lines_.empty() ? widths_.size() : lines_[0].size());
  if (is_first) {
    for (const Line& line : lines_) {
      for (size_t i = 0; i < line.size(); ++i) widths_[i] = std::max(widths_[i], DisplayWidth(line[i]));
    }
  }
  for (size_t l = 0; l < lines_.size(); ++l) {
    PrintLine(lines_[l]);
    if (is_first && l == 0) PrintRule();
  }
  lines_.clear();
}

void TextTable::PrintLine(const Line& line) {
  std::string text;
  for (size_t i = 0; i < line.size(); ++i) {
    if (i != 0) text += "  ";
    const size_t shown = DisplayWidth(line[i]);
    const size_t blanks = shown < widths_[i] ? widths_[i] - shown : 0;
    if (is_right_[i]) text.append(blanks, ' ');
    text += line[i];
    if (!is_right_[i]) text.append(blanks, ' ');
  }
  text.erase(text.find_last_not_of(' ') + 1);
  *out_ << text << "\n";
}

void TextTable::PrintRule() {
  std::string text;
  for (size_t i = 0; i < widths_.size(); ++i) {
    if (i != 0) text += "  ";
    for (size_t c = 0; c < widths_[i]; ++c) text += "─";
  }
  *out_ << text << "\n";
}

}  // namespace sonde
