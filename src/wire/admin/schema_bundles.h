// The administration of schema bundles: checks requests and carries them out.
#pragma once

#include <google/bigtable/admin/v2/bigtable_table_admin.pb.h>
#include <google/longrunning/operations.pb.h>

#include "absl/status/status.h"
#include "table/tables.h"
#include "wire/operations/operations.h"

namespace sonde {

// Errors of these functions: those of the Catalog's function of the same name.  INVALID_ARGUMENT: a bad name, or descriptors
// that are larger than kSchemaBundleBytesMax or do not link; of an update: no field that can be updated, or descriptors
// that are not backward compatible, unless `ignore_warnings` is set.
absl::Status CreateSchemaBundle(Tables* tables, Operations* operations,
                                const google::bigtable::admin::v2::CreateSchemaBundleRequest& request,
                                google::longrunning::Operation* response);
absl::Status UpdateSchemaBundle(Tables* tables, Operations* operations,
                                const google::bigtable::admin::v2::UpdateSchemaBundleRequest& request,
                                google::longrunning::Operation* response);
// A page ends behind some bytes, too, so that clients with the usual limit of messages can read it.
absl::Status ListSchemaBundles(const Catalog& catalog,
                               const google::bigtable::admin::v2::ListSchemaBundlesRequest& request,
                               google::bigtable::admin::v2::ListSchemaBundlesResponse* response);
absl::Status GetSchemaBundle(const Catalog& catalog,
                             const google::bigtable::admin::v2::GetSchemaBundleRequest& request,
                             google::bigtable::admin::v2::SchemaBundle* response);
absl::Status DeleteSchemaBundle(Catalog* catalog,
                                const google::bigtable::admin::v2::DeleteSchemaBundleRequest& request);

}  // namespace sonde
