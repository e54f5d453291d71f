// Columns and batches as text, for tests.
#pragma once

#include <fmt/format.h>

#include <string>
#include <variant>

#include "base/wide_int.h"
#include "rows/batch.h"
#include "rows/value.h"

namespace sonde::rows {

inline std::string Text(const Value& value) {
  if (const auto* integer = std::get_if<int64_t>(&value)) return fmt::format("{}", *integer);
  if (const auto* number = std::get_if<double>(&value)) return fmt::format("{:.10g}", *number);
  if (const auto* bytes = std::get_if<std::string>(&value)) return *bytes;
  if (const auto* wide = std::get_if<absl::int128>(&value)) return IntText(*wide);
  return "-";
}

// The values with spaces between them; "-": missing.
inline std::string Text(const ColumnView& column) {
  std::string text;
  Value value;
  for (size_t i = 0; i < column.size(); ++i) {
    GetValue(column, i, &value);
    text += (i == 0 ? "" : " ") + Text(value);
  }
  return text;
}

// A line a row.
inline std::string Text(const Batch& batch) {
  std::string text;
  Value value;
  for (size_t row = 0; row < batch.rows; ++row) {
    for (size_t i = 0; i < batch.columns.size(); ++i) {
      GetValue(batch.columns[i], row, &value);
      text += (i == 0 ? "" : " ") + Text(value);
    }
    text += '\n';
  }
  return text;
}

}  // namespace sonde::rows
