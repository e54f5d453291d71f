#include "sql/cast/cast.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "sql/cast/cast_format.h"
#include "sql/cast/cast_proto.h"
#include "sql/cast/cast_scalar.h"
#include "sql/function/column_of_datums.h"
#include "sql/value/value.h"

namespace sonde::sql {
namespace {

absl::Status Within(std::string_view where, const absl::Status& why) {
  return {why.code(), fmt::format("Error casting {}: {}", where, std::string(why.message()))};
}

struct Types {
  const Type& from;
  const Type& to;
};

absl::StatusOr<Datum> CastDatum(Call& call, const Types& types, const Datum& value, bool is_safe);

// Values that hold no others.  The error is that of the value at `failed`.
absl::StatusOr<absl::Span<const Datum>> CastScalars(Call& call, const Types& types,
                                                    absl::Span<const Datum> values, size_t* failed) {
  const std::vector<Type> from = {types.from};
  Call::Site site;
  site.argument_types = &from;
  site.result_type = &types.to;
  Call inside(&call.facts(), &site, call.arena(), values.size());
  const ColumnView argument = ColumnOfDatums(types.from, values, call.arena());
  const ColumnView result = FindCast(types.from, types.to)(inside, {&argument, 1});
  *failed = inside.failed_row();
  if (!inside.status().ok()) return inside.status();
  Datum* const results = call.arena()->New<Datum>(values.size());
  for (size_t i = 0; i < values.size(); ++i) results[i] = DatumAt(result, i);
  return absl::MakeConstSpan(results, values.size());
}

// Values of one type.  The error is that of the value at `failed`.
absl::StatusOr<absl::Span<const Datum>> CastAll(Call& call, const Types& types,
                                                absl::Span<const Datum> values, size_t* failed) {
  if (ColumnTypeOf(types.from) != ColumnType::kList) return CastScalars(call, types, values, failed);
  Datum* const results = call.arena()->New<Datum>(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    *failed = i;
    const absl::StatusOr<Datum> result = CastDatum(call, types, values[i], /*is_safe=*/false);
    if (!result.ok()) return result.status();
    results[i] = *result;
  }
  return absl::MakeConstSpan(results, values.size());
}

absl::StatusOr<Datum> CastArray(Call& call, const Types& types, const Datum& value) {
  size_t failed = 0;
  const auto items = CastAll(call, {types.from.element(), types.to.element()}, value.list(), &failed);
  if (!items.ok()) return Within(fmt::format("element at index {} in ARRAY", failed), items.status());
  return Datum::List(*items);
}

absl::StatusOr<Datum> CastStruct(Call& call, const Types& types, const Datum& value, bool is_safe) {
  const auto& to = types.to.fields();
  Datum* const fields = call.arena()->New<Datum>(to.size());
  for (size_t i = 0; i < to.size(); ++i) {
    const absl::StatusOr<Datum> field =
        CastDatum(call, {types.from.fields()[i].type, to[i].type}, value.items[i], is_safe);
    if (field.ok()) {
      fields[i] = *field;
    } else if (is_safe) {
      fields[i] = Datum::Missing();
    } else {
      const std::string where = to[i].name.empty() ? fmt::format("field at index {} in STRUCT", i)
                                                   : fmt::format("field '{}' in STRUCT", to[i].name);
      return Within(where, field.status());
    }
  }
  return Datum::List({fields, to.size()});
}

absl::StatusOr<Datum> CastMap(Call& call, const Types& types, const Datum& value) {
  const size_t count = value.size / 2;
  std::vector<Datum> keys;
  std::vector<Datum> values;
  for (size_t i = 0; i < count; ++i) {
    keys.push_back(value.items[2 * i]);
    values.push_back(value.items[2 * i + 1]);
  }
  size_t failed = 0;
  const auto new_keys = CastAll(call, {types.from.key(), types.to.key()}, keys, &failed);
  if (!new_keys.ok()) return new_keys.status();
  const auto new_values = CastAll(call, {types.from.value(), types.to.value()}, values, &failed);
  if (!new_values.ok()) return new_values.status();
  // Keys of another type may have another order.
  std::vector<size_t> order(count);
  for (size_t i = 0; i < count; ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return Compare((*new_keys)[a], (*new_keys)[b]) < 0; });
  Datum* const entries = call.arena()->New<Datum>(2 * count);
  for (size_t i = 0; i < count; ++i) {
    entries[2 * i] = (*new_keys)[order[i]];
    entries[2 * i + 1] = (*new_values)[order[i]];
    if (i > 0 && Compare(entries[2 * i - 2], entries[2 * i]) == 0) {
      return absl::OutOfRangeError("Duplicate map keys are not allowed");
    }
  }
  return Datum::List({entries, 2 * count});
}

absl::StatusOr<Datum> CastDatum(Call& call, const Types& types, const Datum& value, bool is_safe) {
  if (!value.is_there || types.from == types.to) return value;
  switch (types.from.kind()) {
    case TypeKind::kArray:
      return CastArray(call, types, value);
    case TypeKind::kStruct:
      return CastStruct(call, types, value, is_safe);
    case TypeKind::kMap:
      return CastMap(call, types, value);
    default:
      break;
  }
  size_t failed = 0;
  const auto result = CastScalars(call, types, {&value, 1}, &failed);
  if (!result.ok()) return result.status();
  return (*result)[0];
}

ColumnView CastNested(Call& call, absl::Span<const ColumnView> arguments) {
  const Types types{call.argument_type(0), call.result_type()};
  const size_t rows = arguments[0].is_constant() ? 1 : call.rows();
  Datum* const results = call.arena()->New<Datum>(rows);
  uint8_t* const there = call.arena()->New<uint8_t>(rows);
  for (size_t row = 0; row < rows; ++row) {
    const absl::StatusOr<Datum> result = CastDatum(call, types, DatumAt(arguments[0], row), call.is_safe());
    if (!result.ok()) call.Fail(row, result.status());
    results[row] = result.ok() ? *result : Datum::Missing();
    there[row] = results[row].is_there ? 1 : 0;
  }
  const ColumnView column = ColumnView::OfLists({results, rows}, there);
  return arguments[0].is_constant() ? ColumnView::Constant(column, call.rows()) : column;
}

bool IsCastable(const Type& from, const Type& to) { return FindCast(from, to) != nullptr; }

bool FieldsAreCastable(const Type& from, const Type& to) {
  if (from.fields().size() != to.fields().size()) return false;
  for (size_t i = 0; i < from.fields().size(); ++i) {
    if (!IsCastable(from.fields()[i].type, to.fields()[i].type)) return false;
  }
  return true;
}

Kernel FindNestedCast(const Type& from, const Type& to) {
  if (from.kind() != to.kind()) return nullptr;
  bool is_castable = false;
  if (from.Is(TypeKind::kArray)) is_castable = IsCastable(from.element(), to.element());
  if (from.Is(TypeKind::kStruct)) is_castable = FieldsAreCastable(from, to);
  if (from.Is(TypeKind::kMap))
    is_castable = IsCastable(from.key(), to.key()) && IsCastable(from.value(), to.value());
  return is_castable ? CastNested : nullptr;
}

}  // namespace

Kernel FindCast(const Type& from, const Type& to) {
  const bool is_nested = ColumnTypeOf(from) == ColumnType::kList || ColumnTypeOf(to) == ColumnType::kList;
  if (is_nested) return FindNestedCast(from, to);
  const bool is_named = from.Is(TypeKind::kProto) || from.Is(TypeKind::kEnum);
  if (is_named && from.kind() == to.kind() && !(from == to)) return nullptr;
  const Kernel kernel = FindProtoCast(from.kind(), to.kind());
  return kernel != nullptr ? kernel : FindScalarCast(from.kind(), to.kind());
}

Kernel FindFormatCast(const Type& from, const Type& to) { return FindCastWithFormat(from.kind(), to.kind()); }

}  // namespace sonde::sql
