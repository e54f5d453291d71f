// Casts between types that hold no others.
#pragma once

#include "sql/function/call.h"
#include "sql/value/type.h"

namespace sonde::sql {

// Null: there is no such cast.
Kernel FindScalarCast(TypeKind from, TypeKind to);

}  // namespace sonde::sql
