// Garbage collection that change streams tell of.
//
// What a rule forgets is never returned, so nothing has to be deleted for readers.  But a change stream tells
// when cells are collected, so they are, now and then, in tables that have one: deleted, and logged as
// GARBAGE_COLLECTION, in one commit.
#pragma once

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "catalog/catalog.h"
#include "table/tables.h"

namespace sonde {

// Collects from at most `rows_max` rows, from `start` on.  Returns where to go on; nullopt at the table's
// end.
//
// A cell that is forgotten only for newer ones is deleted even if these are deleted meanwhile: as if it had
// been collected before.
absl::StatusOr<std::optional<std::string>> CollectGarbage(Tables* tables, const TableSchemaRef& schema,
                                                          std::string start, size_t rows_max);

}  // namespace sonde
