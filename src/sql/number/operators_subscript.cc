#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "sql/function/column_of_datums.h"
#include "sql/function/function_list.h"
#include "sql/number/operator_families.h"
#include "sql/value/value.h"

namespace sonde::sql {
namespace {

// The element at a place, the first of which is kFirst.
template <int64_t kFirst, bool kSafe>
ColumnView ArrayAt(Call& call, absl::Span<const ColumnView> arguments) {
  const ColumnView& arrays = arguments[0];
  const ColumnView& places = arguments[1];
  auto* const results = call.arena()->New<Datum>(call.rows());
  for (size_t row = 0; row < call.rows(); ++row) {
    results[row] = Datum::Missing();
    if (!arrays.IsThere(row) || !places.IsThere(row)) continue;
    const Datum& array = arrays.lists()[arrays.PlaceOf(row)];
    const int64_t place = places.ints()[places.PlaceOf(row)];
    if (place >= kFirst && place - kFirst < static_cast<int64_t>(array.size)) {
      results[row] = array.items[place - kFirst];
    } else if (!kSafe) {
      call.Fail(row, absl::OutOfRangeError(fmt::format("Array index {} is out of bounds", place)));
    }
  }
  return ColumnOfDatums(call.result_type(), {results, call.rows()}, call.arena());
}

// The value of a key, or NULL.
Datum ValueOfKey(const Datum& map, const Datum& key) {
  size_t low = 0;
  size_t high = map.size / 2;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    const int order = Compare(map.items[2 * middle], key);
    if (order == 0) return map.items[2 * middle + 1];
    (order < 0 ? low : high) = order < 0 ? middle + 1 : middle;
  }
  return Datum::Missing();
}

ColumnView MapAt(Call& call, absl::Span<const ColumnView> arguments) {
  const ColumnView& maps = arguments[0];
  auto* const results = call.arena()->New<Datum>(call.rows());
  for (size_t row = 0; row < call.rows(); ++row) {
    const Datum key = DatumAt(arguments[1], row);
    const bool is_there = maps.IsThere(row) && key.is_there;
    results[row] = is_there ? ValueOfKey(maps.lists()[maps.PlaceOf(row)], key) : Datum::Missing();
  }
  return ColumnOfDatums(call.result_type(), {results, call.rows()}, call.arena());
}

Function Subscript(std::string name, Kernel kernel, std::string meaning, std::string example) {
  return {.name = std::move(name),
          .overloads = {Scalar("(ARRAY<T1>, INT64) -> T1", kernel)},
          .meaning = std::move(meaning),
          .examples = {std::move(example)}};
}

}  // namespace

std::vector<Function> SubscriptOperators() {
  return {
      Subscript("$array_at_offset", ArrayAt<0, false>,
                "The element of an array at a place counted from 0.  A place beyond the array is an error.",
                "['a', 'b'][OFFSET(1)]"),
      Subscript("$array_at_ordinal", ArrayAt<1, false>,
                "The element of an array at a place counted from 1.  A place beyond the array is an error.",
                "['a', 'b'][ORDINAL(1)]"),
      Subscript("$safe_array_at_offset", ArrayAt<0, true>,
                "The element of an array at a place counted from 0, or NULL beyond the array.",
                "['a', 'b'][SAFE_OFFSET(2)]"),
      Subscript("$safe_array_at_ordinal", ArrayAt<1, true>,
                "The element of an array at a place counted from 1, or NULL beyond the array.",
                "['a', 'b'][SAFE_ORDINAL(0)]"),
      {.name = "$map_at",
       .overloads = {Scalar("(MAP<T1, T2>, T1) -> T2", MapAt)},
       .meaning = "The value of a key of a map, or NULL if the map does not have the key.",
       .examples = {"cf['qualifier']"}},
  };
}

}  // namespace sonde::sql
