// Arrays that are made of the elements of others, and their elements.
#include <algorithm>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "model/column.h"
#include "sql/function/column_of_datums.h"
#include "sql/function/function_list.h"
#include "sql/function/row_kernel.h"
#include "sql/list/array_families.h"

namespace sonde::sql {
namespace {

int64_t Length(Call&, List array) { return static_cast<int64_t>(array.size()); }

absl::StatusOr<List> Reverse(Call& call, List array) {
  const absl::StatusOr<Datum*> items = NewItems(call, array.size());
  if (!items.ok()) return items.status();
  std::reverse_copy(array.begin(), array.end(), *items);
  return List(*items, array.size());
}

absl::StatusOr<List> FirstN(Call&, List array, int64_t count) {
  if (count < 0) return absl::OutOfRangeError("The n argument to ARRAY_FIRST_N must not be negative.");
  return array.subspan(0, std::min<uint64_t>(count, array.size()));
}
absl::StatusOr<List> LastN(Call&, List array, int64_t count) {
  if (count < 0) return absl::OutOfRangeError("The n argument to ARRAY_LAST_N must not be negative.");
  return array.subspan(array.size() - std::min<uint64_t>(count, array.size()));
}

// Both ends are included; negative ones are counted from the end of the array.
List Slice(Call&, List array, int64_t first, int64_t last) {
  const auto size = static_cast<int64_t>(array.size());
  const auto place = [size](int64_t offset) {
    return offset < 0 ? std::max<int64_t>(offset, -size - 1) + size : offset;
  };
  const int64_t start = std::max<int64_t>(place(first), 0);
  const int64_t end = std::min(place(last), size - 1);
  if (start > end) return {};
  return array.subspan(start, end - start + 1);
}

// The items of the arrays one after the other.
ColumnView Concat(Call& call, absl::Span<const ColumnView> arguments) {
  const size_t rows = call.rows();
  auto* const arrays = call.arena()->New<Datum>(rows);
  auto* const there = call.arena()->New<uint8_t>(rows);
  for (size_t row = 0; row < rows; ++row) {
    arrays[row] = Datum::Missing();
    there[row] = 0;
    size_t count = 0;
    bool all_there = true;
    for (const ColumnView& argument : arguments) {
      all_there = all_there && argument.IsThere(row);
      if (all_there) count += argument.lists()[argument.PlaceOf(row)].size;
    }
    if (!all_there) continue;
    const absl::StatusOr<Datum*> items = NewItems(call, count);
    if (!items.ok()) {
      call.Fail(row, items.status());
      continue;
    }
    Datum* end = *items;
    for (const ColumnView& argument : arguments) {
      const List part = argument.lists()[argument.PlaceOf(row)].list();
      end = std::copy(part.begin(), part.end(), end);
    }
    arrays[row] = Datum::List({*items, count});
    there[row] = 1;
  }
  return ColumnView::OfLists({arrays, rows}, there);
}

// The elements as a column of their own type.  A row of an empty array fails.
ColumnView Ends(Call& call, const ColumnView& arrays, bool is_last) {
  const size_t rows = call.rows();
  auto* const elements = call.arena()->New<Datum>(rows);
  for (size_t row = 0; row < rows; ++row) {
    elements[row] = Datum::Missing();
    if (!arrays.IsThere(row)) continue;
    const List array = arrays.lists()[arrays.PlaceOf(row)].list();
    if (!array.empty()) {
      elements[row] = is_last ? array.back() : array.front();
    } else {
      call.Fail(
          row, absl::OutOfRangeError(is_last ? "ARRAY_LAST cannot get the last element of an empty array"
                                             : "ARRAY_FIRST cannot get the first element of an empty array"));
    }
  }
  return ColumnOfDatums(call.result_type(), {elements, rows}, call.arena());
}
ColumnView First(Call& call, absl::Span<const ColumnView> arguments) {
  return Ends(call, arguments[0], false);
}
ColumnView Last(Call& call, absl::Span<const ColumnView> arguments) { return Ends(call, arguments[0], true); }

// Elements that are NULL are left out, unless there is a text for them.
absl::StatusOr<std::string_view> Join(Call& call, List array, std::string_view delimiter,
                                      const std::string_view* for_null) {
  const auto is_left_out = [for_null](const Datum& item) { return !item.is_there && for_null == nullptr; };
  const auto text_of = [for_null](const Datum& item) { return item.is_there ? item.bytes() : *for_null; };
  size_t bytes = 0;
  size_t count = 0;
  for (const Datum& item : array) {
    if (is_left_out(item)) continue;
    bytes += (count++ > 0 ? delimiter.size() : 0) + text_of(item).size();
  }
  if (absl::Status status = AskForRoom(call, bytes); !status.ok()) return status;
  auto* const text = call.arena()->New<char>(bytes);
  char* end = text;
  count = 0;
  for (const Datum& item : array) {
    if (is_left_out(item)) continue;
    if (count++ > 0) end = std::copy(delimiter.begin(), delimiter.end(), end);
    const std::string_view part = text_of(item);
    end = std::copy(part.begin(), part.end(), end);
  }
  return std::string_view(text, bytes);
}
absl::StatusOr<std::string_view> ToString(Call& call, List array, std::string_view delimiter) {
  return Join(call, array, delimiter, nullptr);
}
absl::StatusOr<std::string_view> ToStringWithNull(Call& call, List array, std::string_view delimiter,
                                                  std::string_view for_null) {
  return Join(call, array, delimiter, &for_null);
}

}  // namespace

std::vector<Function> ArrayPieceFunctions() {
  std::vector<Function> functions;
  functions.push_back({.name = "ARRAY_CONCAT",
                       .overloads = {Scalar("(ARRAY<T1>, ARRAY<T1>...) -> ARRAY<T1>", Concat)},
                       .meaning = "The elements of all arrays, one array after the other.",
                       .examples = {"ARRAY_CONCAT([1, 2], [3])"}});
  functions.push_back({.name = "ARRAY_FIRST",
                       .overloads = {Scalar("(ARRAY<T1>) -> T1", First)},
                       .meaning = "The first element.  An empty array is an error.",
                       .examples = {"ARRAY_FIRST(['a', 'b'])"}});
  functions.push_back({.name = "ARRAY_LAST",
                       .overloads = {Scalar("(ARRAY<T1>) -> T1", Last)},
                       .meaning = "The last element.  An empty array is an error.",
                       .examples = {"ARRAY_LAST(['a', 'b'])"}});
  functions.push_back({.name = "ARRAY_FIRST_N",
                       .overloads = {Scalar("(ARRAY<T1>, INT64) -> ARRAY<T1>", RowKernel<FirstN>)},
                       .meaning = "The first elements, as many as there are.",
                       .examples = {"ARRAY_FIRST_N([1, 2, 3], 2)"}});
  functions.push_back({.name = "ARRAY_LAST_N",
                       .overloads = {Scalar("(ARRAY<T1>, INT64) -> ARRAY<T1>", RowKernel<LastN>)},
                       .meaning = "The last elements, as many as there are.",
                       .examples = {"ARRAY_LAST_N([1, 2, 3], 2)"}});
  functions.push_back({.name = "ARRAY_LENGTH",
                       .overloads = {Scalar("(ARRAY<T1>) -> INT64", RowKernel<Length>)},
                       .meaning = "How many elements an array has.",
                       .examples = {"ARRAY_LENGTH([1, NULL, 3])"}});
  functions.push_back({.name = "ARRAY_REVERSE",
                       .overloads = {Scalar("(ARRAY<T1>) -> ARRAY<T1>", RowKernel<Reverse>)},
                       .meaning = "The elements from the last to the first.",
                       .examples = {"ARRAY_REVERSE([1, 2, 3])"}});
  functions.push_back(
      {.name = "ARRAY_SLICE",
       .overloads = {Scalar("(ARRAY<T1>, INT64, INT64) -> ARRAY<T1>", RowKernel<Slice>)},
       .meaning = "The elements from one offset to another, both included.  Negative offsets count from "
                  "the end: -1 is the last element.",
       .examples = {"ARRAY_SLICE([1, 2, 3, 4], 1, -2)"}});
  functions.push_back(
      {.name = "ARRAY_TO_STRING",
       .overloads = {Scalar("(ARRAY<STRING>, STRING) -> STRING", RowKernel<ToString>),
                     Scalar("(ARRAY<STRING>, STRING, STRING) -> STRING", RowKernel<ToStringWithNull>),
                     Scalar("(ARRAY<BYTES>, BYTES) -> BYTES", RowKernel<ToString>),
                     Scalar("(ARRAY<BYTES>, BYTES, BYTES) -> BYTES", RowKernel<ToStringWithNull>)},
       .meaning =
           "The elements in one text, with a delimiter between.  Elements that are NULL are left out, or "
           "written as the third argument.",
       .examples = {"ARRAY_TO_STRING(['a', NULL, 'b'], ', ')",
                    "ARRAY_TO_STRING(['a', NULL], ', ', 'none')"}});
  return functions;
}

}  // namespace sonde::sql
