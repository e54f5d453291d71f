// CAST with a FORMAT: dates and timestamps by models (date_model.h), numbers by others (number_model.h), bytes as texts of digits or characters.
#pragma once

#include "sql/function/call.h"
#include "sql/value/type.h"

namespace sonde::sql {

// Null: there is no such cast.  Its kernel takes a value, a format and, of TIMESTAMP, a time zone or none.
Kernel FindCastWithFormat(TypeKind from, TypeKind to);

}  // namespace sonde::sql
