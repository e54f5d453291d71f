// Casts of arrays, structs and maps, value by value of those inside.
#pragma once

#include "sql/function/call.h"
#include "sql/value/type.h"

namespace sonde::sql {

// Null: there is no such cast.
Kernel FindNestedCast(const Type& from, const Type& to);

}  // namespace sonde::sql
