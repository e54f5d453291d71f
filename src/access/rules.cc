#include "access/rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "absl/container/flat_hash_map.h"

namespace sonde {
namespace {

using enum ResourceKind;

// The needs of a method, named by the first method that has them.
constexpr std::array<Need, 3> kToReadRows = {
    {{.permission = PermissionOf("bigtable.tables.readRows"),
      .field = "table_name",
      .kind = kTable,
      .if_set = true},
     {.permission = PermissionOf("bigtable.authorizedViews.readRows"),
      .field = "authorized_view_name",
      .kind = kAuthorizedView,
      .if_set = true},
     {.permission = PermissionOf("bigtable.materializedViews.readRows"),
      .field = "materialized_view_name",
      .kind = kMaterializedView,
      .if_set = true}}};
constexpr std::array<Need, 3> kToSampleRowKeys = {
    {{.permission = PermissionOf("bigtable.tables.sampleRowKeys"),
      .field = "table_name",
      .kind = kTable,
      .if_set = true},
     {.permission = PermissionOf("bigtable.authorizedViews.sampleRowKeys"),
      .field = "authorized_view_name",
      .kind = kAuthorizedView,
      .if_set = true},
     {.permission = PermissionOf("bigtable.materializedViews.sampleRowKeys"),
      .field = "materialized_view_name",
      .kind = kMaterializedView,
      .if_set = true}}};
constexpr std::array<Need, 2> kToMutateRow = {
    {{.permission = PermissionOf("bigtable.tables.mutateRows"),
      .field = "table_name",
      .kind = kTable,
      .if_set = true},
     {.permission = PermissionOf("bigtable.authorizedViews.mutateRows"),
      .field = "authorized_view_name",
      .kind = kAuthorizedView,
      .if_set = true}}};
constexpr std::array<Need, 4> kToCheckAndMutateRow = {
    {{.permission = PermissionOf("bigtable.tables.mutateRows"),
      .field = "table_name",
      .kind = kTable,
      .if_set = true},
     {.permission = PermissionOf("bigtable.authorizedViews.mutateRows"),
      .field = "authorized_view_name",
      .kind = kAuthorizedView,
      .if_set = true},
     {.permission = PermissionOf("bigtable.tables.readRows"),
      .field = "table_name",
      .kind = kTable,
      .if_set = true},
     {.permission = PermissionOf("bigtable.authorizedViews.readRows"),
      .field = "authorized_view_name",
      .kind = kAuthorizedView,
      .if_set = true}}};
constexpr std::array<Need, 1> kToPingAndWarm = {
    {{.permission = PermissionOf("bigtable.instances.ping"), .field = "name", .kind = kInstance}}};
constexpr std::array<Need, 1> kToGenerateInitialChangeStreamPartitions = {
    {{.permission = PermissionOf("bigtable.tables.readRows"), .field = "table_name", .kind = kTable}}};
constexpr std::array<Need, 1> kToPrepareQuery = {
    {{.permission = PermissionOf("bigtable.instances.executeQuery"),
      .field = "instance_name",
      .kind = kInstance}}};
constexpr std::array<Need, 1> kToGetClientConfiguration = {
    {{.permission = PermissionOf("bigtable.instances.get"), .field = "instance_name", .kind = kInstance}}};
constexpr std::array<Need, 1> kToCreateTable = {
    {{.permission = PermissionOf("bigtable.tables.create"), .field = "parent", .kind = kInstance}}};
constexpr std::array<Need, 1> kToGetTable = {
    {{.permission = PermissionOf("bigtable.tables.get"), .field = "name", .kind = kTable}}};
constexpr std::array<Need, 1> kToListTables = {
    {{.permission = PermissionOf("bigtable.tables.list"), .field = "parent", .kind = kInstance}}};
constexpr std::array<Need, 1> kToUpdateTable = {
    {{.permission = PermissionOf("bigtable.tables.update"), .field = "table.name", .kind = kTable}}};
constexpr std::array<Need, 1> kToDeleteTable = {
    {{.permission = PermissionOf("bigtable.tables.delete"), .field = "name", .kind = kTable}}};
constexpr std::array<Need, 1> kToUndeleteTable = {
    {{.permission = PermissionOf("bigtable.tables.undelete"), .field = "name", .kind = kTable}}};
constexpr std::array<Need, 1> kToCreateAuthorizedView = {
    {{.permission = PermissionOf("bigtable.authorizedViews.create"), .field = "parent", .kind = kTable}}};
constexpr std::array<Need, 1> kToGetAuthorizedView = {
    {{.permission = PermissionOf("bigtable.authorizedViews.get"), .field = "name", .kind = kAuthorizedView}}};
constexpr std::array<Need, 1> kToListAuthorizedViews = {
    {{.permission = PermissionOf("bigtable.authorizedViews.list"), .field = "parent", .kind = kTable}}};
constexpr std::array<Need, 1> kToUpdateAuthorizedView = {
    {{.permission = PermissionOf("bigtable.authorizedViews.update"),
      .field = "authorized_view.name",
      .kind = kAuthorizedView}}};
constexpr std::array<Need, 1> kToDeleteAuthorizedView = {
    {{.permission = PermissionOf("bigtable.authorizedViews.delete"),
      .field = "name",
      .kind = kAuthorizedView}}};
constexpr std::array<Need, 1> kToModifyColumnFamilies = {
    {{.permission = PermissionOf("bigtable.tables.update"), .field = "name", .kind = kTable}}};
constexpr std::array<Need, 1> kToDropRowRange = {
    {{.permission = PermissionOf("bigtable.tables.mutateRows"), .field = "name", .kind = kTable}}};
constexpr std::array<Need, 1> kToGenerateConsistencyToken = {
    {{.permission = PermissionOf("bigtable.tables.generateConsistencyToken"),
      .field = "name",
      .kind = kTable}}};
constexpr std::array<Need, 1> kToCheckConsistency = {
    {{.permission = PermissionOf("bigtable.tables.checkConsistency"), .field = "name", .kind = kTable}}};
constexpr std::array<Need, 2> kToCreateBackup = {
    {{.permission = PermissionOf("bigtable.tables.readRows"), .field = "backup.source_table", .kind = kTable},
     {.permission = PermissionOf("bigtable.backups.create"), .field = "parent", .kind = kCluster}}};
constexpr std::array<Need, 1> kToGetBackup = {
    {{.permission = PermissionOf("bigtable.backups.get"), .field = "name", .kind = kBackup}}};
constexpr std::array<Need, 1> kToUpdateBackup = {
    {{.permission = PermissionOf("bigtable.backups.update"), .field = "backup.name", .kind = kBackup}}};
constexpr std::array<Need, 1> kToDeleteBackup = {
    {{.permission = PermissionOf("bigtable.backups.delete"), .field = "name", .kind = kBackup}}};
constexpr std::array<Need, 1> kToListBackups = {
    {{.permission = PermissionOf("bigtable.backups.list"), .field = "parent", .kind = kCluster}}};
constexpr std::array<Need, 2> kToRestoreTable = {
    {{.permission = PermissionOf("bigtable.backups.restore"), .field = "backup", .kind = kBackup},
     {.permission = PermissionOf("bigtable.tables.create"), .field = "parent", .kind = kInstance}}};
constexpr std::array<Need, 2> kToCopyBackup = {
    {{.permission = PermissionOf("bigtable.backups.read"), .field = "source_backup", .kind = kBackup},
     {.permission = PermissionOf("bigtable.backups.create"), .field = "parent", .kind = kCluster}}};
constexpr std::array<Need, 1> kToGetIamPolicy = {
    {{.permission = std::nullopt, .verb = "getIamPolicy", .field = "resource"}}};
constexpr std::array<Need, 1> kToSetIamPolicy = {
    {{.permission = std::nullopt, .verb = "setIamPolicy", .field = "resource"}}};
constexpr std::array<Need, 1> kToCreateSchemaBundle = {
    {{.permission = PermissionOf("bigtable.schemaBundles.create"), .field = "parent", .kind = kTable}}};
constexpr std::array<Need, 1> kToGetSchemaBundle = {
    {{.permission = PermissionOf("bigtable.schemaBundles.get"), .field = "name", .kind = kSchemaBundle}}};
constexpr std::array<Need, 1> kToListSchemaBundles = {
    {{.permission = PermissionOf("bigtable.schemaBundles.list"), .field = "parent", .kind = kTable}}};
constexpr std::array<Need, 1> kToUpdateSchemaBundle = {
    {{.permission = PermissionOf("bigtable.schemaBundles.update"),
      .field = "schema_bundle.name",
      .kind = kSchemaBundle}}};
constexpr std::array<Need, 1> kToDeleteSchemaBundle = {
    {{.permission = PermissionOf("bigtable.schemaBundles.delete"), .field = "name", .kind = kSchemaBundle}}};
constexpr std::array<Need, 2> kToCreateInstance = {
    {{.permission = PermissionOf("bigtable.instances.create"), .field = "parent", .kind = kProject},
     {.permission = PermissionOf("bigtable.clusters.create"), .field = "parent", .kind = kProject}}};
constexpr std::array<Need, 1> kToGetInstance = {
    {{.permission = PermissionOf("bigtable.instances.get"), .field = "name", .kind = kInstance}}};
constexpr std::array<Need, 1> kToListInstances = {
    {{.permission = PermissionOf("bigtable.instances.list"), .field = "parent", .kind = kProject}}};
constexpr std::array<Need, 1> kToUpdateInstance = {
    {{.permission = PermissionOf("bigtable.instances.update"), .field = "name", .kind = kInstance}}};
constexpr std::array<Need, 1> kToPartialUpdateInstance = {
    {{.permission = PermissionOf("bigtable.instances.update"), .field = "instance.name", .kind = kInstance}}};
constexpr std::array<Need, 1> kToDeleteInstance = {
    {{.permission = PermissionOf("bigtable.instances.delete"), .field = "name", .kind = kInstance}}};
constexpr std::array<Need, 1> kToCreateCluster = {
    {{.permission = PermissionOf("bigtable.clusters.create"), .field = "parent", .kind = kInstance}}};
constexpr std::array<Need, 1> kToGetCluster = {
    {{.permission = PermissionOf("bigtable.clusters.get"), .field = "name", .kind = kCluster}}};
constexpr std::array<Need, 1> kToListClusters = {
    {{.permission = PermissionOf("bigtable.clusters.list"), .field = "parent", .kind = kInstance}}};
constexpr std::array<Need, 1> kToUpdateCluster = {
    {{.permission = PermissionOf("bigtable.clusters.update"), .field = "name", .kind = kCluster}}};
constexpr std::array<Need, 1> kToPartialUpdateCluster = {
    {{.permission = PermissionOf("bigtable.clusters.update"), .field = "cluster.name", .kind = kCluster}}};
constexpr std::array<Need, 1> kToDeleteCluster = {
    {{.permission = PermissionOf("bigtable.clusters.delete"), .field = "name", .kind = kCluster}}};
constexpr std::array<Need, 1> kToCreateAppProfile = {
    {{.permission = PermissionOf("bigtable.appProfiles.create"), .field = "parent", .kind = kInstance}}};
constexpr std::array<Need, 1> kToGetAppProfile = {
    {{.permission = PermissionOf("bigtable.appProfiles.get"), .field = "name", .kind = kAppProfile}}};
constexpr std::array<Need, 1> kToListAppProfiles = {
    {{.permission = PermissionOf("bigtable.appProfiles.list"), .field = "parent", .kind = kInstance}}};
constexpr std::array<Need, 1> kToUpdateAppProfile = {
    {{.permission = PermissionOf("bigtable.appProfiles.update"),
      .field = "app_profile.name",
      .kind = kAppProfile}}};
constexpr std::array<Need, 1> kToDeleteAppProfile = {
    {{.permission = PermissionOf("bigtable.appProfiles.delete"), .field = "name", .kind = kAppProfile}}};
constexpr std::array<Need, 1> kToListHotTablets = {
    {{.permission = PermissionOf("bigtable.hotTablets.list"), .field = "parent", .kind = kCluster}}};
constexpr std::array<Need, 1> kToCreateLogicalView = {
    {{.permission = PermissionOf("bigtable.logicalViews.create"), .field = "parent", .kind = kInstance}}};
constexpr std::array<Need, 1> kToGetLogicalView = {
    {{.permission = PermissionOf("bigtable.logicalViews.get"), .field = "name", .kind = kLogicalView}}};
constexpr std::array<Need, 1> kToListLogicalViews = {
    {{.permission = PermissionOf("bigtable.logicalViews.list"), .field = "parent", .kind = kInstance}}};
constexpr std::array<Need, 1> kToUpdateLogicalView = {
    {{.permission = PermissionOf("bigtable.logicalViews.update"),
      .field = "logical_view.name",
      .kind = kLogicalView}}};
constexpr std::array<Need, 1> kToDeleteLogicalView = {
    {{.permission = PermissionOf("bigtable.logicalViews.delete"), .field = "name", .kind = kLogicalView}}};
constexpr std::array<Need, 1> kToCreateMaterializedView = {
    {{.permission = PermissionOf("bigtable.materializedViews.create"),
      .field = "parent",
      .kind = kInstance}}};
constexpr std::array<Need, 1> kToGetMaterializedView = {
    {{.permission = PermissionOf("bigtable.materializedViews.get"),
      .field = "name",
      .kind = kMaterializedView}}};
constexpr std::array<Need, 1> kToListMaterializedViews = {
    {{.permission = PermissionOf("bigtable.materializedViews.list"), .field = "parent", .kind = kInstance}}};
constexpr std::array<Need, 1> kToUpdateMaterializedView = {
    {{.permission = PermissionOf("bigtable.materializedViews.update"),
      .field = "materialized_view.name",
      .kind = kMaterializedView}}};
constexpr std::array<Need, 1> kToDeleteMaterializedView = {
    {{.permission = PermissionOf("bigtable.materializedViews.delete"),
      .field = "name",
      .kind = kMaterializedView}}};
constexpr std::array<Need, 1> kToListOperations = {
    {{.permission = PermissionOf("bigtable.instances.get"), .field = "name"}}};
constexpr std::array<Need, 1> kToDeleteOperation = {
    {{.permission = std::nullopt, .verb = "update", .field = "name"}}};

constexpr std::array kRules = {
    Rule{"google.bigtable.v2.Bigtable/ReadRows", Door::kDecided, kToReadRows},
    Rule{"google.bigtable.v2.Bigtable/SampleRowKeys", Door::kDecided, kToSampleRowKeys},
    Rule{"google.bigtable.v2.Bigtable/MutateRow", Door::kDecided, kToMutateRow},
    Rule{"google.bigtable.v2.Bigtable/MutateRows", Door::kDecided, kToMutateRow},
    Rule{"google.bigtable.v2.Bigtable/CheckAndMutateRow", Door::kDecided, kToCheckAndMutateRow},
    Rule{"google.bigtable.v2.Bigtable/PingAndWarm", Door::kDecided, kToPingAndWarm},
    Rule{"google.bigtable.v2.Bigtable/ReadModifyWriteRow", Door::kDecided, kToCheckAndMutateRow},
    Rule{"google.bigtable.v2.Bigtable/GenerateInitialChangeStreamPartitions", Door::kDecided,
         kToGenerateInitialChangeStreamPartitions},
    Rule{"google.bigtable.v2.Bigtable/ReadChangeStream", Door::kDecided,
         kToGenerateInitialChangeStreamPartitions},
    Rule{"google.bigtable.v2.Bigtable/PrepareQuery", Door::kDecided, kToPrepareQuery},
    Rule{"google.bigtable.v2.Bigtable/ExecuteQuery", Door::kDecided, kToPrepareQuery},
    Rule{"google.bigtable.v2.Bigtable/GetClientConfiguration", Door::kDecided, kToGetClientConfiguration},
    Rule{"google.bigtable.v2.Bigtable/OpenTable", Door::kNotBuilt, {}},
    Rule{"google.bigtable.v2.Bigtable/OpenAuthorizedView", Door::kNotBuilt, {}},
    Rule{"google.bigtable.v2.Bigtable/OpenMaterializedView", Door::kNotBuilt, {}},
    Rule{"google.bigtable.admin.v2.BigtableTableAdmin/CreateTableFromSnapshot", Door::kNotBuilt, {}},
    Rule{"google.bigtable.admin.v2.BigtableTableAdmin/CreateTable", Door::kDecided, kToCreateTable},
    Rule{"google.bigtable.admin.v2.BigtableTableAdmin/GetTable", Door::kDecided, kToGetTable},
    Rule{"google.bigtable.admin.v2.BigtableTableAdmin/ListTables", Door::kDecided, kToListTables},
    Rule{"google.bigtable.admin.v2.BigtableTableAdmin/UpdateTable", Door::kDecided, kToUpdateTable},
    Rule{"google.bigtable.admin.v2.BigtableTableAdmin/DeleteTable", Door::kDecided, kToDeleteTable},
    Rule{"google.bigtable.admin.v2.BigtableTableAdmin/UndeleteTable", Door::kDecided, kToUndeleteTable},
    Rule{"google.bigtable.admin.v2.BigtableTableAdmin/CreateAuthorizedView", Door::kDecided,
         kToCreateAuthorizedView},
    Rule{"google.bigtable.admin.v2.BigtableTableAdmin/GetAuthorizedView", Door::kDecided,
         kToGetAuthorizedView},
    Rule{"google.bigtable.admin.v2.BigtableTableAdmin/ListAuthorizedViews", Door::kDecided,
         kToListAuthorizedViews},
    Rule{"google.bigtable.admin.v2.BigtableTableAdmin/UpdateAuthorizedView", Door::kDecided,
         kToUpdateAuthorizedView},
    Rule{"google.bigtable.admin.v2.BigtableTableAdmin/DeleteAuthorizedView", Door::kDecided,
         kToDeleteAuthorizedView},
    Rule{"google.bigtable.admin.v2.BigtableTableAdmin/ModifyColumnFamilies", Door::kDecided,
         kToModifyColumnFamilies},
    Rule{"google.bigtable.admin.v2.BigtableTableAdmin/DropRowRange", Door::kDecided, kToDropRowRange},
    Rule{"google.bigtable.admin.v2.BigtableTableAdmin/GenerateConsistencyToken", Door::kDecided,
         kToGenerateConsistencyToken},
    Rule{"google.bigtable.admin.v2.BigtableTableAdmin/CheckConsistency", Door::kDecided, kToCheckConsistency},
    Rule{"google.bigtable.admin.v2.BigtableTableAdmin/SnapshotTable", Door::kNotBuilt, {}},
    Rule{"google.bigtable.admin.v2.BigtableTableAdmin/GetSnapshot", Door::kNotBuilt, {}},
    Rule{"google.bigtable.admin.v2.BigtableTableAdmin/ListSnapshots", Door::kNotBuilt, {}},
    Rule{"google.bigtable.admin.v2.BigtableTableAdmin/DeleteSnapshot", Door::kNotBuilt, {}},
    Rule{"google.bigtable.admin.v2.BigtableTableAdmin/CreateBackup", Door::kDecided, kToCreateBackup},
    Rule{"google.bigtable.admin.v2.BigtableTableAdmin/GetBackup", Door::kDecided, kToGetBackup},
    Rule{"google.bigtable.admin.v2.BigtableTableAdmin/UpdateBackup", Door::kDecided, kToUpdateBackup},
    Rule{"google.bigtable.admin.v2.BigtableTableAdmin/DeleteBackup", Door::kDecided, kToDeleteBackup},
    Rule{"google.bigtable.admin.v2.BigtableTableAdmin/ListBackups", Door::kDecided, kToListBackups},
    Rule{"google.bigtable.admin.v2.BigtableTableAdmin/RestoreTable", Door::kDecided, kToRestoreTable},
    Rule{"google.bigtable.admin.v2.BigtableTableAdmin/CopyBackup", Door::kDecided, kToCopyBackup},
    Rule{"google.bigtable.admin.v2.BigtableTableAdmin/GetIamPolicy", Door::kDecided, kToGetIamPolicy},
    Rule{"google.bigtable.admin.v2.BigtableTableAdmin/SetIamPolicy", Door::kDecided, kToSetIamPolicy},
    Rule{"google.bigtable.admin.v2.BigtableTableAdmin/TestIamPermissions", Door::kAuthenticated, {}},
    Rule{"google.bigtable.admin.v2.BigtableTableAdmin/CreateSchemaBundle", Door::kDecided,
         kToCreateSchemaBundle},
    Rule{"google.bigtable.admin.v2.BigtableTableAdmin/GetSchemaBundle", Door::kDecided, kToGetSchemaBundle},
    Rule{"google.bigtable.admin.v2.BigtableTableAdmin/ListSchemaBundles", Door::kDecided,
         kToListSchemaBundles},
    Rule{"google.bigtable.admin.v2.BigtableTableAdmin/UpdateSchemaBundle", Door::kDecided,
         kToUpdateSchemaBundle},
    Rule{"google.bigtable.admin.v2.BigtableTableAdmin/DeleteSchemaBundle", Door::kDecided,
         kToDeleteSchemaBundle},
    Rule{"google.bigtable.admin.v2.BigtableInstanceAdmin/CreateInstance", Door::kDecided, kToCreateInstance},
    Rule{"google.bigtable.admin.v2.BigtableInstanceAdmin/GetInstance", Door::kDecided, kToGetInstance},
    Rule{"google.bigtable.admin.v2.BigtableInstanceAdmin/ListInstances", Door::kDecided, kToListInstances},
    Rule{"google.bigtable.admin.v2.BigtableInstanceAdmin/UpdateInstance", Door::kDecided, kToUpdateInstance},
    Rule{"google.bigtable.admin.v2.BigtableInstanceAdmin/PartialUpdateInstance", Door::kDecided,
         kToPartialUpdateInstance},
    Rule{"google.bigtable.admin.v2.BigtableInstanceAdmin/DeleteInstance", Door::kDecided, kToDeleteInstance},
    Rule{"google.bigtable.admin.v2.BigtableInstanceAdmin/CreateCluster", Door::kDecided, kToCreateCluster},
    Rule{"google.bigtable.admin.v2.BigtableInstanceAdmin/GetCluster", Door::kDecided, kToGetCluster},
    Rule{"google.bigtable.admin.v2.BigtableInstanceAdmin/ListClusters", Door::kDecided, kToListClusters},
    Rule{"google.bigtable.admin.v2.BigtableInstanceAdmin/UpdateCluster", Door::kDecided, kToUpdateCluster},
    Rule{"google.bigtable.admin.v2.BigtableInstanceAdmin/PartialUpdateCluster", Door::kDecided,
         kToPartialUpdateCluster},
    Rule{"google.bigtable.admin.v2.BigtableInstanceAdmin/DeleteCluster", Door::kDecided, kToDeleteCluster},
    Rule{"google.bigtable.admin.v2.BigtableInstanceAdmin/CreateAppProfile", Door::kDecided,
         kToCreateAppProfile},
    Rule{"google.bigtable.admin.v2.BigtableInstanceAdmin/GetAppProfile", Door::kDecided, kToGetAppProfile},
    Rule{"google.bigtable.admin.v2.BigtableInstanceAdmin/ListAppProfiles", Door::kDecided,
         kToListAppProfiles},
    Rule{"google.bigtable.admin.v2.BigtableInstanceAdmin/UpdateAppProfile", Door::kDecided,
         kToUpdateAppProfile},
    Rule{"google.bigtable.admin.v2.BigtableInstanceAdmin/DeleteAppProfile", Door::kDecided,
         kToDeleteAppProfile},
    Rule{"google.bigtable.admin.v2.BigtableInstanceAdmin/GetIamPolicy", Door::kDecided, kToGetIamPolicy},
    Rule{"google.bigtable.admin.v2.BigtableInstanceAdmin/SetIamPolicy", Door::kDecided, kToSetIamPolicy},
    Rule{"google.bigtable.admin.v2.BigtableInstanceAdmin/TestIamPermissions", Door::kAuthenticated, {}},
    Rule{"google.bigtable.admin.v2.BigtableInstanceAdmin/ListHotTablets", Door::kDecided, kToListHotTablets},
    Rule{"google.bigtable.admin.v2.BigtableInstanceAdmin/CreateLogicalView", Door::kDecided,
         kToCreateLogicalView},
    Rule{"google.bigtable.admin.v2.BigtableInstanceAdmin/GetLogicalView", Door::kDecided, kToGetLogicalView},
    Rule{"google.bigtable.admin.v2.BigtableInstanceAdmin/ListLogicalViews", Door::kDecided,
         kToListLogicalViews},
    Rule{"google.bigtable.admin.v2.BigtableInstanceAdmin/UpdateLogicalView", Door::kDecided,
         kToUpdateLogicalView},
    Rule{"google.bigtable.admin.v2.BigtableInstanceAdmin/DeleteLogicalView", Door::kDecided,
         kToDeleteLogicalView},
    Rule{"google.bigtable.admin.v2.BigtableInstanceAdmin/CreateMaterializedView", Door::kDecided,
         kToCreateMaterializedView},
    Rule{"google.bigtable.admin.v2.BigtableInstanceAdmin/GetMaterializedView", Door::kDecided,
         kToGetMaterializedView},
    Rule{"google.bigtable.admin.v2.BigtableInstanceAdmin/ListMaterializedViews", Door::kDecided,
         kToListMaterializedViews},
    Rule{"google.bigtable.admin.v2.BigtableInstanceAdmin/UpdateMaterializedView", Door::kDecided,
         kToUpdateMaterializedView},
    Rule{"google.bigtable.admin.v2.BigtableInstanceAdmin/DeleteMaterializedView", Door::kDecided,
         kToDeleteMaterializedView},
    Rule{"google.longrunning.Operations/ListOperations", Door::kDecided, kToListOperations},
    Rule{"google.longrunning.Operations/GetOperation", Door::kDecided, kToListOperations},
    Rule{"google.longrunning.Operations/WaitOperation", Door::kDecided, kToListOperations},
    Rule{"google.longrunning.Operations/DeleteOperation", Door::kDecided, kToDeleteOperation},
    Rule{"google.longrunning.Operations/CancelOperation", Door::kDecided, kToDeleteOperation},
    Rule{"grpc.health.v1.Health/Check", Door::kOpen, {}},
    Rule{"grpc.health.v1.Health/Watch", Door::kOpen, {}},
    Rule{"grpc.reflection.v1.ServerReflection/ServerReflectionInfo", Door::kAuthenticated, {}},
    Rule{"grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", Door::kAuthenticated, {}},
};

}  // namespace

std::span<const Rule> AllRules() { return kRules; }

const Rule* FindRule(std::string_view method) {
  static const auto* const by_method = [] {
    auto* const rules = new absl::flat_hash_map<std::string_view, const Rule*>;
    for (const Rule& rule : kRules) rules->emplace(rule.method, &rule);
    return rules;
  }();
  if (method.starts_with('/')) method.remove_prefix(1);
  const auto found = by_method->find(method);
  return found == by_method->end() ? nullptr : found->second;
}

std::optional<Permission> PermissionFor(const Need& need, ResourceKind kind) {
  if (need.permission.has_value()) return need.permission;
  return FindPermission(fmt::format("bigtable.{}.{}", PluralOf(kind), need.verb));
}

Permission PermissionToReadRows(std::string_view resource) {
  switch (KindOfResource(resource).value_or(kTable)) {
    case kLogicalView:
      return PermissionOf("bigtable.logicalViews.readRows");
    case kMaterializedView:
      return PermissionOf("bigtable.materializedViews.readRows");
    default:
      return PermissionOf("bigtable.tables.readRows");
  }
}

Permission PermissionToInsert(std::string_view resource) {
  return KindOfResource(resource) == kInstance ? PermissionOf("bigtable.tables.create")
                                               : PermissionOf("bigtable.tables.mutateRows");
}

}  // namespace sonde
