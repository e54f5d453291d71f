// Whether two values are equal, as = tells.
//
// Compare (value.h) orders NULL and NaN, and takes them as equal to themselves; = does not.
#pragma once

#include <optional>

#include "model/datum.h"

namespace sonde::sql {

// Nothing: NULL.  Structs are equal if all fields are, and not if one is not; else, if one is NULL, nobody knows.
std::optional<bool> Equals(const Datum& a, const Datum& b);
inline bool AreEqual(const Datum& a, const Datum& b) { return Equals(a, b).value_or(false); }

}  // namespace sonde::sql
