// The administration of authorized views: checks requests and carries them out.
#pragma once

#include <google/bigtable/admin/v2/bigtable_table_admin.pb.h>
#include <google/longrunning/operations.pb.h>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "table/tables.h"
#include "wire/operations/operations.h"

namespace sonde {

// INVALID_ARGUMENT: a bad name, no subset, or more than kAuthorizedViewParametersMax parameters.
absl::StatusOr<AuthorizedView> ParseCreateAuthorizedView(
    const google::bigtable::admin::v2::CreateAuthorizedViewRequest& request);

// Returns a change of the view's fields that the mask names; `*` names all fields.  Without a mask, the
// fields that are set are changed.  INVALID_ARGUMENT as above, and for a path that is no field.
absl::StatusOr<Catalog::ViewChange> ParseUpdateAuthorizedView(
    const google::bigtable::admin::v2::UpdateAuthorizedViewRequest& request);

// Errors of these functions: those of parsing, and those of the Catalog's function of the same name.
absl::Status CreateAuthorizedView(Tables* tables, Operations* operations,
                                  const google::bigtable::admin::v2::CreateAuthorizedViewRequest& request,
                                  google::longrunning::Operation* response);
absl::Status UpdateAuthorizedView(Tables* tables, Operations* operations,
                                  const google::bigtable::admin::v2::UpdateAuthorizedViewRequest& request,
                                  google::longrunning::Operation* response);
absl::Status ListAuthorizedViews(const Catalog& catalog,
                                 const google::bigtable::admin::v2::ListAuthorizedViewsRequest& request,
                                 google::bigtable::admin::v2::ListAuthorizedViewsResponse* response);
absl::Status GetAuthorizedView(const Catalog& catalog,
                               const google::bigtable::admin::v2::GetAuthorizedViewRequest& request,
                               google::bigtable::admin::v2::AuthorizedView* response);
absl::Status DeleteAuthorizedView(Catalog* catalog,
                                  const google::bigtable::admin::v2::DeleteAuthorizedViewRequest& request);

}  // namespace sonde
