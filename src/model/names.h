// Names of resources: instances (projects/P/instances/I), clusters (projects/P/instances/I/clusters/C), backups
// (projects/P/instances/I/clusters/C/backups/B), app profiles (projects/P/instances/I/appProfiles/A), tables
// (projects/P/instances/I/tables/T), authorized views (projects/P/instances/I/tables/T/authorizedViews/V), schema bundles
// (projects/P/instances/I/tables/T/schemaBundles/B), logical views (projects/P/instances/I/logicalViews/V) and materialized views
// (projects/P/instances/I/materializedViews/V).
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace sonde {

// INVALID_ARGUMENT unless `name` is projects/P.
absl::Status CheckProjectName(std::string_view name);

// INVALID_ARGUMENT unless `name` is projects/P/instances/I.  P and I: 1 to 1024 bytes, none of them '/' or a
// control byte.
absl::Status CheckInstanceName(std::string_view name);

// INVALID_ARGUMENT unless 1 to 50 of [-a-z0-9], the first one of [a-z].
absl::Status CheckClusterId(std::string_view id);

// INVALID_ARGUMENT unless `name` is an instance's name, then /clusters/ and the id of a cluster.
absl::Status CheckClusterName(std::string_view name);

// INVALID_ARGUMENT unless `id` could be a table's id.
absl::Status CheckAppProfileId(std::string_view id);

// INVALID_ARGUMENT unless `name` is an instance's name, then /appProfiles/ and the id of an app profile.
absl::Status CheckAppProfileName(std::string_view name);

// INVALID_ARGUMENT unless `name` is an instance's name, then /tables/ and a table id.
absl::Status CheckTableName(std::string_view name);

// INVALID_ARGUMENT unless 1 to 50 of [-_.a-zA-Z0-9], not starting with '-' or '.'.
absl::Status CheckTableId(std::string_view id);

// INVALID_ARGUMENT unless 1 to 64 of [-_.a-zA-Z0-9].
absl::Status CheckFamilyName(std::string_view name);

// INVALID_ARGUMENT unless `id` could be a table's id.
absl::Status CheckAuthorizedViewId(std::string_view id);

// INVALID_ARGUMENT unless `name` is a table's name, then /authorizedViews/ and the id of a view.
absl::Status CheckAuthorizedViewName(std::string_view name);

// INVALID_ARGUMENT unless `id` could be a table's id.
absl::Status CheckSchemaBundleId(std::string_view id);

// INVALID_ARGUMENT unless `name` is a table's name, then /schemaBundles/ and the id of a bundle.
absl::Status CheckSchemaBundleName(std::string_view name);

// INVALID_ARGUMENT unless `id` could be a table's id.
absl::Status CheckLogicalViewId(std::string_view id);
absl::Status CheckMaterializedViewId(std::string_view id);

// INVALID_ARGUMENT unless `name` is an instance's name, then /logicalViews/ and the id of a view.
absl::Status CheckLogicalViewName(std::string_view name);

// INVALID_ARGUMENT unless `name` is an instance's name, then /materializedViews/ and the id of a view.
absl::Status CheckMaterializedViewName(std::string_view name);

// INVALID_ARGUMENT unless `id` could be a table's id.
absl::Status CheckBackupId(std::string_view id);

// INVALID_ARGUMENT unless `name` is a cluster's name, then /backups/ and the id of a backup.
absl::Status CheckBackupName(std::string_view name);

// Returns projects/P/instances/I of a table's name that passed CheckTableName.
std::string_view InstanceOfTable(std::string_view table_name);
// Returns T of a table's name that passed CheckTableName.
std::string_view IdOfTable(std::string_view table_name);

// Returns the table's name in a view's name that passed CheckAuthorizedViewName.
std::string_view TableOfAuthorizedView(std::string_view view_name);
// Returns V of a view's name that passed CheckAuthorizedViewName.
std::string_view IdOfAuthorizedView(std::string_view view_name);

// Return projects/P/instances/I and C of a cluster's name that passed CheckClusterName.
std::string_view InstanceOfCluster(std::string_view cluster_name);
std::string_view IdOfCluster(std::string_view cluster_name);

// Return projects/P/instances/I and A of a profile's name that passed CheckAppProfileName.
std::string_view InstanceOfAppProfile(std::string_view profile_name);
std::string_view IdOfAppProfile(std::string_view profile_name);

// Returns projects/P/instances/I/clusters/C of a backup's name that passed CheckBackupName.
std::string_view ClusterOfBackup(std::string_view backup_name);

// Returns the table's name in a bundle's name that passed CheckSchemaBundleName.
std::string_view TableOfSchemaBundle(std::string_view bundle_name);
// Returns B of a bundle's name that passed CheckSchemaBundleName.
std::string_view IdOfSchemaBundle(std::string_view bundle_name);

// Return projects/P/instances/I and V of a name that passed CheckLogicalViewName or CheckMaterializedViewName.
std::string_view InstanceOfSqlView(std::string_view view_name);
std::string_view IdOfSqlView(std::string_view view_name);

}  // namespace sonde
