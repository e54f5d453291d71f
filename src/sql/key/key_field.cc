#include "sql/key/key_field.h"

#include <fmt/format.h>

#include "sql/function/utf8_check.h"
#include "sql/key/ordered_number.h"

namespace sonde::sql {
namespace {

constexpr size_t kFixedBytes = 8;

void AppendBigEndian(int64_t number, std::string* out) {
  for (size_t i = kFixedBytes; i-- > 0;) out->push_back(static_cast<char>(number >> (8 * i)));
}

std::optional<int64_t> ReadBigEndian(std::string_view bytes) {
  if (bytes.size() != kFixedBytes) return std::nullopt;
  uint64_t number = 0;
  for (const char byte : bytes) number = number << 8 | static_cast<uint8_t>(byte);
  return static_cast<int64_t>(number);
}

bool ConsistsOf(std::string_view bytes, std::string_view piece) {
  if (bytes.size() % piece.size() != 0) return false;
  for (size_t i = 0; i < bytes.size(); i += piece.size()) {
    if (bytes.substr(i, piece.size()) != piece) return false;
  }
  return true;
}

absl::Status CheckValue(const RowKeyField& field, const Datum& value) {
  if (field.kind == RowKeyField::Kind::kString && !IsUtf8(value.bytes())) {
    return absl::InvalidArgumentError("it is no UTF-8");
  }
  if (field.kind == RowKeyField::Kind::kTimestamp &&
      (value.integer < kKeyMicrosMin || value.integer > kKeyMicrosMax)) {
    return absl::InvalidArgumentError(fmt::format("{} microseconds are no TIMESTAMP", value.integer));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status AppendField(const RowKeyField& field, const Datum& value, std::string* out) {
  if (!value.is_there) {
    if (!field.null_escape.empty()) return absl::OkStatus();
    return absl::InvalidArgumentError(fmt::format("Field '{}' of a row key cannot be NULL", field.name));
  }
  if (const absl::Status status = CheckValue(field, value); !status.ok()) {
    return absl::InvalidArgumentError(
        fmt::format("Field '{}' of a row key: {}", field.name, std::string(status.message())));
  }
  if (!field.IsNumber()) {
    out->append(value.bytes());
    if (!field.null_escape.empty() && ConsistsOf(value.bytes(), field.null_escape)) {
      out->append(field.null_escape);
    }
  } else if (field.number_encoding == RowKeyField::NumberEncoding::kBigEndian) {
    AppendBigEndian(value.integer, out);
  } else {
    AppendOrderedNumber(value.integer, out);
  }
  return absl::OkStatus();
}

absl::Status ReadField(const RowKeyField& field, std::string_view bytes, Datum* value) {
  if (field.IsNumber()) {
    const bool is_fixed = field.number_encoding == RowKeyField::NumberEncoding::kBigEndian;
    const std::optional<int64_t> number = is_fixed ? ReadBigEndian(bytes) : ReadOrderedNumber(bytes);
    if (!number.has_value()) {
      return absl::InvalidArgumentError(
          fmt::format("its {} bytes are no {} integer", bytes.size(), is_fixed ? "big-endian" : "ordered"));
    }
    *value = Datum::Int(*number);
  } else if (!field.null_escape.empty() && ConsistsOf(bytes, field.null_escape)) {
    *value = bytes.empty() ? Datum::Missing()
                           : Datum::Bytes(bytes.substr(0, bytes.size() - field.null_escape.size()));
    return absl::OkStatus();
  } else {
    *value = Datum::Bytes(bytes);
  }
  return CheckValue(field, *value);
}

std::optional<size_t> NumberFieldBytes(const RowKeyField& field, std::string_view bytes) {
  if (field.number_encoding == RowKeyField::NumberEncoding::kOrderedCode) return OrderedNumberBytes(bytes);
  if (bytes.size() < kFixedBytes) return std::nullopt;
  return kFixedBytes;
}

}  // namespace sonde::sql
