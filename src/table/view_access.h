// What an authorized view allows: the one place where writes are held to it.  Reads are by VisibleCells,
// which shows only cells of the view; the hints here spare what it would not show.
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

// PERMISSION_DENIED, with production's text, unless all that the mutations may touch is in the view.  A
// family is deleted only by those whose view has all of its columns, a row by those who have so of every
// family.
absl::Status CheckInView(const AuthorizedView& view, const TableSchema& schema, std::string_view row_key,
                         absl::Span<const Mutation> mutations);
absl::Status CheckInView(const AuthorizedView& view, std::string_view row_key,
                         absl::Span<const ReadModifyWriteRule> rules);

// Leaves what is in the view of what the hints ask for.
void RestrictReadHints(const AuthorizedView& view, const TableSchema& schema, ReadHints* hints);

}  // namespace sonde
