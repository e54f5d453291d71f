#include "sql/cast/cast_scalar.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "sql/function/row_kernel.h"
#include "sql/function/utf8_check.h"
#include "sql/time/calendar.h"
#include "sql/time/time_text.h"
#include "sql/time/time_zone.h"
#include "sql/value/value_text.h"

namespace sonde::sql {
namespace {

absl::Status BadText(std::string_view type, std::string_view text) {
  return absl::OutOfRangeError(
      fmt::format("Bad {} value: {}", type, absl::CEscape({text.data(), text.size()})));
}

std::string_view Stripped(std::string_view text) {
  while (!text.empty() && absl::ascii_isspace(static_cast<unsigned char>(text.front())))
    text.remove_prefix(1);
  while (!text.empty() && absl::ascii_isspace(static_cast<unsigned char>(text.back()))) text.remove_suffix(1);
  return text;
}

// Decimal digits, or hexadecimal ones after 0x, behind a sign or none; nothing: other texts, and numbers beyond 64 bits.
std::optional<int64_t> ParseInt(std::string_view text) {
  text = Stripped(text);
  const bool negative = !text.empty() && text[0] == '-';
  if (negative || (!text.empty() && text[0] == '+')) text.remove_prefix(1);
  const bool is_hex = text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
  if (is_hex) text.remove_prefix(2);
  uint64_t magnitude = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), magnitude, is_hex ? 16 : 10);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  constexpr auto kMax = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  if (magnitude > kMax + (negative ? 1 : 0)) return std::nullopt;
  return static_cast<int64_t>(negative ? 0 - magnitude : magnitude);
}

// What strtod takes, with spaces around; nothing: other texts.
template <typename Number>
std::optional<Number> ParseNumber(std::string_view text) {
  text = Stripped(text);
  if (text.empty()) return std::nullopt;
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size()) return number;
  // A plus, hexadecimal digits, and what leaves the range of the type, are left to strtod.
  const std::string copy(text);
  char* rest = nullptr;
  if constexpr (std::is_same_v<Number, float>) {
    number = std::strtof(copy.c_str(), &rest);
  } else {
    number = std::strtod(copy.c_str(), &rest);
  }
  if (rest != copy.c_str() + copy.size()) return std::nullopt;
  return number;
}

// --- From texts.

absl::StatusOr<int64_t> IntOfString(Call&, std::string_view text) {
  const std::optional<int64_t> number = ParseInt(text);
  // GoogleSQL leaves out spaces before the text here, though not in other casts.
  if (!number.has_value())
    return BadText("int64", text.substr(std::min(text.find_first_not_of(' '), text.size())));
  return *number;
}

absl::StatusOr<double> DoubleOfString(Call&, std::string_view text) {
  const std::optional<double> number = ParseNumber<double>(text);
  if (!number.has_value()) return BadText("double", text);
  return *number;
}

absl::StatusOr<double> FloatOfString(Call&, std::string_view text) {
  const std::optional<float> number = ParseNumber<float>(text);
  if (!number.has_value()) return BadText("float", text);
  return *number;
}

absl::StatusOr<bool> BoolOfString(Call&, std::string_view text) {
  const absl::string_view view(text.data(), text.size());
  if (absl::EqualsIgnoreCase(view, "true")) return true;
  if (absl::EqualsIgnoreCase(view, "false")) return false;
  return BadText("bool", text);
}

absl::StatusOr<int64_t> DateOfString(Call&, std::string_view text) { return ParseDate(text); }

absl::StatusOr<int64_t> TimestampOfString(Call& call, std::string_view text) {
  return ParseTimestamp(text, call.facts().time_zone);
}

absl::StatusOr<std::string_view> StringOfBytes(Call&, std::string_view bytes) {
  if (!IsUtf8(bytes)) return absl::OutOfRangeError("Invalid cast of bytes to UTF8 string");
  return bytes;
}

// --- From numbers.

bool BoolOfInt(Call&, int64_t number) { return number != 0; }
double DoubleOfInt(Call&, int64_t number) { return static_cast<double>(number); }
double FloatOfInt(Call&, int64_t number) { return static_cast<float>(number); }
int64_t IntOfBool(Call&, bool value) { return value ? 1 : 0; }

absl::StatusOr<int64_t> IntOfDouble(Call&, double number) {
  if (!std::isfinite(number)) {
    return absl::OutOfRangeError(fmt::format(
        "Illegal conversion of non-finite floating point number to an integer: {}", DoubleText(number)));
  }
  constexpr double kEnd = 0x1p63;
  const double rounded = std::round(number);
  if (rounded < -kEnd || rounded >= kEnd) {
    return absl::OutOfRangeError(fmt::format("int64 out of range: {:g}", number));
  }
  return static_cast<int64_t>(rounded);
}

absl::StatusOr<double> FloatOfDouble(Call&, double number) {
  if (std::isfinite(number) && std::abs(number) > std::numeric_limits<float>::max()) {
    return absl::OutOfRangeError(fmt::format("float out of range: {:g}", number));
  }
  return static_cast<float>(number);
}

