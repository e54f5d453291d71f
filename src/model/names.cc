#include "model/names.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"
#include "model/limits.h"

namespace sonde {
namespace {

constexpr size_t kProjectOrInstanceBytesMax = 1024;

bool IsNameByte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
         c == '.';
}

// Whatever a client calls them: Node's sends "{{projectId}}" when nobody told it a project, and projects may
// be domain-scoped ("example.com:project").
bool IsProjectOrInstance(std::string_view part) {
  constexpr unsigned char kFirstPrintable = 0x20, kDelete = 0x7F;
  return !part.empty() && part.size() <= kProjectOrInstanceBytesMax &&
         std::none_of(part.begin(), part.end(), [](char c) {
           const auto byte = static_cast<unsigned char>(c);
           return c == '/' || byte < kFirstPrintable || byte == kDelete;
         });
}

bool IsInstanceName(std::string_view name) {
  const auto take = [&name](std::string_view literal) {
    if (!name.starts_with(literal)) return false;
    name.remove_prefix(literal.size());
    return true;
  };
  if (!take("projects/")) return false;
  const size_t slash = name.find('/');
  if (slash == std::string_view::npos || !IsProjectOrInstance(name.substr(0, slash))) return false;
  name.remove_prefix(slash);
  return take("/instances/") && IsProjectOrInstance(name);
}

// What stands before and behind the last `literal` of a name that has one.
std::string_view Before(std::string_view literal, std::string_view name) {
  return name.substr(0, name.rfind(literal));
}
std::string_view Behind(std::string_view literal, std::string_view name) {
  return name.substr(name.rfind(literal) + literal.size());
}

absl::Status CheckId(std::string_view id, std::string_view what) {
  const bool ok = !id.empty() && id.size() <= kTableIdBytesMax && id[0] != '-' && id[0] != '.' &&
                  std::all_of(id.begin(), id.end(), IsNameByte);
  if (ok) return absl::OkStatus();
  return absl::InvalidArgumentError(
      fmt::format("Invalid {} id '{}': it must be 1 to {} characters of [_a-zA-Z0-9][-_.a-zA-Z0-9]*", what,
                  Printable(id), kTableIdBytesMax));
}

constexpr std::string_view kTables = "/tables/";
constexpr std::string_view kAppProfiles = "/appProfiles/";
constexpr std::string_view kAuthorizedViews = "/authorizedViews/";
constexpr std::string_view kSchemaBundles = "/schemaBundles/";
constexpr std::string_view kLogicalViews = "/logicalViews/";
constexpr std::string_view kMaterializedViews = "/materializedViews/";
constexpr std::string_view kBackups = "/backups/";
constexpr std::string_view kClusters = "/clusters/";

}  // namespace

absl::Status CheckProjectName(std::string_view name) {
  constexpr std::string_view kProjects = "projects/";
  if (name.starts_with(kProjects) && IsProjectOrInstance(name.substr(kProjects.size())))
    return absl::OkStatus();
  return absl::InvalidArgumentError(
      fmt::format("Invalid project name '{}': it must be projects/<project>", Printable(name)));
}

absl::Status CheckInstanceName(std::string_view name) {
  if (IsInstanceName(name)) return absl::OkStatus();
  return absl::InvalidArgumentError(fmt::format(
      "Invalid instance name '{}': it must be projects/<project>/instances/<instance>", Printable(name)));
}

absl::Status CheckClusterId(std::string_view id) {
  const auto is_letter = [](char c) { return c >= 'a' && c <= 'z'; };
  const auto is_allowed = [&](char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '-'; };
  if (!id.empty() && id.size() <= kClusterIdBytesMax && is_letter(id[0]) &&
      std::all_of(id.begin(), id.end(), is_allowed)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      fmt::format("Invalid cluster id '{}': it must be 1 to {} characters of [a-z][-a-z0-9]*", Printable(id),
                  kClusterIdBytesMax));
}

absl::Status CheckClusterName(std::string_view name) {
  if (name.find(kClusters) != std::string_view::npos && IsInstanceName(InstanceOfCluster(name)))
    return CheckClusterId(IdOfCluster(name));
  return absl::InvalidArgumentError(fmt::format(
      "Invalid cluster name '{}': it must be projects/<project>/instances/<instance>/clusters/<cluster>",
      Printable(name)));
}

absl::Status CheckAppProfileId(std::string_view id) { return CheckId(id, "app profile"); }

absl::Status CheckAppProfileName(std::string_view name) {
  if (name.find(kAppProfiles) != std::string_view::npos && IsInstanceName(InstanceOfAppProfile(name)))
    return CheckAppProfileId(IdOfAppProfile(name));
  return absl::InvalidArgumentError(
      fmt::format("Invalid app profile name '{}': it must be "
                  "projects/<project>/instances/<instance>/appProfiles/<app_profile>",
                  Printable(name)));
}

absl::Status CheckTableId(std::string_view id) { return CheckId(id, "table"); }

absl::Status CheckAuthorizedViewId(std::string_view id) { return CheckId(id, "authorized view"); }

