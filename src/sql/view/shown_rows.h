// How the rows of a view are stored, as row keys and cells, and how SQL shows them again.
//
// Format: docs/formats/view-state.md.
// Threads: all functions may be called at once.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "base/arena.h"
#include "model/datum.h"
#include "model/table_schema.h"
#include "sql/value/type.h"
#include "sql/view/definition.h"

namespace sonde::sql {

// The schema of the table that holds the view's rows; it has neither name nor ids.
TableSchema StorageOf(const ViewDefinition& definition);
// As MaterializedViewRecord::shown_columns, and unpacked_columns.
std::string ShownColumns(const ViewDefinition& definition);
std::string UnpackedColumns(const ViewDefinition& definition);

// Appends the cell of a value that is there.
void AppendViewCell(const Type& type, const Datum& value, std::string* cell);
// The row key of these key columns, in the order of ViewDefinition::keys, each there.  Nothing: it would be no row key, as it is empty or too long.
std::optional<std::string> ViewRowKey(const ViewDefinition& definition, absl::Span<const Datum> keys);
// The key columns of a row key that ViewRowKey made.  They view it, and the arena.
absl::Status ReadViewRowKey(const ViewDefinition& definition, std::string_view row_key, Arena* arena,
                            absl::Span<Datum> keys);

}  // namespace sonde::sql
