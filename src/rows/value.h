// One value by itself, for the ends of a pipeline: where rows are shown, or kept one by one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "absl/numeric/int128.h"
#include "model/column.h"

namespace sonde::rows {

// monostate: a missing value.  int64_t: an int or a time.  int128: an int that 64 bits do not hold.
using Value = std::variant<std::monostate, int64_t, double, std::string, absl::int128>;

// Replaces *value by the value that `column` has in a row.
void GetValue(const ColumnView& column, size_t row, Value* value);

// The double next to the value; nothing for bytes, and for a missing value.
std::optional<double> NumberOf(const Value& value);
std::optional<double> NumberOf(const ColumnView& column, size_t row);

}  // namespace sonde::rows
