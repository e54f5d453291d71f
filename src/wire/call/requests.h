// Requests of the data API, checked and in the words of the model.  Every field of every request is checked
// here, once, against model/limits.h; what depends on a table's schema is checked where the schema is
// (mutation, table).
//
// Views in the results point into the messages.  Errors: INVALID_ARGUMENT with production's text where it is
// known; UNIMPLEMENTED for what is not built.
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

// That a field has a value which its enumeration has not: protocol buffers let any number through.
absl::Status UnknownValue(std::string_view field, int value);

// The range of keys, or INVALID_ARGUMENT when it is empty by construction.
absl::StatusOr<RowRange> ParseRowRange(const google::bigtable::v2::RowRange& range);

// In normal form; the whole table when the set names no key and no range.
absl::StatusOr<std::vector<RowRange>> ParseRowSet(const google::bigtable::v2::RowSet& rows);

// All but the name of its family.
absl::Status CheckCell(const SetCell& cell);

// At least one, at most kMutationsPerRequestMax when `may_be_empty` is not set.
absl::Status ParseMutations(
    const google::protobuf::RepeatedPtrField<google::bigtable::v2::Mutation>& mutations, bool may_be_empty,
    std::vector<Mutation>* out);

absl::Status ParseIdempotency(const google::bigtable::v2::Idempotency& idempotency,
                              std::optional<Idempotency>* out);

absl::StatusOr<std::vector<ReadModifyWriteRule>> ParseRules(
    const google::protobuf::RepeatedPtrField<google::bigtable::v2::ReadModifyWriteRule>& rules);

}  // namespace sonde
