// One field of a row key: its value as bytes, and back.
//
// Values are Datums: bytes of BYTES and STRING (UTF-8), integers of INT64 and TIMESTAMP (microseconds), Missing of NULL.
// A value has one form only: bytes that decode are those that its value encodes to.
// Threads: all functions may be called at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "model/datum.h"
#include "model/row_key_schema.h"

namespace sonde::sql {

// What TIMESTAMP can be: from the year 1 to the end of 9999.
constexpr int64_t kKeyMicrosMin = -62'135'596'800'000'000;
constexpr int64_t kKeyMicrosMax = 253'402'300'799'999'999;

// INVALID_ARGUMENT: NULL in a field that has none, no UTF-8, no TIMESTAMP.
absl::Status AppendField(const RowKeyField& field, const Datum& value, std::string* out);
// The text of an error says what is wrong, as in "it is no UTF-8".  The value views `bytes`.
absl::Status ReadField(const RowKeyField& field, std::string_view bytes, Datum* value);

// Returns how many bytes the number has with which `bytes` begin.  Nothing: they are too few, or no number.
std::optional<size_t> NumberFieldBytes(const RowKeyField& field, std::string_view bytes);

// Whether the bytes of a text field have the order of its values.
inline bool IsSortedText(const RowKeyField& field) {
  return field.null_escape.empty() || field.null_escape == std::string_view("\0", 1);
}

}  // namespace sonde::sql
