// UpdateTable: what can be changed of a table besides its families.
#pragma once

#include <google/bigtable/admin/v2/bigtable_table_admin.pb.h>
#include <google/longrunning/operations.pb.h>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "catalog/catalog.h"
#include "table/change_streams.h"
#include "table/tables.h"
#include "wire/admin/operations.h"

namespace sonde {

// What the mask names, as a change of the schema; `streams` must outlive it.  INVALID_ARGUMENT: no mask, a
// path that is no field, a value out of its limits.  UNIMPLEMENTED: families, which ModifyColumnFamilies
// changes, and what is not built.
absl::StatusOr<Catalog::SchemaChange> ParseUpdateTable(
    const ChangeStreams* streams, const google::bigtable::admin::v2::UpdateTableRequest& request);

// Errors: those of ParseUpdateTable and Catalog::Update.
absl::Status UpdateTable(Tables* tables, const ChangeStreams* streams, Operations* operations,
                         const google::bigtable::admin::v2::UpdateTableRequest& request,
                         google::longrunning::Operation* response);

}  // namespace sonde
