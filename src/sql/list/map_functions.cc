// Functions of maps: MAP_KEYS, MAP_CONTAINS_KEY, ...
//
// The items of a map are its keys and values in turn, by keys ascending.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "model/column.h"
#include "sql/function/column_of_datums.h"
#include "sql/function/function_list.h"
#include "sql/function/lambda_over_lists.h"
#include "sql/function/row_kernel.h"
#include "sql/list/array_families.h"
#include "sql/list/functions.h"
#include "sql/list/map_lookup.h"
#include "sql/text/format_text.h"
#include "sql/value/value.h"

namespace sonde::sql {
namespace {

bool IsEmpty(Call&, List map) { return map.empty(); }
int64_t Cardinality(Call&, List map) { return static_cast<int64_t>(map.size() / 2); }
bool ContainsKey(Call&, List map, std::optional<Datum> key) {
  return FindInMap(map, key.value_or(Datum::Missing())) != nullptr;
}

// Every second item.
absl::StatusOr<List> Half(Call& call, List map, size_t first) {
  const size_t count = map.size() / 2;
  const absl::StatusOr<Datum*> items = NewItems(call, count);
  if (!items.ok()) return items.status();
  for (size_t i = 0; i < count; ++i) (*items)[i] = map[2 * i + first];
  return List(*items, count);
}
absl::StatusOr<List> Keys(Call& call, List map) { return Half(call, map, 0); }
absl::StatusOr<List> Values(Call& call, List map) { return Half(call, map, 1); }

absl::StatusOr<List> ValuesSorted(Call& call, List map) {
  const absl::StatusOr<Datum*> items = NewItems(call, map.size() / 2);
  if (!items.ok()) return items.status();
  for (size_t i = 0; i < map.size() / 2; ++i) (*items)[i] = map[2 * i + 1];
  std::sort(*items, *items + map.size() / 2,
            [](const Datum& a, const Datum& b) { return Compare(a, b) < 0; });
  return List(*items, map.size() / 2);
}

// A struct views the key and the value where they are.
absl::StatusOr<List> Entries(Call& call, List map) {
  const size_t count = map.size() / 2;
  const absl::StatusOr<Datum*> items = NewItems(call, count);
  if (!items.ok()) return items.status();
  for (size_t i = 0; i < count; ++i) (*items)[i] = Datum::List(map.subspan(2 * i, 2));
  return List(*items, count);
}

// A key as errors show it: {1, "a"} for a struct, ARRAY<INT64>[1] for an array, 2020-01-31 for a date.
std::string ShownKey(const Type& type, const Datum& key) {
  std::vector<std::string> items;
  switch (type.kind()) {
    case TypeKind::kArray:
      if (!key.is_there) return fmt::format("{}(NULL)", type.ToString());
      for (const Datum& item : key.list()) items.push_back(ShownKey(type.element(), item));
      return fmt::format("{}[{}]", type.ToString(), fmt::join(items, ", "));
    case TypeKind::kStruct:
      if (!key.is_there) return "NULL";
      for (size_t i = 0; i < key.list().size(); ++i) {
        items.push_back(ShownKey(type.fields()[i].type, key.list()[i]));
      }
      return fmt::format("{{{}}}", fmt::join(items, ", "));
    case TypeKind::kDate:
    case TypeKind::kTimestamp:
      return key.is_there ? PlainText(type, key) : "NULL";
    default: {
      const bool is_float = type.Is(TypeKind::kFloat32) || type.Is(TypeKind::kFloat64);
      if (is_float && key.is_there && key.number == 0 && std::signbit(key.number)) return "-0";
      std::string text;
      AppendSql(type, key, &text);
      return text;
    }
  }
}

// The map of some pairs.  An error names the first key that was there before.
absl::StatusOr<List> FromArray(Call& call, List pairs) {
  struct Entry {
    List pair;
    size_t place = 0;
  };
  std::vector<Entry> entries;
  for (const Datum& pair : pairs) {
    if (!pair.is_there) return absl::OutOfRangeError("NULL is no entry of a map");
    entries.push_back({pair.list(), entries.size()});
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    const int order = Compare(a.pair[0], b.pair[0]);
    return order != 0 ? order < 0 : a.place < b.place;
  });
  const absl::StatusOr<Datum*> items = NewItems(call, 2 * entries.size());
  if (!items.ok()) return items.status();
  const Entry* repeated = nullptr;
  for (size_t i = 0; i < entries.size(); ++i) {
    const bool is_repeated = i > 0 && Compare(entries[i - 1].pair[0], entries[i].pair[0]) == 0;
    if (is_repeated && (repeated == nullptr || entries[i].place < repeated->place)) repeated = &entries[i];
    (*items)[2 * i] = entries[i].pair[0];
    (*items)[2 * i + 1] = entries[i].pair[1];
  }
  if (repeated == nullptr) return List(*items, 2 * entries.size());
  return absl::OutOfRangeError(
      fmt::format("Duplicate map keys are not allowed, but got multiple instances of key: {}",
                  ShownKey(call.result_type().key(), repeated->pair[0])));
}

// The value of a key, or what stands in the third argument; NULL if there is none.
ColumnView Get(Call& call, absl::Span<const ColumnView> arguments) {
  const size_t rows = call.rows();
  auto* const values = call.arena()->New<Datum>(rows);
  for (size_t row = 0; row < rows; ++row) {
    values[row] = Datum::Missing();
    if (!arguments[0].IsThere(row)) continue;
    const List map = arguments[0].lists()[arguments[0].PlaceOf(row)].list();
    const Datum* const found = FindInMap(map, DatumAt(arguments[1], row));
    if (found != nullptr) {
      values[row] = *found;
    } else if (arguments.size() > 2) {
      values[row] = DatumAt(arguments[2], row);
    }
  }
  return ColumnOfDatums(call.result_type(), {values, rows}, call.arena());
}

// Without the entries of some keys.
ColumnView Delete(Call& call, absl::Span<const ColumnView> arguments) {
  const size_t rows = call.rows();
  auto* const maps = call.arena()->New<Datum>(rows);
  auto* const there = call.arena()->New<uint8_t>(rows);
  std::vector<Datum> keys;
  for (size_t row = 0; row < rows; ++row) {
    maps[row] = Datum::Missing();
    there[row] = 0;
    if (!arguments[0].IsThere(row)) continue;
    const List map = arguments[0].lists()[arguments[0].PlaceOf(row)].list();
    keys.clear();
    for (const ColumnView& key : arguments.subspan(1)) keys.push_back(DatumAt(key, row));
    const absl::StatusOr<Datum*> items = NewItems(call, map.size());
    if (!items.ok()) {
      call.Fail(row, items.status());
      continue;
    }
    size_t count = 0;
    for (size_t i = 0; i < map.size(); i += 2) {
      const bool is_deleted =
          std::any_of(keys.begin(), keys.end(), [&](const Datum& key) { return Compare(key, map[i]) == 0; });
      if (is_deleted) continue;
      (*items)[count++] = map[i];
      (*items)[count++] = map[i + 1];
    }
    maps[row] = Datum::List({*items, count});
    there[row] = 1;
  }
  return ColumnView::OfLists({maps, rows}, there);
}

ColumnView Filter(Call& call, absl::Span<const ColumnView> arguments) {
  const size_t rows = call.rows();
  auto* const maps = call.arena()->New<Datum>(rows);
  auto* const there = call.arena()->New<uint8_t>(rows);
  std::fill_n(maps, rows, Datum::Missing());
  std::fill_n(there, rows, uint8_t{0});
  ForEachList(call, arguments[0], 1, LambdaShape::kKeyAndValue, [&](const LambdaResults& of) {
    const absl::StatusOr<Datum*> items = NewItems(call, of.items.size());
    if (!items.ok()) return call.Fail(of.row, items.status());
    size_t count = 0;
    for (size_t i = 0; i < of.items.size(); i += 2) {
      if (!of.IsTrue(i / 2)) continue;
      (*items)[count++] = of.items[i];
      (*items)[count++] = of.items[i + 1];
    }
    maps[of.row] = Datum::List({*items, count});
    there[of.row] = 1;
  });
  return ColumnView::OfLists({maps, rows}, there);
}

Function Of(std::string name, std::string_view signature, Kernel kernel, std::string meaning,
            std::string example) {
  return {.name = std::move(name),
          .overloads = {Scalar(signature, kernel)},
          .meaning = std::move(meaning),
          .examples = {std::move(example)}};
}

}  // namespace

