// How far a value is from a type: what chooses between the overloads of a function.
//
// Source: GoogleSQL's conversion rules; the numbers are such that the same overloads are chosen.
#pragma once

#include <optional>

#include "sql/function/signature.h"
#include "sql/value/type.h"

namespace sonde::sql {

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
