#include "sql/spill/row_bytes.h"

#include <cstdint>
#include <cstring>
#include <optional>
#include <type_traits>

#include "absl/numeric/int128.h"
#include "base/varint.h"
#include "model/datum.h"

namespace sonde::sql {
namespace {

constexpr int kDepthMax = 256;  // of lists within lists; types are less deep

template <typename T>
void PutRaw(const T& value, std::string* bytes) {
  bytes->append(reinterpret_cast<const char*>(&value), sizeof(value));
}

template <typename T>
bool GetRaw(std::string_view* bytes, T* value) {
  if (bytes->size() < sizeof(*value)) return false;
  std::memcpy(value, bytes->data(), sizeof(*value));
  bytes->remove_prefix(sizeof(*value));
  return true;
}

void PutDatum(const Datum& datum, std::string* bytes) {
  if (!datum.is_there) {
    bytes->push_back(0);
    return;
  }
  bytes->push_back(static_cast<char>(1 + static_cast<int>(datum.kind)));
  switch (datum.kind) {
    case Datum::Kind::kInt:
      return PutRaw(datum.integer, bytes);
    case Datum::Kind::kDouble:
      return PutRaw(datum.number, bytes);
    case Datum::Kind::kBytes:
      return PutBytes(bytes, datum.bytes());
    case Datum::Kind::kList:
      break;
  }
  PutVarint(bytes, datum.size);
  for (const Datum& item : datum.list()) PutDatum(item, bytes);
}

bool GetDatum(std::string_view* bytes, int depth, Arena* arena, Datum* datum) {
  uint8_t mark = 0;
  if (depth > kDepthMax || !GetRaw(bytes, &mark) || mark > 4) return false;
  *datum = Datum::Missing();
  if (mark == 0) return true;
  datum->is_there = true;
  datum->kind = static_cast<Datum::Kind>(mark - 1);
  if (datum->kind == Datum::Kind::kInt) return GetRaw(bytes, &datum->integer);
  if (datum->kind == Datum::Kind::kDouble) return GetRaw(bytes, &datum->number);
  if (datum->kind == Datum::Kind::kBytes) {
    std::string_view string;
    if (!GetBytes(bytes, &string)) return false;
    *datum = Datum::Bytes(string);
    return true;
  }
  uint64_t count = 0;
  // An item takes a byte at least.
  if (!GetVarint(bytes, &count) || count > bytes->size()) return false;
  Datum* const items = arena->New<Datum>(count);
  for (uint64_t i = 0; i < count; ++i) {
    if (!GetDatum(bytes, depth + 1, arena, &items[i])) return false;
  }
  *datum = Datum::List({items, count});
  return true;
}

// A column says by itself that a list is there.
void PutValue(const Datum& list, std::string* bytes) {
  Datum there = list;
  there.kind = Datum::Kind::kList;
  there.is_there = true;
  PutDatum(there, bytes);
}
void PutValue(std::string_view value, std::string* bytes) { PutBytes(bytes, value); }
template <typename Number>
void PutValue(const Number& value, std::string* bytes) {
  PutRaw(value, bytes);
}

bool GetValue(std::string_view* bytes, Arena* arena, Datum* value) {
  return GetDatum(bytes, 0, arena, value) && value->is_there && value->kind == Datum::Kind::kList;
}
bool GetValue(std::string_view* bytes, Arena* /*arena*/, std::string_view* value) {
  return GetBytes(bytes, value);
}
template <typename Number>
bool GetValue(std::string_view* bytes, Arena* /*arena*/, Number* value) {
  return GetRaw(bytes, value);
}

template <typename T>
void PutValues(const T* values, const ColumnView& column, std::string* bytes) {
  if constexpr (std::is_arithmetic_v<T>) {
    if (!column.is_constant() && column.there() == nullptr) {
      bytes->append(reinterpret_cast<const char*>(values), column.size() * sizeof(T));
      return;
    }
  }
  for (size_t row = 0; row < column.size(); ++row) {
    if (column.IsThere(row)) PutValue(values[column.PlaceOf(row)], bytes);
  }
}

void PutColumn(const ColumnView& column, std::string* bytes) {
  bytes->push_back(static_cast<char>(column.type()));
  bytes->push_back(column.there() == nullptr ? 0 : 1);
  if (column.there() != nullptr) {
    for (size_t row = 0; row < column.size(); ++row) bytes->push_back(column.IsThere(row) ? 1 : 0);
  }
  switch (column.type()) {
    case ColumnType::kInt64:
    case ColumnType::kTime:
      return PutValues(column.ints(), column, bytes);
    case ColumnType::kDouble:
      return PutValues(column.doubles(), column, bytes);
    case ColumnType::kBytes:
      return PutValues(column.bytes(), column, bytes);
    case ColumnType::kInt128:
      return PutValues(column.wide_ints(), column, bytes);
    case ColumnType::kList:
      return PutValues(column.lists(), column, bytes);
  }
}

template <typename T>
std::optional<absl::Span<const T>> GetValues(std::string_view* bytes, size_t rows, const uint8_t* there,
                                             Arena* arena) {
  T* const values = arena->New<T>(rows);
  for (size_t row = 0; row < rows; ++row) {
    values[row] = T();
    if ((there == nullptr || there[row] != 0) && !GetValue(bytes, arena, &values[row])) return std::nullopt;
  }
  return absl::Span<const T>(values, rows);
}

std::optional<ColumnView> GetColumn(std::string_view* bytes, size_t rows, Arena* arena) {
  uint8_t type = 0;
  uint8_t has_there = 0;
  if (!GetRaw(bytes, &type) || !GetRaw(bytes, &has_there) || has_there > 1) return std::nullopt;
  const uint8_t* there = nullptr;
  if (has_there == 1) {
    if (bytes->size() < rows) return std::nullopt;
    there = reinterpret_cast<const uint8_t*>(bytes->data());
    bytes->remove_prefix(rows);
  }
  const auto of = [&](auto no_value, auto make) -> std::optional<ColumnView> {
    const auto values = GetValues<decltype(no_value)>(bytes, rows, there, arena);
    if (!values.has_value()) return std::nullopt;
    return make(*values, there);
  };
  switch (static_cast<ColumnType>(type)) {
    case ColumnType::kInt64:
      return of(int64_t{}, ColumnView::OfInts);
    case ColumnType::kTime:
      return of(int64_t{}, ColumnView::OfTimes);
    case ColumnType::kDouble:
      return of(double{}, ColumnView::OfDoubles);
    case ColumnType::kBytes:
      return of(std::string_view{}, ColumnView::OfBytes);
    case ColumnType::kInt128:
      return of(absl::int128{}, ColumnView::OfWideInts);
    case ColumnType::kList:
      return of(Datum{}, ColumnView::OfLists);
  }
  return std::nullopt;
}

}  // namespace

void PutRows(absl::Span<const ColumnView> columns, size_t rows, std::string* bytes) {
  PutVarint(bytes, rows);
  PutVarint(bytes, columns.size());
  for (const ColumnView& column : columns) PutColumn(column, bytes);
}

bool GetRows(std::string_view bytes, Arena* arena, std::vector<ColumnView>* columns, size_t* rows) {
  constexpr uint64_t kRowsMax = uint64_t{1} << 32;
  uint64_t row_count = 0;
  uint64_t column_count = 0;
  if (!GetVarint(&bytes, &row_count) || row_count > kRowsMax) return false;
  if (!GetVarint(&bytes, &column_count) || 2 * column_count > bytes.size()) return false;
  columns->clear();
  for (uint64_t i = 0; i < column_count; ++i) {
    const std::optional<ColumnView> column = GetColumn(&bytes, row_count, arena);
    if (!column.has_value()) return false;
    columns->push_back(*column);
  }
  *rows = row_count;
  return bytes.empty();
}

}  // namespace sonde::sql
