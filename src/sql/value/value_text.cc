#include "sql/value/value_text.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <iterator>
#include <string>
#include <system_error>

#include "absl/time/civil_time.h"
#include "base/format.h"

namespace sonde::sql {
namespace {

// As %g with `digits` where that reads back to the same number, else with `digits_more`.
template <typename Number>
std::string NumberText(Number number, int digits, int digits_more) {
  if (std::isnan(number)) return "nan";
  if (std::isinf(number)) return number < 0 ? "-inf" : "inf";
  if (number == 0) return "0";
  fmt::memory_buffer text;
  fmt::format_to(std::back_inserter(text), "{:.{}g}", number, digits);
  Number read = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), read);
  if (error == std::errc() && read == number) return fmt::to_string(text);
  return fmt::format("{:.{}g}", number, digits_more);
}

void AppendEscaped(std::string_view bytes, bool is_text, std::string* out) {
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    switch (c) {
      case '\n':
        *out += "\\n";
        break;
      case '\r':
        *out += "\\r";
        break;
      case '\t':
        *out += "\\t";
        break;
      case '"':
        *out += "\\\"";
        break;
      case '\\':
        *out += "\\\\";
        break;
      default:
        if (byte < 0x20 || byte == 0x7f || (byte >= 0x80 && !is_text)) {
          *out += fmt::format("\\x{:02x}", byte);
        } else {
          *out += c;
        }
    }
  }
}

}  // namespace

// GoogleSQL gives a float eight digits, which do not always read back.
std::string DoubleText(double number) { return NumberText(number, 15, 17); }
std::string FloatText(float number) { return NumberText(number, 6, 8); }

std::string DateText(int64_t days) {
  const absl::CivilDay day = absl::CivilDay(1970, 1, 1) + days;
  return fmt::format("{:04}-{:02}-{:02}", day.year(), day.month(), day.day());
}

std::string TimestampText(int64_t micros) {
  constexpr int64_t kMicros = 1'000'000;
  int64_t seconds = micros / kMicros;
  int64_t fraction = micros % kMicros;
  if (fraction < 0) {
    fraction += kMicros;
    --seconds;
  }
  const absl::CivilSecond civil = absl::CivilSecond(1970, 1, 1) + seconds;
  std::string text = fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02}", civil.year(), civil.month(),
                                 civil.day(), civil.hour(), civil.minute(), civil.second());
  if (fraction % 1'000 != 0) {
    text += fmt::format(".{:06}", fraction);
  } else if (fraction != 0) {
    text += fmt::format(".{:03}", fraction / 1'000);
  }
  return text + "+00";
}

std::string StringLiteral(std::string_view text) {
  std::string literal = "\"";
  AppendEscaped(text, /*is_text=*/true, &literal);
  return literal + "\"";
}

std::string BytesLiteral(std::string_view bytes) {
  std::string literal = "b\"";
  AppendEscaped(bytes, /*is_text=*/false, &literal);
  return literal + "\"";
}

}  // namespace sonde::sql
