#include "series/key/field_codec.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <type_traits>

#include "absl/strings/numbers.h"
#include "absl/strings/string_view.h"
#include "base/bytes.h"
#include "base/varint.h"
#include "model/limits.h"

namespace sonde::series {
namespace {

template <typename Number>
bool ParseWhole(std::string_view text, Number* number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

std::optional<uint64_t> ReadFixed64(std::string_view bytes) {
  uint64_t bits = 0;
  if (bytes.size() != sizeof(bits) || !GetFixed64(&bytes, &bits)) return std::nullopt;
  return bits;
}

bool IsWrittenAsInt(std::string_view text) {
  return text.find_first_not_of("-0123456789") == std::string_view::npos;
}

// A whole number that 64 bits do not hold, or that is written as a double is.
std::optional<absl::int128> ReadWideInt(std::string_view text) {
  if (IsWrittenAsInt(text)) {
    absl::int128 number = 0;
    return absl::SimpleAtoi(absl::string_view(text.data(), text.size()), &number) ? std::optional(number)
                                                                                  : std::nullopt;
  }
  const std::optional<double> number = ParseFinite(&text);
  if (!number || std::trunc(*number) != *number || std::abs(*number) >= 0x1p127) return std::nullopt;
  return absl::int128(*number);
}

std::optional<int64_t> ReadInt(const Field& field, std::string_view bytes) {
  int64_t number = 0;
  if (field.encoding == FieldEncoding::kText) {
    if (ParseWhole(bytes, &number)) return number;
    const std::optional<absl::int128> wide = ReadWideInt(bytes);
    return wide && IsInt(*wide) ? std::optional(static_cast<int64_t>(*wide)) : std::nullopt;
  }
  const std::optional<uint64_t> bits = ReadFixed64(bytes);
  return bits ? std::optional(static_cast<int64_t>(*bits)) : std::nullopt;
}

std::optional<double> ReadDouble(const Field& field, std::string_view bytes) {
  if (field.encoding == FieldEncoding::kText) return ParseFinite(&bytes);
  const std::optional<uint64_t> bits = ReadFixed64(bytes);
  if (!bits) return std::nullopt;
  const double number = std::bit_cast<double>(*bits);
  return std::isfinite(number) ? std::optional(number) : std::nullopt;
}

}  // namespace

std::optional<double> ParseFinite(std::string_view* text) {
  double number = 0;
  const char* const text_end = text->data() + text->size();
  const auto [end, error] = std::from_chars(text->data(), text_end, number);
  if (end != text_end || text->empty()) return std::nullopt;
  if (error == std::errc()) return std::isfinite(number) ? std::optional(number) : std::nullopt;
  // Out of range: too large, or too small, which from_chars does not tell apart.
  const absl::string_view digits(text->data(), text->size());
  if (!absl::SimpleAtod(digits, &number) || number != 0) return std::nullopt;
  *text = text->front() == '-' ? "-0" : "0";
  return number;
}

bool EncodeValue(const Field& field, std::string_view text, std::string* value) {
  value->clear();
  switch (field.type) {
    case FieldType::kString:
      if (text.size() > kValueBytesMax) return false;
      value->assign(text);
      return true;
    case FieldType::kInt: {
      int64_t number = 0;
      if (!ParseWhole(text, &number)) return false;
      if (field.encoding == FieldEncoding::kText) {
        value->assign(text);
      } else {
        PutFixed64(value, static_cast<uint64_t>(number));
      }
      return true;
    }
    case FieldType::kDouble:
      break;
  }
  const std::optional<double> number = ParseFinite(&text);
  if (!number) return false;
  if (field.encoding == FieldEncoding::kText) {
    value->assign(text);
  } else {
    PutFixed64(value, std::bit_cast<uint64_t>(*number));
  }
  return true;
}

absl::Status RefusedValue(const Field& field, std::string_view text) {
  if (field.type == FieldType::kString) {
    return absl::InvalidArgumentError(fmt::format("field '{}': a value of {} bytes; allowed: up to {}",
                                                  field.name, text.size(), kValueBytesMax));
  }
  return absl::InvalidArgumentError(
      fmt::format("field '{}': value '{}' is not {}", field.name, Printable(text),
                  field.type == FieldType::kInt ? "an int of 64 bits" : "a finite number"));
}

absl::StatusOr<FieldValue> DecodeValue(const Field& field, std::string_view bytes) {
  if (field.type == FieldType::kString) return FieldValue(std::string(bytes));
  if (field.type == FieldType::kInt) {
    if (const std::optional<int64_t> number = ReadInt(field, bytes)) return FieldValue(*number);
    if (field.encoding == FieldEncoding::kText) {
      if (const std::optional<absl::int128> wide = ReadWideInt(bytes)) return FieldValue(*wide);
    }
  } else if (const std::optional<double> number = ReadDouble(field, bytes)) {
    return FieldValue(*number);
  }
  return absl::DataLossError(fmt::format("field '{}': the cell '{}' is not {}", field.name, Printable(bytes),
                                         field.type == FieldType::kInt ? "an int" : "a number"));
}

std::string TextOfValue(const Field& field, std::string_view bytes) {
  if (field.encoding == FieldEncoding::kText) return std::string(bytes);
  const absl::StatusOr<FieldValue> value = DecodeValue(field, bytes);
  if (!value.ok()) return "";
  return ValueText(*value);
}

std::string ValueText(const FieldValue& value) {
  return std::visit(
      [](const auto& held) {
        if constexpr (std::is_same_v<std::decay_t<decltype(held)>, absl::int128>) {
          return IntText(held);
        } else {
          return fmt::format("{}", held);
        }
      },
      value);
}

bool DecodeInt(const Field& field, std::string_view bytes, int64_t* number) {
  const std::optional<int64_t> read = ReadInt(field, bytes);
  if (read) *number = *read;
  return read.has_value();
}

bool DecodeDouble(const Field& field, std::string_view bytes, double* number) {
  const std::optional<double> read = ReadDouble(field, bytes);
  if (read) *number = *read;
  return read.has_value();
}

bool IsNumber(const Field& field, std::string_view bytes) {
  switch (field.type) {
    case FieldType::kInt:
      return ReadInt(field, bytes).has_value();
    case FieldType::kDouble:
      return ReadDouble(field, bytes).has_value();
    case FieldType::kString:
      break;
  }
  return false;
}

absl::Status NoNumber(const Field& field, std::string_view bytes) {
  const absl::StatusOr<FieldValue> value = DecodeValue(field, bytes);
  if (!value.ok()) return value.status();
  const std::string what = fmt::format("field '{}'", field.name);
  if (const auto* wide = std::get_if<absl::int128>(&*value)) return LeavesInt(*wide, what);
  return absl::DataLossError(fmt::format("{}: the cell '{}' is not a number", what, Printable(bytes)));
}

}  // namespace sonde::series
