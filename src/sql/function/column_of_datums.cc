#include "sql/function/column_of_datums.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sonde::sql {
namespace {

// Missing values may have any kind; what stands in their place means nothing.
template <typename T, typename Part>
absl::Span<const T> PartsOf(absl::Span<const Datum> values, Arena* arena, Part part) {
  T* const parts = arena->New<T>(values.size());
  for (size_t i = 0; i < values.size(); ++i) parts[i] = values[i].is_there ? part(values[i]) : T();
  return {parts, values.size()};
}

}  // namespace

ColumnView ColumnOfDatums(const Type& type, absl::Span<const Datum> values, Arena* arena) {
  uint8_t* there = nullptr;
  const auto is_there = [](const Datum& value) { return value.is_there; };
  if (!std::all_of(values.begin(), values.end(), is_there)) {
    there = arena->New<uint8_t>(values.size());
    for (size_t i = 0; i < values.size(); ++i) there[i] = values[i].is_there ? 1 : 0;
  }
  switch (ColumnTypeOf(type)) {
    case ColumnType::kDouble:
      return ColumnView::OfDoubles(
          PartsOf<double>(values, arena, [](const Datum& value) { return value.number; }), there);
    case ColumnType::kBytes:
      return ColumnView::OfBytes(
          PartsOf<std::string_view>(values, arena, [](const Datum& value) { return value.bytes(); }), there);
    case ColumnType::kList:
      return ColumnView::OfLists(values, there);
    default:
      return ColumnView::OfInts(
          PartsOf<int64_t>(values, arena, [](const Datum& value) { return value.integer; }), there);
  }
}

}  // namespace sonde::sql
