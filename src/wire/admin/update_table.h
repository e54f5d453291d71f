// UpdateTable: changes of a table beside its families.
#pragma once

#include <google/bigtable/admin/v2/bigtable_table_admin.pb.h>
#include <google/longrunning/operations.pb.h>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "catalog/catalog.h"
#include "table/change_streams.h"
#include "table/tables.h"
#include "wire/operations/operations.h"

namespace sonde {

// Returns a change of the fields that the mask names.  `streams` must outlive the change.  `now_micros`: when a policy that is
// new begins.
// INVALID_ARGUMENT: there is no mask, a path is no field, or a value is out of its limits.
// UNIMPLEMENTED:    the mask names families (ModifyColumnFamilies changes them).
absl::StatusOr<Catalog::SchemaChange> ParseUpdateTable(
    const ChangeStreams* streams, int64_t now_micros,
    const google::bigtable::admin::v2::UpdateTableRequest& request);

// Errors: those of ParseUpdateTable and Catalog::Update.
absl::Status UpdateTable(Tables* tables, const ChangeStreams* streams, Operations* operations,
                         const google::bigtable::admin::v2::UpdateTableRequest& request,
                         google::longrunning::Operation* response);

}  // namespace sonde
