// Values as bytes, for states of aggregates that hold values.
//
// Shape: a byte 0 of NULL, or 1 and: 8 bytes of a number; a length and bytes of a string; a count and the values of a list.
//   A type says what the values are, so values of one type can stand one after the other.
#pragma once

#include <string>
#include <string_view>

#include "base/arena.h"
#include "model/datum.h"
#include "sql/value/type.h"

namespace sonde::sql {

void AppendDatumBytes(const Type& type, const Datum& datum, std::string* bytes);
// Takes a value from the front.  Strings view the bytes, lists lie in the arena.  False: the bytes are none of the type.
bool TakeDatumBytes(const Type& type, std::string_view* bytes, Arena* arena, Datum* datum);

}  // namespace sonde::sql
