// The administration of logical and materialized views: checks requests and carries them out.
//
// A view's query is bound before the view is stored, with the right of the caller, who needs a right to read what the query names.
#pragma once

#include <google/bigtable/admin/v2/bigtable_instance_admin.pb.h>
#include <google/longrunning/operations.pb.h>

#include <map>
#include <string>

#include "absl/status/status.h"
#include "base/clock.h"
#include "catalog/catalog.h"
#include "catalog/view_definitions.h"
#include "sql/bind/binder.h"
#include "sql/exec/bundle_finder.h"
#include "sql/exec/instance_names.h"
#include "wire/operations/operation_runner.h"
#include "wire/operations/operations.h"
#include "wire/resources/instance_store.h"

namespace sonde {

// Nothing is owned.
struct SqlViewParts {
  Catalog* catalog;
  InstanceStore* instances;
  Operations* operations;
  OperationRunner* runner;  // of SqlViewOperationKinds
  const Clock* clock;
  sql::BundleFinder* bundles;
  sql::Dialect dialect = sql::Dialect::kSonde;
  ViewDefinitions* definitions = nullptr;  // null: materialized views are not built
};

// Errors of these functions: those of the function of Catalog of the same name.  INVALID_ARGUMENT: a bad name, id, mask, page size
// or page token.  Errors of a query: those of PrepareQuery.

// --- Logical views.
absl::Status CreateLogicalView(const SqlViewParts& parts, const sql::InstanceNames::MayRead& may_read,
                               const google::bigtable::admin::v2::CreateLogicalViewRequest& request,
                               google::longrunning::Operation* response);
absl::Status GetLogicalView(const SqlViewParts& parts,
                            const google::bigtable::admin::v2::GetLogicalViewRequest& request,
                            google::bigtable::admin::v2::LogicalView* response);
absl::Status ListLogicalViews(const SqlViewParts& parts,
                              const google::bigtable::admin::v2::ListLogicalViewsRequest& request,
                              google::bigtable::admin::v2::ListLogicalViewsResponse* response);
absl::Status UpdateLogicalView(const SqlViewParts& parts, const sql::InstanceNames::MayRead& may_read,
                               const google::bigtable::admin::v2::UpdateLogicalViewRequest& request,
                               google::longrunning::Operation* response);
absl::Status DeleteLogicalView(const SqlViewParts& parts,
                               const google::bigtable::admin::v2::DeleteLogicalViewRequest& request);

// --- Materialized views, whose queries cannot be altered.  UNIMPLEMENTED: `definitions` is null.
// The operation of a new view ends when the view has the rows that its table has; it goes on after a restart, and ends with ABORTED if
// the view is deleted before.  It cannot be cancelled: whoever does not want the view deletes it.
std::map<std::string, OperationKind> SqlViewOperationKinds(const Catalog* catalog, const Clock* clock);
absl::Status CreateMaterializedView(const SqlViewParts& parts, const sql::InstanceNames::MayRead& may_read,
                                    const google::bigtable::admin::v2::CreateMaterializedViewRequest& request,
                                    google::longrunning::Operation* response);
absl::Status GetMaterializedView(const SqlViewParts& parts,
                                 const google::bigtable::admin::v2::GetMaterializedViewRequest& request,
                                 google::bigtable::admin::v2::MaterializedView* response);
absl::Status ListMaterializedViews(const SqlViewParts& parts,
                                   const google::bigtable::admin::v2::ListMaterializedViewsRequest& request,
                                   google::bigtable::admin::v2::ListMaterializedViewsResponse* response);
absl::Status UpdateMaterializedView(const SqlViewParts& parts,
                                    const google::bigtable::admin::v2::UpdateMaterializedViewRequest& request,
                                    google::longrunning::Operation* response);
absl::Status DeleteMaterializedView(
    const SqlViewParts& parts, const google::bigtable::admin::v2::DeleteMaterializedViewRequest& request);

}  // namespace sonde
