#include "sql/cast/cast_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "sql/cast/number_model.h"
#include "sql/function/bounds.h"
#include "sql/function/row_kernel.h"
#include "sql/function/utf8.h"
#include "sql/function/utf8_check.h"
#include "sql/text/byte_texts.h"
#include "sql/time/calendar.h"
#include "sql/time/date_model.h"
#include "sql/time/time_zone.h"

namespace sonde::sql {
namespace {

// --- Bytes.

constexpr size_t kBase64LineBytes = 76;

std::string FormatName(std::string_view format) { return absl::AsciiStrToUpper(std::string(format)); }
absl::Status BadFormat(std::string_view format) {
  return absl::OutOfRangeError(fmt::format("Invalid format '{}'", format));
}
absl::Status BadAscii() { return absl::OutOfRangeError("Failed to decode invalid ASCII string"); }

// Digits of so many bits; zeros stand before the first where the bits do not come out even.
std::string DigitsOfBits(std::string_view bytes, size_t bits) {
  std::string text((bytes.size() * 8 + bits - 1) / bits, '0');
  // Bit 0 is the least significant one of the last byte.
  const auto bit = [&](size_t place) -> unsigned {
    if (place >= bytes.size() * 8) return 0;
    return static_cast<unsigned char>(bytes[bytes.size() - 1 - place / 8]) >> place % 8 & 1;
  };
  for (size_t i = 0; i < text.size(); ++i) {
    const size_t first = (text.size() - 1 - i) * bits;
    unsigned digit = 0;
    for (size_t j = 0; j < bits; ++j) digit |= bit(first + j) << j;
    text[i] = static_cast<char>('0' + digit);
  }
  return text;
}

// The same backwards, as so many bytes; bits before them are left out.
std::string BitsOfDigits(std::string_view digits, size_t bits, size_t count) {
  std::string bytes(count, '\0');
  for (size_t i = 0; i < digits.size() * bits && i / 8 < count; ++i) {
    const char digit = digits[digits.size() - 1 - i / bits];
    if (((digit - '0') >> i % bits & 1) == 0) continue;
    char& byte = bytes[count - 1 - i / 8];
    byte = static_cast<char>(static_cast<unsigned char>(byte) | 1u << i % 8);
  }
  return bytes;
}

absl::StatusOr<std::string> FromBase2(std::string_view text) {
  const size_t bad = text.find_first_not_of("01");
  if (bad == std::string_view::npos) return BitsOfDigits(text, 1, (text.size() + 7) / 8);
  return absl::OutOfRangeError(fmt::format(
      "Failed to decode invalid base2 string due to character '{}' at offset {}", text[bad], bad));
}

absl::StatusOr<std::string> FromBase8(std::string_view text) {
  // Eight digits are three bytes; three digits are one byte, and six are two, though they have more bits.
  constexpr size_t kGroup = 8;
  const size_t bytes = text.size() / kGroup * 3 + (3 * (text.size() % kGroup) + 5) / 8;
  if (text.find_first_not_of("01234567") == std::string_view::npos) return BitsOfDigits(text, 3, bytes);
  return absl::OutOfRangeError("Failed to decode invalid base8 string");
}

std::string ToBase64Lines(std::string_view bytes) {
  std::string text = ToBase64(bytes);
  for (size_t at = kBase64LineBytes; at < text.size(); at += kBase64LineBytes + 1) text.insert(at, 1, '\n');
  return text;
}

absl::StatusOr<std::string_view> BytesToText(Call& call, std::string_view bytes, std::string_view format) {
  if (absl::Status status = AskForRoom(call, 8 * bytes.size()); !status.ok()) return status;
  const std::string name = FormatName(format);
  if (name == "UTF8" || name == "UTF-8") {
    if (!IsUtf8(bytes)) return absl::OutOfRangeError("A string is not valid UTF-8.");
    return bytes;
  }
  if (name == "ASCII") {
    if (!IsAscii(bytes)) return BadAscii();
    return bytes;
  }
  if (name == "HEX" || name == "BASE16") return call.arena()->Copy(ToHex(bytes));
  if (name == "BASE2") return call.arena()->Copy(DigitsOfBits(bytes, 1));
  if (name == "BASE8") return call.arena()->Copy(DigitsOfBits(bytes, 3));
  if (name == "BASE64") return call.arena()->Copy(ToBase64(bytes));
  if (name == "BASE64M") return call.arena()->Copy(ToBase64Lines(bytes));
  return BadFormat(format);
}

absl::StatusOr<std::string_view> TextToBytes(Call& call, std::string_view text, std::string_view format) {
  if (absl::Status status = AskForRoom(call, text.size()); !status.ok()) return status;
  const std::string name = FormatName(format);
  if (name == "UTF8" || name == "UTF-8") return text;
  if (name == "ASCII") {
    if (!IsAscii(text)) return BadAscii();
    return text;
  }
  absl::StatusOr<std::string> bytes = BadFormat(format);
  if (name == "HEX" || name == "BASE16") bytes = FromHex(text);
  if (name == "BASE2") bytes = FromBase2(text);
  if (name == "BASE8") bytes = FromBase8(text);
  if (name == "BASE64" || name == "BASE64M") bytes = FromBase64(text);
  if (!bytes.ok()) return bytes.status();
  return call.arena()->Copy(*bytes);
}

// --- Dates and timestamps.

// The last model and zone of a call, which mostly are the only ones.
class ModelState : public CallState {
 public:
  absl::StatusOr<const DateModel*> Model(std::string_view text) {
    if (!model_.has_value() || text_ != text) {
      model_ = DateModel::Read(text);
      text_ = text;
    }
    if (!model_->ok()) return model_->status();
    return &**model_;
  }
  // The zone of the statement if there is none.
  absl::StatusOr<LocalClock*> Clock(const Call& call, std::optional<std::string_view> zone) {
    if (!zone.has_value()) {
      if (!is_default_) clock_ = LocalClock(call.facts().time_zone);
      is_default_ = true;
      return &clock_;
    }
    if (is_default_ || zone_ != *zone) {
      const absl::StatusOr<absl::TimeZone> found = FindTimeZone(*zone);
      if (!found.ok()) return found.status();
      clock_ = LocalClock(*found);
      zone_ = *zone;
      is_default_ = false;
    }
    return &clock_;
  }

