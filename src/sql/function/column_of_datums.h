// A column of values that lie as datums, which kernels take.
#pragma once

#include "absl/types/span.h"
#include "base/arena.h"
#include "model/column.h"
#include "model/datum.h"
#include "sql/value/type.h"

namespace sonde::sql {

// The values, all of type `type`, as a column in the arena; lists are viewed where they are.
ColumnView ColumnOfDatums(const Type& type, absl::Span<const Datum> values, Arena* arena);

}  // namespace sonde::sql
