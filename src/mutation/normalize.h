// Turns a row's mutations, in the order in which a client gave them, into the delta that an engine applies.
//
// The order is resolved here, once, above every engine: a put that a later mutation of the row deletes or
// overwrites is not in the delta; a delete and a later put of the same cell are both in it.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "model/mutation.h"
#include "model/table_schema.h"

namespace sonde {

// Fills *delta (what it held before is gone, its memory is used again).  `now_micros` stands for
// kServerTimestamp, truncated to the table's granularity.  The delta's views point where the mutations' do.
//
// Errors, with the texts of production where they are known:
//   NOT_FOUND         a mutation names a family that the table does not have;
//                     or is DeleteFromRow, and the table has no family
//   INVALID_ARGUMENT  SetCell names an aggregate family, or AddToCell another family;
//                     an input has another type than its family;
//                     a timestamp, or an end of a range of timestamps, is finer than the table's granularity;
//                     a state is not 8 bytes, or no sketch
// Cost: O(n log n) in the number of mutations, without sorting when they come sorted; and linear in the
// families of the table if one of the mutations is DeleteFromRow.
absl::Status Normalize(const TableSchema& schema, std::string_view row_key,
                       absl::Span<const Mutation> mutations, int64_t now_micros, RowDelta* delta);

// Whether Normalize has refused a mutation of the wrong kind for its family.  All entries of a MutateRows
// fail then.
bool IsTypeMismatch(const absl::Status& status);

// Truncates `now_micros` to the granularity of the table's cells.
int64_t TruncateToGranularity(const TableSchema& schema, int64_t now_micros);

}  // namespace sonde
