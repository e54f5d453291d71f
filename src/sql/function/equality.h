// Whether two values are equal, by the rules of =: NULL makes it unknown, NaN is equal to nothing.
#pragma once

#include <cstdint>

#include "model/datum.h"

namespace sonde::sql {

enum class Truth : uint8_t { kFalse, kTrue, kUnknown };

// Values of one type.  Structs are equal by their fields: one that differs makes them differ whatever is NULL.
Truth AreEqual(const Datum& a, const Datum& b);

}  // namespace sonde::sql
