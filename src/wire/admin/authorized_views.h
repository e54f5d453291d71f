// The administration of authorized views: requests checked, and what becomes of them.
#pragma once

#include <google/bigtable/admin/v2/bigtable_table_admin.pb.h>
#include <google/longrunning/operations.pb.h>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "table/tables.h"
#include "wire/admin/operations.h"

namespace sonde {

// INVALID_ARGUMENT: a bad name, no subset, or more than kAuthorizedViewParametersMax parameters.
absl::StatusOr<AuthorizedView> ParseCreateAuthorizedView(
    const google::bigtable::admin::v2::CreateAuthorizedViewRequest& request);

// What the mask names as a change of the view; without a mask, what is set; `*` is everything.
// INVALID_ARGUMENT as above, and for a path that is no field.
absl::StatusOr<Catalog::ViewChange> ParseUpdateAuthorizedView(
    const google::bigtable::admin::v2::UpdateAuthorizedViewRequest& request);

// The errors of these: those of parsing, and of the catalog's function of the same name.
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
