// CAST: values of one type as values of another.
#pragma once

#include "sql/function/call.h"
#include "sql/value/type.h"

namespace sonde::sql {

// The kernel of CAST(from AS to), of one argument; null: there is no such cast.  Arrays and structs are cast element
// by element.  Errors of values: OUT_OF_RANGE, in GoogleSQL's words ("Bad int64 value: x").
Kernel FindCast(const Type& from, const Type& to);
// The kernel of CAST(from AS to FORMAT format [AT TIME ZONE zone]), of two or three arguments; null: there is none.
Kernel FindFormatCast(const Type& from, const Type& to);

}  // namespace sonde::sql