// --- To texts.

std::string_view StringOfBool(Call&, bool value) { return value ? "true" : "false"; }

std::string_view StringOfInt(Call& call, int64_t number) {
  const fmt::format_int text(number);
  return call.arena()->Copy({text.data(), text.size()});
}

std::string_view StringOfDouble(Call& call, double number) { return call.arena()->Copy(DoubleText(number)); }
std::string_view StringOfFloat(Call& call, double number) {
  return call.arena()->Copy(FloatText(static_cast<float>(number)));
}
std::string_view StringOfDate(Call& call, int64_t days) { return call.arena()->Copy(DateText(days)); }
std::string_view StringOfTimestamp(Call& call, int64_t micros) {
  return call.arena()->Copy(TimestampTextIn(call.facts().time_zone, micros));
}

// --- Between times.

class ZoneState : public CallState {
 public:
  LocalClock& clock(Call& call) {
    if (!is_set_) clock_ = LocalClock(call.facts().time_zone);
    is_set_ = true;
    return clock_;
  }

 private:
  bool is_set_ = false;
  LocalClock clock_;
};

int64_t DateInZone(Call& call, int64_t micros) {
  return FloorDivide(call.state<ZoneState>().clock(call).Local(micros), kMicrosPerDay);
}

absl::StatusOr<int64_t> MidnightInZone(Call& call, int64_t days) {
  const int64_t micros = call.state<ZoneState>().clock(call).Midnight(days);
  if (!IsTimestamp(micros)) {
    return absl::OutOfRangeError(fmt::format("Cannot convert Date {} to Timestamp", DateText(days)));
  }
  return micros;
}

ColumnView SameColumn(Call&, absl::Span<const ColumnView> arguments) { return arguments[0]; }

Kernel CastFromString(TypeKind to) {
  switch (to) {
    case TypeKind::kInt64:
      return RowKernel<IntOfString>;
    case TypeKind::kFloat64:
      return RowKernel<DoubleOfString>;
    case TypeKind::kFloat32:
      return RowKernel<FloatOfString>;
    case TypeKind::kBool:
      return RowKernel<BoolOfString>;
    case TypeKind::kBytes:
      return SameColumn;
    case TypeKind::kDate:
      return RowKernel<DateOfString>;
    case TypeKind::kTimestamp:
      return RowKernel<TimestampOfString>;
    default:
      return nullptr;
  }
}

Kernel CastFromInt(TypeKind to) {
  switch (to) {
    case TypeKind::kBool:
      return RowKernel<BoolOfInt>;
    case TypeKind::kFloat64:
      return RowKernel<DoubleOfInt>;
    case TypeKind::kFloat32:
      return RowKernel<FloatOfInt>;
    case TypeKind::kString:
      return RowKernel<StringOfInt>;
    default:
      return nullptr;
  }
}

Kernel CastFromDouble(TypeKind from, TypeKind to) {
  const bool is_float = from == TypeKind::kFloat32;
  switch (to) {
    case TypeKind::kInt64:
      return RowKernel<IntOfDouble>;
    case TypeKind::kFloat64:
      return SameColumn;
    case TypeKind::kFloat32:
      return RowKernel<FloatOfDouble>;
    case TypeKind::kString:
      return is_float ? RowKernel<StringOfFloat> : RowKernel<StringOfDouble>;
    default:
      return nullptr;
  }
}

Kernel CastToString(TypeKind from) {
  switch (from) {
    case TypeKind::kBool:
      return RowKernel<StringOfBool>;
    case TypeKind::kBytes:
      return RowKernel<StringOfBytes>;
    case TypeKind::kDate:
      return RowKernel<StringOfDate>;
    case TypeKind::kTimestamp:
      return RowKernel<StringOfTimestamp>;
    default:
      return nullptr;
  }
}

}  // namespace

Kernel FindScalarCast(TypeKind from, TypeKind to) {
  if (from == to) return SameColumn;
  if (from == TypeKind::kString) return CastFromString(to);
  if (from == TypeKind::kInt64) return CastFromInt(to);
  if (from == TypeKind::kFloat32 || from == TypeKind::kFloat64) return CastFromDouble(from, to);
  if (to == TypeKind::kString) return CastToString(from);
  if (from == TypeKind::kBool && to == TypeKind::kInt64) return RowKernel<IntOfBool>;
  if (from == TypeKind::kDate && to == TypeKind::kTimestamp) return RowKernel<MidnightInZone>;
  if (from == TypeKind::kTimestamp && to == TypeKind::kDate) return RowKernel<DateInZone>;
  if (from == TypeKind::kEnum && to == TypeKind::kInt64) return SameColumn;
  if (from == TypeKind::kProto && to == TypeKind::kBytes) return SameColumn;
  return nullptr;
}

}  // namespace sonde::sql
