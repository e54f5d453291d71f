// Parses requests of the data API into the model's types and checks them.  Every field of every request is
// checked here, once, against model/limits.h.  Checks that depend on a table's schema are made where the
// schema is known (mutation, table).
//
// Views in the results point into the messages.
// Errors: INVALID_ARGUMENT, with production's text where it is known.
//        UNIMPLEMENTED for what is not built.
#pragma once

#include <google/bigtable/v2/bigtable.pb.h>

#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/mutation.h"
#include "model/row_range.h"
#include "table/tables.h"

namespace sonde {

absl::Status CheckRowKey(std::string_view row_key);

// INVALID_ARGUMENT: the field has a value that its enumeration lacks.  Protocol buffers let any number
// through.
absl::Status UnknownValue(std::string_view field, int value);

// INVALID_ARGUMENT: the range is empty by construction.
absl::StatusOr<RowRange> ParseRowRange(const google::bigtable::v2::RowRange& range);

// Returns ranges in normal form; the whole table if the set names no key and no range.
absl::StatusOr<std::vector<RowRange>> ParseRowSet(const google::bigtable::v2::RowSet& rows);

// Checks all of a cell but the name of its family.
absl::Status CheckCell(const SetCell& cell);

// There may be up to kMutationsPerRequestMax mutations, and there must be at least one unless `may_be_empty`
// is set.
absl::Status ParseMutations(
    const google::protobuf::RepeatedPtrField<google::bigtable::v2::Mutation>& mutations, bool may_be_empty,
    std::vector<Mutation>* out);

absl::Status ParseIdempotency(const google::bigtable::v2::Idempotency& idempotency,
                              std::optional<Idempotency>* out);

absl::StatusOr<std::vector<ReadModifyWriteRule>> ParseRules(
    const google::protobuf::RepeatedPtrField<google::bigtable::v2::ReadModifyWriteRule>& rules);

}  // namespace sonde
