// From mutations in the order in which a client gave them to the delta that an engine applies.
//
// The order is resolved here, once, above every engine: a put that a later mutation of the same row deletes
// or overwrites is gone from the delta; a delete followed by a put of the same cell is a delta with both.
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
//   NOT_FOUND         a family that the table does not have; DeleteFromRow where it has none
//   INVALID_ARGUMENT  SetCell on an aggregate family or AddToCell on another; an input of another type; a
//                     timestamp, or an end of a range of them, finer than the table's granularity; a state
//                     that is not 8 bytes, or no sketch
// Cost: O(n log n) in the number of mutations, and linear in the families of the table if one of them is
// DeleteFromRow; no sorting when they come sorted.
absl::Status Normalize(const TableSchema& schema, std::string_view row_key,
                       absl::Span<const Mutation> mutations, int64_t now_micros, RowDelta* delta);

// Whether Normalize has refused a mutation of the wrong kind for its family: of a MutateRows, all entries
// fail then.
bool IsTypeMismatch(const absl::Status& status);

// `now_micros` as a cell of this table may carry it.
int64_t TruncateToGranularity(const TableSchema& schema, int64_t now_micros);

}  // namespace sonde
