#include "sql/function/coercion.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <utility>
#include <vector>

#include "sql/function/utf8.h"
#include "sql/value/value.h"

namespace sonde::sql {
namespace {

// The place of a kind on the line on which distances are measured.
int PlaceOf(TypeKind kind) {
  switch (kind) {
    case TypeKind::kEnum:
      return 1;
    case TypeKind::kTimestamp:
      return 8;
    case TypeKind::kDate:
      return 9;
    case TypeKind::kBool:
      return 10;
    case TypeKind::kInt64:
      return 14;
    case TypeKind::kFloat64:
      return 17;
    case TypeKind::kFloat32:
      return 18;
    case TypeKind::kString:
      return 19;
    case TypeKind::kProto:
      return 21;
    case TypeKind::kStruct:
      return 22;
    case TypeKind::kArray:
      return 23;
    case TypeKind::kMap:
      return 24;
    case TypeKind::kBytes:
      return 38;
  }
  return 0;
}

// A literal of a type that others are written as; DATE '2020-01-01' is of its type and no other.
bool IsOpenLiteral(const ArgumentFacts& argument) {
  return argument.literal.has_value() && !argument.type.Is(TypeKind::kDate) &&
         !argument.type.Is(TypeKind::kTimestamp);
}

// Whether any value of `from` becomes one of `to`.
bool ValuesCoerce(const Type& from, const Type& to) {
  return from == to || (to.Is(TypeKind::kFloat64) && from.IsNumeric());
}

// Whether a literal of a scalar type becomes one of `to`.
bool LiteralCoerces(const Value& literal, const Type& to) {
  switch (literal.type().kind()) {
    case TypeKind::kInt64:
      return to.IsFloat() || to.Is(TypeKind::kEnum);
    case TypeKind::kFloat64:
      return to.Is(TypeKind::kFloat32);
    case TypeKind::kString:
      if (to.Is(TypeKind::kBytes)) return literal.is_null() || IsAscii(literal.datum().bytes());
      return to.Is(TypeKind::kDate) || to.Is(TypeKind::kTimestamp) || to.Is(TypeKind::kEnum) ||
             to.Is(TypeKind::kProto);
    case TypeKind::kBytes:
      return to.Is(TypeKind::kProto);
    default:
      return false;
  }
}

bool ParameterCoerces(const Type& from, const Type& to) {
  switch (from.kind()) {
    case TypeKind::kInt64:
      return to.Is(TypeKind::kEnum);
    case TypeKind::kString:
      return to.Is(TypeKind::kDate) || to.Is(TypeKind::kTimestamp) || to.Is(TypeKind::kEnum) ||
             to.Is(TypeKind::kProto);
    case TypeKind::kBytes:
      return to.Is(TypeKind::kProto);
    default:
      return false;
  }
}

bool Coerces(const ArgumentFacts& argument, const Type& to);

bool StructCoerces(const ArgumentFacts& argument, const Type& to) {
  const auto& fields = argument.type.fields();
  if (!to.Is(TypeKind::kStruct) || fields.size() != to.fields().size()) return false;
  for (size_t i = 0; i < fields.size(); ++i) {
    if (!Coerces(FieldFacts(argument, i), to.fields()[i].type)) return false;
  }
  return true;
}

bool ArrayCoerces(const ArgumentFacts& argument, const Type& to) {
  if (!to.Is(TypeKind::kArray)) return false;
  return (argument.literal.has_value() || argument.is_parameter) &&
         Coerces(ElementFacts(argument), to.element());
}

bool Coerces(const ArgumentFacts& argument, const Type& to) {
  if (argument.type == to) return true;
  if (argument.is_untyped_null) return !argument.type.Is(TypeKind::kArray) || to.Is(TypeKind::kArray);
  if (argument.type.Is(TypeKind::kStruct)) return StructCoerces(argument, to);
  if (argument.type.Is(TypeKind::kArray)) return ArrayCoerces(argument, to);
  if (ValuesCoerce(argument.type, to)) return true;
  if (argument.literal.has_value()) return LiteralCoerces(*argument.literal, to);
  return argument.is_parameter && ParameterCoerces(argument.type, to);
}

// --- Common supertypes.

std::optional<Type> Supertype(const std::vector<ArgumentFacts>& values, bool parameters_are_literals);

// Values that are not untyped, whose types differ; the first has the names of fields.
std::optional<Type> StructSupertype(const std::vector<ArgumentFacts>& values) {
  const auto& first = values[0].type.fields();
  for (const ArgumentFacts& value : values) {
    if (!value.type.Is(TypeKind::kStruct) || value.type.fields().size() != first.size()) return std::nullopt;
  }
  std::vector<Type::Field> fields;
  for (size_t i = 0; i < first.size(); ++i) {
    std::vector<ArgumentFacts> inside;
    for (const ArgumentFacts& value : values) inside.push_back(FieldFacts(value, i));
    std::optional<Type> type = CommonSupertype(inside);
    if (!type.has_value()) return std::nullopt;
    fields.push_back({first[i].name, std::move(*type)});
  }
  return Type::Struct(std::move(fields));
}

std::optional<Type> ArraySupertype(const std::vector<ArgumentFacts>& values, bool parameters_are_literals) {
  std::vector<ArgumentFacts> elements;
  for (const ArgumentFacts& value : values) {
    if (!value.type.Is(TypeKind::kArray)) return std::nullopt;
    elements.push_back(ElementFacts(value));
  }
  std::optional<Type> element = Supertype(elements, parameters_are_literals);
  if (!element.has_value()) return std::nullopt;
  Type array = Type::Array(std::move(*element));
  if (!std::all_of(values.begin(), values.end(), [&](const auto& value) { return Coerces(value, array); })) {
    return std::nullopt;
  }
  return array;
}

// The types which the supertype must be wide enough for whatever the values are.
std::vector<Type> FixedTypes(const std::vector<ArgumentFacts>& values, bool parameters_are_literals) {
  std::vector<Type> fixed;
  for (const ArgumentFacts& value : values) {
    if (IsOpenLiteral(value) || (parameters_are_literals && value.is_parameter)) continue;
    fixed.push_back(value.type);
  }
  if (!fixed.empty()) return fixed;
  // Literals only: of texts those of BYTES count, of others all.
  const bool all_texts =
      std::all_of(values.begin(), values.end(), [](const auto& value) { return value.type.IsText(); });
  for (const ArgumentFacts& value : values) {
    if (!all_texts || value.type.Is(TypeKind::kBytes)) fixed.push_back(value.type);
  }
  return fixed;
}

std::optional<Type> ScalarSupertype(const std::vector<ArgumentFacts>& values, bool parameters_are_literals) {
  const std::vector<Type> fixed = FixedTypes(values, parameters_are_literals);
  const bool has_float =
      std::any_of(values.begin(), values.end(), [](const auto& value) { return value.type.IsFloat(); });
  std::vector<Type> candidates = {fixed[0]};
  if (fixed[0].IsNumeric() && !fixed[0].Is(TypeKind::kFloat64)) candidates.emplace_back(TypeKind::kFloat64);
  for (Type& candidate : candidates) {
    if (candidate.Is(TypeKind::kFloat64) && !has_float) continue;
    const bool takes_all = std::all_of(fixed.begin(), fixed.end(),
                                       [&](const Type& type) { return ValuesCoerce(type, candidate); });
    if (!takes_all) continue;
    const bool takes_literals = std::all_of(values.begin(), values.end(), [&](const ArgumentFacts& value) {
      if (IsOpenLiteral(value)) return Coerces(value, candidate);
      if (!parameters_are_literals || !value.is_parameter) return true;
      return value.type == candidate || ParameterCoerces(value.type, candidate);
    });
    if (takes_literals) return std::move(candidate);
  }
  return std::nullopt;
}

std::optional<Type> Supertype(const std::vector<ArgumentFacts>& values, bool parameters_are_literals) {
  const Type& first = values[0].type;
  if (std::all_of(values.begin(), values.end(), [&](const auto& value) { return value.type == first; })) {
    return first;
  }
  const auto any_is = [&](TypeKind kind) {
    return std::any_of(values.begin(), values.end(), [&](const auto& value) { return value.type.Is(kind); });
  };
  if (any_is(TypeKind::kStruct)) {
    return first.Is(TypeKind::kStruct) ? StructSupertype(values) : std::nullopt;
  }
  if (any_is(TypeKind::kArray)) return ArraySupertype(values, parameters_are_literals);
  return ScalarSupertype(values, parameters_are_literals);
}

}  // namespace

void Coercion::Add(const Coercion& other) {
  values += other.values;
  values_distance += other.values_distance;
  literals += other.literals;
  literals_distance += other.literals_distance;
}

int Coercion::Cost() const {
  constexpr int kValuesMax = 31;
  constexpr int kDistanceMax = 255;
  constexpr int kLiteralsMax = 63;
  int cost = std::min(values, kValuesMax);
  cost = cost * (kDistanceMax + 1) + std::min(values_distance, kDistanceMax);
  cost = cost * (kLiteralsMax + 1) + std::min(literals, kLiteralsMax);
  return cost * (kDistanceMax + 1) + std::min(literals_distance, kDistanceMax);
}

std::optional<Coercion> CoercionTo(const ArgumentFacts& argument, const Type& to) {
  if (!Coerces(argument, to)) return std::nullopt;
  Coercion coercion;
  if (argument.type == to) return coercion;
  const int distance = std::abs(PlaceOf(argument.type.kind()) - PlaceOf(to.kind()));
  if (argument.is_untyped_null || argument.literal.has_value()) {
    const bool is_null = argument.is_untyped_null || argument.literal->is_null();
    coercion.literals = 1;
    coercion.literals_distance = is_null ? 1 : distance;
  } else {
    coercion.values = 1;
    coercion.values_distance = distance;
  }
  return coercion;
}

ArgumentFacts PlainFacts(Type type) {
  ArgumentFacts facts;
  facts.type = std::move(type);
  return facts;
}

ArgumentFacts ElementFacts(const ArgumentFacts& array) {
  ArgumentFacts facts = PlainFacts(array.type.element());
  facts.is_parameter = array.is_parameter;
  if (!array.literal.has_value()) return facts;
  facts.literal = Value::Null(facts.type);
  // The first element that no other type than its own takes stands for all of them.
  for (const Datum& item : array.literal->datum().list()) {
    if (item.is_there && facts.type.Is(TypeKind::kString) && !IsAscii(item.bytes())) {
      facts.literal = Value(facts.type, item);
      break;
    }
  }
  return facts;
}

ArgumentFacts FieldFacts(const ArgumentFacts& of_struct, size_t field) {
  if (!of_struct.fields.empty()) return of_struct.fields[field];
  ArgumentFacts facts = PlainFacts(of_struct.type.fields()[field].type);
  facts.is_parameter = of_struct.is_parameter;
  if (of_struct.literal.has_value()) {
    const Datum& datum = of_struct.literal->datum();
    facts.literal = Value(facts.type, datum.is_there ? datum.items[field] : Datum::Missing());
    // A NULL among literals was written without a type.
    facts.is_untyped_null = facts.literal->is_null();
  }
  return facts;
}

std::optional<int> CoercionCost(const ArgumentFacts& from, const Type& to) {
  const std::optional<Coercion> coercion = CoercionTo(from, to);
  if (!coercion.has_value()) return std::nullopt;
  return coercion->Cost();
}

std::optional<Type> CommonSupertype(absl::Span<const ArgumentFacts> values) {
  std::vector<ArgumentFacts> typed;
  bool has_empty_array = false;
  for (const ArgumentFacts& value : values) {
    if (!value.is_untyped_null) {
      typed.push_back(value);
    } else if (value.type.Is(TypeKind::kArray)) {
      has_empty_array = true;
    }
  }
  if (typed.empty()) return has_empty_array ? Type::Array(TypeKind::kInt64) : Type(TypeKind::kInt64);
  std::optional<Type> type = Supertype(typed, /*parameters_are_literals=*/false);
  if (!type.has_value()) type = Supertype(typed, /*parameters_are_literals=*/true);
  if (type.has_value() && has_empty_array && !type->Is(TypeKind::kArray)) return std::nullopt;
  return type;
}

}  // namespace sonde::sql
