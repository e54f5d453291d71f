// The permissions by name: Bigtable's ("bigtable.tables.readRows") and Sonde's own ("sonde.metrics.get").
//
// Source: Google's list of the permissions of Bigtable, all 90 of it.
#pragma once

#include <algorithm>
#include <array>
#include <bitset>
#include <cstdint>
#include <optional>
#include <string_view>

namespace sonde {

// Ascending by bytes.
inline constexpr std::array<std::string_view, 95> kPermissionNames = {
    "bigtable.appProfiles.create",
    "bigtable.appProfiles.delete",
    "bigtable.appProfiles.get",
    "bigtable.appProfiles.list",
    "bigtable.appProfiles.update",
    "bigtable.authorizedViews.create",
    "bigtable.authorizedViews.createTagBinding",
    "bigtable.authorizedViews.delete",
    "bigtable.authorizedViews.deleteTagBinding",
    "bigtable.authorizedViews.get",
    "bigtable.authorizedViews.getIamPolicy",
    "bigtable.authorizedViews.list",
    "bigtable.authorizedViews.listEffectiveTags",
    "bigtable.authorizedViews.listTagBindings",
    "bigtable.authorizedViews.mutateRows",
    "bigtable.authorizedViews.readRows",
    "bigtable.authorizedViews.sampleRowKeys",
    "bigtable.authorizedViews.setIamPolicy",
    "bigtable.authorizedViews.update",
    "bigtable.backups.create",
    "bigtable.backups.delete",
    "bigtable.backups.get",
    "bigtable.backups.getIamPolicy",
    "bigtable.backups.list",
    "bigtable.backups.read",
    "bigtable.backups.restore",
    "bigtable.backups.setIamPolicy",
    "bigtable.backups.update",
    "bigtable.clusters.create",
    "bigtable.clusters.delete",
    "bigtable.clusters.get",
    "bigtable.clusters.list",
    "bigtable.clusters.update",
    "bigtable.hotTablets.list",
    "bigtable.instances.create",
    "bigtable.instances.createTagBinding",
    "bigtable.instances.delete",
    "bigtable.instances.deleteTagBinding",
    "bigtable.instances.executeQuery",
    "bigtable.instances.get",
    "bigtable.instances.getIamPolicy",
    "bigtable.instances.list",
    "bigtable.instances.listEffectiveTags",
    "bigtable.instances.listTagBindings",
    "bigtable.instances.ping",
    "bigtable.instances.setIamPolicy",
    "bigtable.instances.update",
    "bigtable.keyvisualizer.get",
    "bigtable.keyvisualizer.list",
    "bigtable.locations.list",
    "bigtable.logicalViews.create",
    "bigtable.logicalViews.delete",
    "bigtable.logicalViews.get",
    "bigtable.logicalViews.getIamPolicy",
    "bigtable.logicalViews.list",
    "bigtable.logicalViews.readRows",
    "bigtable.logicalViews.setIamPolicy",
    "bigtable.logicalViews.update",
    "bigtable.materializedViews.create",
    "bigtable.materializedViews.delete",
    "bigtable.materializedViews.get",
    "bigtable.materializedViews.getIamPolicy",
    "bigtable.materializedViews.list",
    "bigtable.materializedViews.readRows",
    "bigtable.materializedViews.sampleRowKeys",
    "bigtable.materializedViews.setIamPolicy",
    "bigtable.materializedViews.update",
    "bigtable.memoryLayers.get",
    "bigtable.memoryLayers.list",
    "bigtable.memoryLayers.update",
    "bigtable.schemaBundles.create",
    "bigtable.schemaBundles.delete",
    "bigtable.schemaBundles.get",
    "bigtable.schemaBundles.getIamPolicy",
    "bigtable.schemaBundles.list",
    "bigtable.schemaBundles.setIamPolicy",
    "bigtable.schemaBundles.update",
    "bigtable.tables.checkConsistency",
    "bigtable.tables.create",
    "bigtable.tables.delete",
    "bigtable.tables.generateConsistencyToken",
    "bigtable.tables.get",
    "bigtable.tables.getIamPolicy",
    "bigtable.tables.list",
    "bigtable.tables.mutateRows",
    "bigtable.tables.readRows",
    "bigtable.tables.sampleRowKeys",
    "bigtable.tables.setIamPolicy",
    "bigtable.tables.undelete",
    "bigtable.tables.update",
    "sonde.backups.export",
    "sonde.debug.get",
    "sonde.metrics.get",
    "sonde.requests.cancel",
    "sonde.server.reload",
};
static_assert(std::is_sorted(kPermissionNames.begin(), kPermissionNames.end()));

// A place in kPermissionNames.
enum class Permission : uint8_t {};

using PermissionSet = std::bitset<kPermissionNames.size()>;

// nullopt: there is no such permission.
constexpr std::optional<Permission> FindPermission(std::string_view name) {
  const auto* const found = std::lower_bound(kPermissionNames.begin(), kPermissionNames.end(), name);
  if (found == kPermissionNames.end() || *found != name) return std::nullopt;
  return Permission(found - kPermissionNames.begin());
}

// The permission of a name that exists; any other does not compile.
consteval Permission PermissionOf(std::string_view name) { return FindPermission(name).value(); }

constexpr std::string_view NameOf(Permission permission) {
  return kPermissionNames[static_cast<size_t>(permission)];
}

inline bool Has(const PermissionSet& set, Permission permission) {
  return set[static_cast<size_t>(permission)];
}

}  // namespace sonde
