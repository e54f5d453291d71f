// Which values become values of another type without a CAST, and how far they are from it, which chooses between the overloads
// of a function.
//
// Source: GoogleSQL's coercion rules: docs/conversion_rules.  The numbers are such that the same overloads are chosen.
// Threads: all functions may be called at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "sql/value/type.h"
#include "sql/value/value.h"

namespace sonde::sql {

// What is known of an argument of a call before a signature is chosen.
struct ArgumentFacts {
  enum class Kind : uint8_t { kValue, kPart, kInterval, kLambda };
  Kind kind = Kind::kValue;
  Type type;                     // of kValue
  bool is_untyped_null = false;  // NULL, or an empty array [], that goes with any type
  bool is_parameter = false;
  std::optional<Value>
      literal;  // a literal coerces to more types than other values; an array of literals, too
  size_t lambda_parameters = 0;            // of kLambda
  std::vector<ArgumentFacts> fields = {};  // of a struct whose fields are written out: each by itself
};

// Whether a value of `from` becomes one of `to` without a CAST, by GoogleSQL's rules for values, literals and
// parameters; and how far the types are apart (0: they are the same).
std::optional<int> CoercionCost(const ArgumentFacts& from, const Type& to);
// The type to which all of these coerce (of CASE, of arrays, of UNION); nothing: there is none.
std::optional<Type> CommonSupertype(absl::Span<const ArgumentFacts> values);

// What coercing one or more arguments takes.  Fewer values that are no literals count most, then how far these are from
// their types, then the literals.
struct Coercion {
  int values = 0;
  int values_distance = 0;
  int literals = 0;
  int literals_distance = 0;

  void Add(const Coercion& other);
  // One number, in that order; 0: nothing is coerced.
  int Cost() const;
};

// Nothing: the argument, a value, does not coerce.
std::optional<Coercion> CoercionTo(const ArgumentFacts& argument, const Type& to);

// The facts of a value of which only the type is known.
ArgumentFacts PlainFacts(Type type);
// The facts of an element of an array.
ArgumentFacts ElementFacts(const ArgumentFacts& array);
// The facts of a field of a struct.
ArgumentFacts FieldFacts(const ArgumentFacts& of_struct, size_t field);

}  // namespace sonde::sql
