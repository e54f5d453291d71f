#include "rows/value.h"

#include "base/wide_int.h"

namespace sonde::rows {

void GetValue(const ColumnView& column, size_t row, Value* value) {
  if (!column.IsThere(row)) {
    *value = std::monostate();
    return;
  }
  const size_t place = column.PlaceOf(row);
  switch (column.type()) {
    case ColumnType::kInt64:
    case ColumnType::kTime:
      *value = column.ints()[place];
      return;
    case ColumnType::kDouble:
      *value = column.doubles()[place];
      return;
    case ColumnType::kBytes: {
      const std::string_view bytes = column.bytes()[place];
      if (auto* held = std::get_if<std::string>(value)) {
        held->assign(bytes);
      } else {
        value->emplace<std::string>(bytes);
      }
      return;
    }
    case ColumnType::kInt128: {
      const absl::int128 number = column.wide_ints()[place];
      if (IsInt(number)) {
        *value = static_cast<int64_t>(number);
      } else {
        *value = number;
      }
      return;
    }
    case ColumnType::kList:
      break;
  }
  *value = std::monostate();  // a list is more than a value by itself
}

std::optional<double> NumberOf(const Value& value) {
  if (const auto* number = std::get_if<double>(&value)) return *number;
  if (const auto* number = std::get_if<int64_t>(&value)) return static_cast<double>(*number);
  if (const auto* number = std::get_if<absl::int128>(&value)) return static_cast<double>(*number);
  return std::nullopt;
}

std::optional<double> NumberOf(const ColumnView& column, size_t row) {
  if (!column.IsThere(row)) return std::nullopt;
  const size_t place = column.PlaceOf(row);
  switch (column.type()) {
    case ColumnType::kInt64:
    case ColumnType::kTime:
      return static_cast<double>(column.ints()[place]);
    case ColumnType::kDouble:
      return column.doubles()[place];
    case ColumnType::kInt128:
      return static_cast<double>(column.wide_ints()[place]);
    case ColumnType::kBytes:
    case ColumnType::kList:
      break;
  }
  return std::nullopt;
}

}  // namespace sonde::rows