std::vector<Function> MapFunctions() {
  std::vector<Function> functions;
  functions.push_back(Of("MAP_CARDINALITY", "(MAP<T1, T2>) -> INT64", RowKernel<Cardinality>,
                         "How many entries a map has.",
                         "MAP_CARDINALITY(MAP_FROM_ARRAY([('a', 1), ('b', 2)]))"));
  functions.push_back(Of("MAP_CONTAINS_KEY", "(MAP<T1, T2>, T1) -> BOOL", RowKernel<ContainsKey>,
                         "Whether a map has an entry for a key.",
                         "MAP_CONTAINS_KEY(MAP_FROM_ARRAY([('a', 1), ('b', 2)]), 'b')"));
  functions.push_back(Of("MAP_DELETE", "(MAP<T1, T2>, T1, T1...) -> MAP<T1, T2>", Delete,
                         "The map without the entries of some keys.",
                         "MAP_DELETE(MAP_FROM_ARRAY([('a', 1), ('b', 2)]), 'b')"));
  functions.push_back(Of("MAP_EMPTY", "(MAP<T1, T2>) -> BOOL", RowKernel<IsEmpty>,
                         "Whether a map has no entries.", "MAP_EMPTY(MAP_FROM_ARRAY([('a', 1)]))"));
  functions.push_back(Of("MAP_ENTRIES", "(MAP<T1, T2>) -> ARRAY<STRUCT<key T1, value T2>>",
                         RowKernel<Entries>, "The entries of a map as an array, by keys ascending.",
                         "MAP_ENTRIES(MAP_FROM_ARRAY([('b', 1), ('a', 2)]))"));
  functions.push_back({.name = "MAP_ENTRIES_SORTED", .alias_of = "MAP_ENTRIES"});
  functions.push_back(Of("MAP_FILTER", "(MAP<T1, T2>, (T1, T2) -> BOOL) -> MAP<T1, T2>", Filter,
                         "The entries for which a lambda of key and value is TRUE.",
                         "MAP_FILTER(MAP_FROM_ARRAY([('a', 1), ('b', 2)]), (k, v) -> v > 1)"));
  functions.push_back(Of("MAP_FROM_ARRAY", "(ARRAY<STRUCT<key T1, value T2>>) -> MAP<T1, T2>",
                         RowKernel<FromArray>,
                         "The map of an array of keys and values.  A key that comes twice is an error.",
                         "MAP_FROM_ARRAY([('b', 1), ('a', 2)])"));
  Function get = Of("MAP_GET", "(MAP<T1, T2>, T1) -> T2", Get,
                    "The value of a key, or where a map has none the third argument, or NULL.",
                    "MAP_GET(MAP_FROM_ARRAY([('a', 1)]), 'b', 0)");
  get.overloads.push_back(Scalar("(MAP<T1, T2>, T1, T2) -> T2", Get));
  functions.push_back(std::move(get));
  functions.push_back(Of("MAP_KEYS", "(MAP<T1, T2>) -> ARRAY<T1>", RowKernel<Keys>,
                         "The keys of a map, ascending.", "MAP_KEYS(MAP_FROM_ARRAY([('b', 1), ('a', 2)]))"));
  functions.push_back({.name = "MAP_KEYS_SORTED", .alias_of = "MAP_KEYS"});
  functions.push_back(Of("MAP_VALUES", "(MAP<T1, T2>) -> ARRAY<T2>", RowKernel<Values>,
                         "The values of a map, by keys ascending.",
                         "MAP_VALUES(MAP_FROM_ARRAY([('b', 1), ('a', 2)]))"));
  functions.push_back({.name = "MAP_VALUES_SORTED_BY_KEY", .alias_of = "MAP_VALUES"});
  functions.push_back(Of("MAP_VALUES_SORTED", "(MAP<T1, T2:ORDERABLE>) -> ARRAY<T2>", RowKernel<ValuesSorted>,
                         "The values of a map, ascending.",
                         "MAP_VALUES_SORTED(MAP_FROM_ARRAY([('b', 1), ('a', 2)]))"));
  return functions;
}

}  // namespace sonde::sql
