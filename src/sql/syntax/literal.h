// Literals and quoted names: from the text to the value, and back.
//
// A literal is as it stands in the text: prefix (r, b, rb, br), quotes (', ", ''', """; ` of names), escapes.
// Source: GoogleSQL's lexical structure, with its messages.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace sonde::sql {

struct LiteralError {
  std::string message;
  size_t offset = 0;  // in the literal
};

// The value of a literal that is closed.  An error: an escape that does not exist, or bytes that are not UTF-8
// in a string or name.
std::optional<LiteralError> ReadLiteral(std::string_view literal, std::string* value);

// Literals that ReadLiteral reads back; in quotes ' and b'.
std::string QuotedString(std::string_view value);
std::string QuotedBytes(std::string_view value);
// `name` in backticks.
std::string QuotedName(std::string_view name);

// How many bytes of UTF-8 `text` begins with.
size_t Utf8PrefixBytes(std::string_view text);

}  // namespace sonde::sql
