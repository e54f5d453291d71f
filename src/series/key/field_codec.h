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

#include "absl/numeric/int128.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/wide_int.h"
#include "series/schema/schema.h"

namespace sonde::series {

// An int of 128 bits is one that 64 bits do not hold: a roll-up's sum may be such.
using FieldValue = std::variant<int64_t, double, std::string, absl::int128>;

// The number that *text is, in digits, with a point and an exponent or without.  Nothing: it is none, or none
// that is finite.  One that is nearer to 0 than any other double is 0, and *text says so then.
std::optional<double> ParseFinite(std::string_view* text);

// Replaces *value.  False when `text` is no value of the field; RefusedValue then says why.
[[nodiscard]] bool EncodeValue(const Field& field, std::string_view text, std::string* value);
// INVALID_ARGUMENT, naming the field, the text and what it should be.
absl::Status RefusedValue(const Field& field, std::string_view text);

// Decodes a value.  An int field's text may also be a whole number as doubles are written (1e+16), which
// roll-ups had. DATA_LOSS: these bytes are no value of the field.
absl::StatusOr<FieldValue> DecodeValue(const Field& field, std::string_view bytes);
// The shortest text that reads back as the same value.
std::string ValueText(const FieldValue& value);
// The text that EncodeValue makes these bytes of (numbers as short as is exact); empty for bytes that are no
// value.
std::string TextOfValue(const Field& field, std::string_view bytes);

// The same as a number to calculate with, of an int field and of a double one.  False: bytes that are no
// value, and an int that leaves 64 bits; NoNumber then says which of these.
[[nodiscard]] bool DecodeInt(const Field& field, std::string_view bytes, int64_t* number);
[[nodiscard]] bool DecodeDouble(const Field& field, std::string_view bytes, double* number);
// Whether the one of these that fits the field can; never of a string.
bool IsNumber(const Field& field, std::string_view bytes);
// OUT_OF_RANGE: a whole number that leaves the 64 bits of an int; otherwise DATA_LOSS.
absl::Status NoNumber(const Field& field, std::string_view bytes);

}  // namespace sonde::series
