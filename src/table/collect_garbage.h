// Garbage collection in tables whose log tells of it: those with a change stream, and those that materialized views
// read from (TableSchema::LogsGarbage).  And in all tables of a store that several servers share, as that forgets nothing by itself.
//
// Readers never see the cells that a rule forgets, so nothing has to be deleted for them.  But a change
// stream tells when cells are collected.  So in such tables these cells are collected now and then:
// deleted, and logged as GARBAGE_COLLECTION, in one commit.
#pragma once

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "catalog/catalog.h"
#include "table/tables.h"

namespace sonde {

// Collects from at most `rows_max` rows, from `start` on.  Returns where to go on; nullopt: the table's end
// was reached.
//
// What views keep of the cells is asked for first (expired_keeper.h).  Its error ends the collection.
//
// A cell that is forgotten only because of newer cells is deleted even if these are deleted meanwhile, as if
// it had been collected before.
absl::StatusOr<std::optional<std::string>> CollectGarbage(Tables* tables, const TableSchemaRef& schema,
                                                          std::string start, size_t rows_max);

}  // namespace sonde