 private:
  std::string text_;
  std::optional<absl::StatusOr<DateModel>> model_;
  LocalClock clock_;
  std::string zone_;
  bool is_default_ = false;
};

absl::StatusOr<std::string_view> DateToText(Call& call, int64_t days, std::string_view format) {
  const auto model = call.state<ModelState>().Model(format);
  if (!model.ok()) return model.status();
  if (absl::Status status = (*model)->CheckWritesDate(); !status.ok()) return status;
  const auto text = (*model)->Format(days * kMicrosPerDay, 0);
  if (!text.ok()) return text.status();
  return call.arena()->Copy(*text);
}

absl::StatusOr<std::string_view> WriteTimestamp(Call& call, int64_t micros, std::string_view format,
                                                std::optional<std::string_view> zone) {
  ModelState& state = call.state<ModelState>();
  const auto clock = state.Clock(call, zone);
  if (!clock.ok()) return clock.status();
  const auto model = state.Model(format);
  if (!model.ok()) return model.status();
  const int64_t offset = (*clock)->Offset(micros);
  const auto text = (*model)->Format(micros + offset, offset);
  if (!text.ok()) return text.status();
  return call.arena()->Copy(*text);
}

absl::StatusOr<int64_t> ReadTime(Call& call, std::string_view text, std::string_view format,
                                 std::optional<std::string_view> zone, bool is_date) {
  ModelState& state = call.state<ModelState>();
  const auto clock = state.Clock(call, zone);
  if (!clock.ok()) return clock.status();
  const auto model = state.Model(format);
  if (!model.ok()) return model.status();
  if (absl::Status status = (*model)->CheckReads(is_date); !status.ok()) return status;
  const absl::TimeZone in = is_date ? absl::UTCTimeZone() : (*clock)->zone();
  const auto micros = (*model)->Parse(text, in, call.facts().now_micros);
  if (!micros.ok() || !is_date) return micros;
  return FloorDivide(*micros, kMicrosPerDay);
}

absl::StatusOr<int64_t> TextToDate(Call& call, std::string_view text, std::string_view format) {
  return ReadTime(call, text, format, std::nullopt, /*is_date=*/true);
}
absl::StatusOr<std::string_view> TimestampToText(Call& call, int64_t micros, std::string_view format) {
  return WriteTimestamp(call, micros, format, std::nullopt);
}
absl::StatusOr<std::string_view> TimestampToTextIn(Call& call, int64_t micros, std::string_view format,
                                                   std::string_view zone) {
  return WriteTimestamp(call, micros, format, zone);
}
absl::StatusOr<int64_t> TextToTimestamp(Call& call, std::string_view text, std::string_view format) {
  return ReadTime(call, text, format, std::nullopt, /*is_date=*/false);
}
absl::StatusOr<int64_t> TextToTimestampIn(Call& call, std::string_view text, std::string_view format,
                                          std::string_view zone) {
  return ReadTime(call, text, format, zone, /*is_date=*/false);
}

// The last model of a cast of numbers, parsed.
class NumberModelState : public CallState {
 public:
  const absl::StatusOr<NumberModel>& Model(std::string_view text) {
    if (!model_.has_value() || text != text_) {
      text_ = text;
      model_ = NumberModel::Parse(text);
    }
    return *model_;
  }

 private:
  std::string text_;
  std::optional<absl::StatusOr<NumberModel>> model_;
};

template <typename Number>
absl::StatusOr<std::string_view> NumberToText(Call& call, Number number, std::string_view format) {
  const absl::StatusOr<NumberModel>& model = call.state<NumberModelState>().Model(format);
  if (!model.ok()) return model.status();
  return call.arena()->Copy(model->Format(number));
}

template <Kernel kWithoutZone, Kernel kWithZone>
ColumnView MaybeWithZone(Call& call, absl::Span<const ColumnView> arguments) {
  return arguments.size() == 2 ? kWithoutZone(call, arguments) : kWithZone(call, arguments);
}

}  // namespace

Kernel FindCastWithFormat(TypeKind from, TypeKind to) {
  if (from == TypeKind::kBytes && to == TypeKind::kString) return RowKernel<BytesToText>;
  if (from == TypeKind::kString && to == TypeKind::kBytes) return RowKernel<TextToBytes>;
  if (from == TypeKind::kDate && to == TypeKind::kString) return RowKernel<DateToText>;
  if (from == TypeKind::kString && to == TypeKind::kDate) return RowKernel<TextToDate>;
  if (from == TypeKind::kTimestamp && to == TypeKind::kString) {
    return MaybeWithZone<RowKernel<TimestampToText>, RowKernel<TimestampToTextIn>>;
  }
  if (from == TypeKind::kString && to == TypeKind::kTimestamp) {
    return MaybeWithZone<RowKernel<TextToTimestamp>, RowKernel<TextToTimestampIn>>;
  }
  if (from == TypeKind::kInt64 && to == TypeKind::kString) return RowKernel<NumberToText<int64_t>>;
  if ((from == TypeKind::kFloat32 || from == TypeKind::kFloat64) && to == TypeKind::kString) {
    return RowKernel<NumberToText<double>>;
  }
  return nullptr;
}

}  // namespace sonde::sql
