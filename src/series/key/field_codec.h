// Values of fields: text (as people and CSV files write it) to the bytes of a cell, and back.
//
// FieldEncoding::kText keeps the text as it was given, once it is known to be a value of the type; the binary
// ones are 8 bytes, big-endian.  NaN and infinity are no values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "series/schema/schema.h"

namespace sonde::series {

using FieldValue = std::variant<int64_t, double, std::string>;

// The number that *text is, in digits, with a point and an exponent or without.  Nothing: it is none, or none
// that is finite.  One that is nearer to 0 than any other double is 0, and *text says so then.
std::optional<double> ParseFinite(std::string_view* text);

// Replaces *value.  False when `text` is no value of the field; RefusedValue then says why.
[[nodiscard]] bool EncodeValue(const Field& field, std::string_view text, std::string* value);
// INVALID_ARGUMENT, naming the field, the text and what it should be.
absl::Status RefusedValue(const Field& field, std::string_view text);

// DATA_LOSS: these bytes are no value of the field.
absl::StatusOr<FieldValue> DecodeValue(const Field& field, std::string_view bytes);
// The text that EncodeValue makes these bytes of (numbers as short as is exact); empty for bytes that are no
// value.
std::string TextOfValue(const Field& field, std::string_view bytes);
// The same as a number; nothing for a string and for bytes that are no value.
std::optional<double> DecodeNumber(const Field& field, std::string_view bytes);

}  // namespace sonde::series
