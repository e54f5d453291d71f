// CAST to and from messages and enums of schema bundles.
#pragma once

#include "sql/function/call.h"
#include "sql/value/type.h"

namespace sonde::sql {

// The kernel of CAST(from AS to), one of which is PROTO or ENUM; null: there is no such cast here.
// Errors of values: OUT_OF_RANGE.
Kernel FindProtoCast(TypeKind from, TypeKind to);

}  // namespace sonde::sql