absl::Status CheckSchemaBundleId(std::string_view id) { return CheckId(id, "schema bundle"); }

absl::Status CheckTableName(std::string_view name) {
  if (name.find(kTables) != std::string_view::npos && IsInstanceName(InstanceOfTable(name)))
    return CheckTableId(IdOfTable(name));
  return absl::InvalidArgumentError(fmt::format(
      "Invalid table name '{}': it must be projects/<project>/instances/<instance>/tables/<table>",
      Printable(name)));
}

absl::Status CheckAuthorizedViewName(std::string_view name) {
  if (name.find(kAuthorizedViews) != std::string_view::npos &&
      CheckTableName(TableOfAuthorizedView(name)).ok())
    return CheckAuthorizedViewId(IdOfAuthorizedView(name));
  return absl::InvalidArgumentError(
      fmt::format("Invalid authorized view name '{}': it must be "
                  "projects/<project>/instances/<instance>/tables/<table>/authorizedViews/<authorized_view>",
                  Printable(name)));
}

absl::Status CheckSchemaBundleName(std::string_view name) {
  if (name.find(kSchemaBundles) != std::string_view::npos && CheckTableName(TableOfSchemaBundle(name)).ok())
    return CheckSchemaBundleId(IdOfSchemaBundle(name));
  return absl::InvalidArgumentError(
      fmt::format("Invalid schema bundle name '{}': it must be "
                  "projects/<project>/instances/<instance>/tables/<table>/schemaBundles/<schema_bundle>",
                  Printable(name)));
}

absl::Status CheckLogicalViewId(std::string_view id) { return CheckId(id, "logical view"); }

absl::Status CheckMaterializedViewId(std::string_view id) { return CheckId(id, "materialized view"); }

absl::Status CheckLogicalViewName(std::string_view name) {
  if (name.find(kLogicalViews) != std::string_view::npos && IsInstanceName(Before(kLogicalViews, name)))
    return CheckLogicalViewId(Behind(kLogicalViews, name));
  return absl::InvalidArgumentError(
      fmt::format("Invalid logical view name '{}': it must be "
                  "projects/<project>/instances/<instance>/logicalViews/<logical_view>",
                  Printable(name)));
}

absl::Status CheckMaterializedViewName(std::string_view name) {
  if (name.find(kMaterializedViews) != std::string_view::npos &&
      IsInstanceName(Before(kMaterializedViews, name)))
    return CheckMaterializedViewId(Behind(kMaterializedViews, name));
  return absl::InvalidArgumentError(
      fmt::format("Invalid materialized view name '{}': it must be "
                  "projects/<project>/instances/<instance>/materializedViews/<materialized_view>",
                  Printable(name)));
}

absl::Status CheckBackupId(std::string_view id) { return CheckId(id, "backup"); }

absl::Status CheckBackupName(std::string_view name) {
  if (name.find(kBackups) != std::string_view::npos && CheckClusterName(ClusterOfBackup(name)).ok())
    return CheckBackupId(Behind(kBackups, name));
  return absl::InvalidArgumentError(
      fmt::format("Invalid backup name '{}': it must be "
                  "projects/<project>/instances/<instance>/clusters/<cluster>/backups/<backup>",
                  Printable(name)));
}

std::string_view ClusterOfBackup(std::string_view backup_name) { return Before(kBackups, backup_name); }

absl::Status CheckFamilyName(std::string_view name) {
  if (!name.empty() && name.size() <= kFamilyNameBytesMax &&
      std::all_of(name.begin(), name.end(), IsNameByte)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      fmt::format("Invalid family name '{}': it must be 1 to {} characters of [-_.a-zA-Z0-9]",
                  Printable(name), kFamilyNameBytesMax));
}

std::string_view InstanceOfCluster(std::string_view cluster_name) { return Before(kClusters, cluster_name); }

std::string_view IdOfCluster(std::string_view cluster_name) { return Behind(kClusters, cluster_name); }

std::string_view InstanceOfAppProfile(std::string_view profile_name) {
  return Before(kAppProfiles, profile_name);
}

std::string_view IdOfAppProfile(std::string_view profile_name) { return Behind(kAppProfiles, profile_name); }

std::string_view InstanceOfTable(std::string_view table_name) { return Before(kTables, table_name); }

std::string_view IdOfTable(std::string_view table_name) { return Behind(kTables, table_name); }

std::string_view TableOfAuthorizedView(std::string_view view_name) {
  return Before(kAuthorizedViews, view_name);
}

std::string_view IdOfAuthorizedView(std::string_view view_name) {
  return Behind(kAuthorizedViews, view_name);
}

std::string_view TableOfSchemaBundle(std::string_view bundle_name) {
  return Before(kSchemaBundles, bundle_name);
}

std::string_view IdOfSchemaBundle(std::string_view bundle_name) {
  return Behind(kSchemaBundles, bundle_name);
}

std::string_view InstanceOfSqlView(std::string_view view_name) { return Before("/", Before("/", view_name)); }

std::string_view IdOfSqlView(std::string_view view_name) { return Behind("/", view_name); }

}  // namespace sonde
