// Copies tables from one place to another, whatever keeps them: families with their rules and kinds, all cells with their times.
//
// A table at the target must not be there yet, or be empty and have the same families; unless `state` says that this copy has begun it.
// It is no business of a copy that a source is written meanwhile: a range that differs is DATA_LOSS.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/clock.h"
#include "copy/copy_state.h"
#include "copy/table_copy.h"
#include "model/copy_access.h"

namespace sonde {

struct TableReport {
  std::string table;
  CopiedTable done;
  std::vector<std::string> left_out;  // settings that the copy does not have, in words
};

// `tables`: their short names; empty: all that the source has.  Returns them in that order, or by name.
// NOT_FOUND: the source has no such table, or none at all.  FAILED_PRECONDITION: a table at the target has rows or other families, or is
// gone since the copy began.  Other errors: those of TableCopy::Run.  Tables before the one with an error are copied.
absl::StatusOr<std::vector<TableReport>> CopyTables(CopyAccess* from, CopyAccess* to,
                                                    std::vector<std::string> tables,
                                                    const CopyOptions& options, const Clock* clock,
                                                    CopyState* state);

}  // namespace sonde
