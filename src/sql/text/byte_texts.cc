#include "sql/text/byte_texts.h"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"

namespace sonde::sql {
namespace {

constexpr std::string_view kBase32Digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
constexpr size_t kBase32Group = 8;  // digits, of five bytes

// The value of a digit, or -1.
int Base32Value(char digit) {
  const char upper = absl::ascii_toupper(static_cast<unsigned char>(digit));
  if (upper >= 'A' && upper <= 'Z') return upper - 'A';
  if (upper >= '2' && upper <= '7') return upper - '2' + 26;
  return -1;
}

int HexDigitValue(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  const char lower = absl::ascii_tolower(static_cast<unsigned char>(digit));
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

absl::Status BadBase32() { return absl::OutOfRangeError("Failed to decode invalid base32 string"); }

// Digits at the end of a text without its padding: so many that no digit is superfluous.
bool IsBase32Count(size_t digits) {
  const size_t rest = digits % kBase32Group;
  return rest == 0 || rest == 2 || rest == 4 || rest == 5 || rest == 7;
}

}  // namespace

std::string ToBase32(std::string_view bytes) {
  std::string text;
  uint64_t bits = 0;
  int count = 0;
  for (const char byte : bytes) {
    bits = bits << 8 | static_cast<unsigned char>(byte);
    for (count += 8; count >= 5; count -= 5) text += kBase32Digits[bits >> (count - 5) & 31];
  }
  if (count > 0) text += kBase32Digits[bits << (5 - count) & 31];
  while (text.size() % kBase32Group != 0) text += '=';
  return text;
}

absl::StatusOr<std::string> FromBase32(std::string_view text) {
  const size_t end = text.find_last_not_of('=');
  const std::string_view digits = text.substr(0, end == std::string_view::npos ? 0 : end + 1);
  const size_t padding = text.size() - digits.size();
  if (padding >= kBase32Group || (padding > 0 && text.size() % kBase32Group != 0) ||
      !IsBase32Count(digits.size())) {
    return BadBase32();
  }
  std::string bytes;
  uint64_t bits = 0;
  int count = 0;
  for (const char digit : digits) {
    const int value = Base32Value(digit);
    if (value < 0) return BadBase32();
    bits = bits << 5 | static_cast<uint64_t>(value);
    count += 5;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>(bits >> count & 0xff);
  }
  return bytes;
}

std::string ToBase64(std::string_view bytes) { return absl::Base64Escape({bytes.data(), bytes.size()}); }

absl::StatusOr<std::string> FromBase64(std::string_view text) {
  std::string bytes;
  if (!absl::Base64Unescape({text.data(), text.size()}, &bytes)) {
    return absl::OutOfRangeError("Failed to decode invalid base64 string");
  }
  return bytes;
}

std::string ToHex(std::string_view bytes) {
  static constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const char byte : bytes) {
    text += kDigits[static_cast<unsigned char>(byte) >> 4];
    text += kDigits[static_cast<unsigned char>(byte) & 15];
  }
  return text;
}

absl::StatusOr<std::string> FromHex(std::string_view text) {
  std::string bytes((text.size() + 1) / 2, '\0');
  // The last digit lies in the lower half of the last byte.
  const size_t skipped = text.size() % 2;
  for (size_t i = 0; i < text.size(); ++i) {
    const int value = HexDigitValue(text[i]);
    if (value < 0) {
      return absl::OutOfRangeError(fmt::format(
          "Failed to decode invalid hexadecimal string due to character at offset {}: {}", i, text));
    }
    char& byte = bytes[(i + skipped) / 2];
    byte = static_cast<char>(static_cast<unsigned char>(byte) << 4 | static_cast<unsigned>(value));
  }
  return bytes;
}

}  // namespace sonde::sql
