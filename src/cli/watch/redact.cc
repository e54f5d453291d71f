#include "cli/watch/redact.h"

#include <algorithm>
#include <array>
#include <optional>

#include "absl/strings/ascii.h"

namespace sonde {
namespace {

constexpr std::string_view kSecret = "[secret]";
// Shorter words are no tokens.
constexpr size_t kTokenBytesMin = 16;

bool IsTokenByte(char c) { return absl::ascii_isalnum(c) || c == '-' || c == '_' || c == '.'; }

// Basic has base64, which has more bytes than base64url.
bool IsProofByte(char c) { return IsTokenByte(c) || c == '+' || c == '/' || c == '='; }

size_t WordLength(std::string_view text, bool (*is_byte)(char)) {
  size_t length = 0;
  while (length < text.size() && is_byte(text[length])) ++length;
  return length;
}

// The length of a PEM block of a private key at the beginning of `text`; without its end, all of the rest.
std::optional<size_t> PrivateKeyLength(std::string_view text) {
  constexpr std::string_view kBegin = "-----BEGIN ";
  if (!text.starts_with(kBegin)) return std::nullopt;
  const size_t title_end = text.find("-----", kBegin.size());
  if (title_end == std::string_view::npos) return std::nullopt;
  if (text.substr(0, title_end).find("PRIVATE KEY") == std::string_view::npos) return std::nullopt;
  const size_t end = text.find("-----END ", title_end);
  if (end == std::string_view::npos) return text.size();
  const size_t last = text.find("-----", end + 9);
  return last == std::string_view::npos ? text.size() : last + 5;
}

// Whether a word is a token by its look.
bool IsToken(std::string_view word) {
  if (word.size() < kTokenBytesMin) return false;
  const auto parts_by = [&](char separator) { return std::count(word.begin(), word.end(), separator) + 1; };
  return (word.starts_with("sonde_") && parts_by('_') >= 3 && word.size() >= 40) ||
         (word.starts_with("eyJ") && parts_by('.') == 3);
}

// The length of a scheme with the blank behind it, at the beginning of `text`; 0: there is none.
size_t SchemeLength(std::string_view text) {
  constexpr std::array<std::string_view, 3> kSchemes = {"bearer ", "basic ", "token "};
  for (const std::string_view scheme : kSchemes) {
    if (absl::AsciiStrToLower(std::string(text.substr(0, scheme.size()))) == scheme) return scheme.size();
  }
  return 0;
}

}  // namespace

std::string Redact(std::string_view text) {
  std::string clean;
  while (!text.empty()) {
    if (const std::optional<size_t> key_bytes = PrivateKeyLength(text); key_bytes.has_value()) {
      clean += kSecret;
      text.remove_prefix(*key_bytes);
      continue;
    }
    if (const size_t scheme = SchemeLength(text);
        scheme > 0 && WordLength(text.substr(scheme), IsProofByte) >= kTokenBytesMin) {
      clean.append(text.substr(0, scheme)).append(kSecret);
      text.remove_prefix(scheme + WordLength(text.substr(scheme), IsProofByte));
      continue;
    }
    const size_t word = WordLength(text, IsTokenByte);
    if (IsToken(text.substr(0, word))) {
      clean += kSecret;
    } else {
      clean += text.substr(0, std::max<size_t>(word, 1));
    }
    text.remove_prefix(std::max<size_t>(word, 1));
  }
  return clean;
}

}  // namespace sonde
