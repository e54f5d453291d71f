#include "web/http/query_reader.h"

#include <charconv>
#include <optional>

#include "absl/strings/ascii.h"
#include "base/bytes.h"
#include "base/format.h"
#include "model/limits.h"

namespace sonde {
namespace {}  // namespace

std::string KeyToText(std::string_view key) {
  std::string text;
  for (const char c : key) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\\') {
      text += "\\\\";
    } else if (byte >= 0x20 && byte < 0x7F) {
      text.push_back(c);
    } else {
      fmt::format_to(std::back_inserter(text), "\\x{:02x}", byte);
    }
  }
  return text;
}

absl::StatusOr<std::string> KeyFromText(std::string_view text) {
  std::string key;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      key.push_back(text[i]);
    } else if (text.substr(i).starts_with("\\\\")) {
      key.push_back('\\');
      ++i;
    } else if (i + 3 < text.size() && text[i + 1] == 'x' && absl::ascii_isxdigit(text[i + 2]) &&
               absl::ascii_isxdigit(text[i + 3])) {
      uint8_t byte = 0;
      std::from_chars(text.data() + i + 2, text.data() + i + 4, byte, 16);
      key.push_back(static_cast<char>(byte));
      i += 3;
    } else {
      return absl::InvalidArgumentError(fmt::format(
          R"(a key holds '\' at byte {}, which must be followed by another one, or by x and two hex digits)",
          i));
    }
  }
  return key;
}

int64_t QueryReader::Int(const std::string& name, int64_t usual, int64_t least, int64_t most) {
  known_.insert(name);
  const std::optional<std::string> text = request_.Query(name);
  if (!text.has_value()) return usual;
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error != std::errc() || end != text->data() + text->size() || value < least || value > most) {
    Fail(absl::InvalidArgumentError(fmt::format("parameter '{}' must be a number from {} to {}, but is '{}'",
                                                name, least, most, Printable(*text))));
    return usual;
  }
  return value;
}

std::string QueryReader::Text(const std::string& name, size_t bytes_max) {
  known_.insert(name);
  std::string text = request_.Query(name).value_or("");
  if (text.size() > bytes_max) {
    Fail(absl::InvalidArgumentError(
        fmt::format("parameter '{}' has {} bytes; at most {} are allowed", name, text.size(), bytes_max)));
    text.clear();
  }
  return text;
}

std::string QueryReader::Key(const std::string& name) {
  absl::StatusOr<std::string> key = KeyFromText(Text(name, 4 * kRowKeyBytesMax));
  if (key.ok() && key->size() > kRowKeyBytesMax) {
    key = absl::InvalidArgumentError(
        fmt::format("a key of {} bytes; row keys have at most {}", key->size(), kRowKeyBytesMax));
  }
  if (!key.ok()) {
    Fail(absl::InvalidArgumentError(
        fmt::format("parameter '{}': {}", name, std::string(key.status().message()))));
    return "";
  }
  return *std::move(key);
}

absl::Status QueryReader::Finish() {
  if (!status_.ok()) return status_;
  for (const auto& [name, value] : request_.query) {
    if (known_.contains(name)) continue;
    return absl::InvalidArgumentError(
        fmt::format("unknown parameter '{}'; allowed: {}", Printable(name),
                    known_.empty() ? "none" : fmt::format("{}", fmt::join(known_, ", "))));
  }
  return absl::OkStatus();
}

}  // namespace sonde
