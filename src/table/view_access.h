// The rights of an authorized view.  Writes are held to them only here.  Reads go by VisibleCells, which
// shows only cells of the view; the hints here save reading other cells.
#pragma once

#include <string_view>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "model/authorized_view.h"
#include "model/mutation.h"
#include "model/read_hints.h"
#include "model/table_schema.h"
#include "table/read_modify_write.h"

namespace sonde {

// PERMISSION_DENIED, with production's text: the mutations may touch cells outside the view.  A family may be
// deleted only through a view that has all of its columns, a row only through a view that has all columns of
// every family.
absl::Status CheckInView(const AuthorizedView& view, const TableSchema& schema, std::string_view row_key,
                         absl::Span<const Mutation> mutations);
absl::Status CheckInView(const AuthorizedView& view, std::string_view row_key,
                         absl::Span<const ReadModifyWriteRule> rules);

// Narrows the hints to cells of the view.
void RestrictReadHints(const AuthorizedView& view, const TableSchema& schema, ReadHints* hints);

}  // namespace sonde
