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

absl::Status CheckId(std::string_view id, std::string_view what) {
  const bool ok = !id.empty() && id.size() <= kTableIdBytesMax && id[0] != '-' && id[0] != '.' &&
                  std::all_of(id.begin(), id.end(), IsNameByte);
  if (ok) return absl::OkStatus();
  return absl::InvalidArgumentError(
      fmt::format("Invalid {} id '{}': it must be 1 to {} characters of [_a-zA-Z0-9][-_.a-zA-Z0-9]*", what,
                  Printable(id), kTableIdBytesMax));
}

constexpr std::string_view kAuthorizedViews = "/authorizedViews/";
constexpr std::string_view kSchemaBundles = "/schemaBundles/";
constexpr std::string_view kBackups = "/backups/";
constexpr std::string_view kClusters = "/clusters/";

}  // namespace

absl::Status CheckInstanceName(std::string_view name) {
  if (IsInstanceName(name)) return absl::OkStatus();
  return absl::InvalidArgumentError(fmt::format(
      "Invalid instance name '{}': it must be projects/<project>/instances/<instance>", Printable(name)));
}

absl::Status CheckTableId(std::string_view id) { return CheckId(id, "table"); }

absl::Status CheckAuthorizedViewId(std::string_view id) { return CheckId(id, "authorized view"); }

absl::Status CheckSchemaBundleId(std::string_view id) { return CheckId(id, "schema bundle"); }

absl::Status CheckTableName(std::string_view name) {
  const size_t at = name.rfind("/tables/");
  if (at != std::string_view::npos && IsInstanceName(name.substr(0, at)))
    return CheckTableId(IdOfTable(name));
  return absl::InvalidArgumentError(fmt::format(
      "Invalid table name '{}': it must be projects/<project>/instances/<instance>/tables/<table>",
      Printable(name)));
}

absl::Status CheckAuthorizedViewName(std::string_view name) {
  const size_t at = name.rfind(kAuthorizedViews);
  if (at != std::string_view::npos && CheckTableName(name.substr(0, at)).ok())
    return CheckAuthorizedViewId(IdOfAuthorizedView(name));
  return absl::InvalidArgumentError(
      fmt::format("Invalid authorized view name '{}': it must be "
                  "projects/<project>/instances/<instance>/tables/<table>/authorizedViews/<authorized_view>",
                  Printable(name)));
}

absl::Status CheckSchemaBundleName(std::string_view name) {
  const size_t at = name.rfind(kSchemaBundles);
  if (at != std::string_view::npos && CheckTableName(name.substr(0, at)).ok())
    return CheckSchemaBundleId(IdOfSchemaBundle(name));
  return absl::InvalidArgumentError(
      fmt::format("Invalid schema bundle name '{}': it must be "
                  "projects/<project>/instances/<instance>/tables/<table>/schemaBundles/<schema_bundle>",
                  Printable(name)));
}

absl::Status CheckBackupId(std::string_view id) { return CheckId(id, "backup"); }

absl::Status CheckBackupName(std::string_view name) {
  const std::string_view cluster = ClusterOfBackup(name);
  const size_t at = cluster.rfind(kClusters);
  if (cluster.size() < name.size() && at != std::string_view::npos && IsInstanceName(cluster.substr(0, at)) &&
      CheckId(cluster.substr(at + kClusters.size()), "cluster").ok()) {
    return CheckBackupId(name.substr(cluster.size() + kBackups.size()));
  }
  return absl::InvalidArgumentError(
      fmt::format("Invalid backup name '{}': it must be "
                  "projects/<project>/instances/<instance>/clusters/<cluster>/backups/<backup>",
                  Printable(name)));
}

std::string_view ClusterOfBackup(std::string_view backup_name) {
  return backup_name.substr(0, backup_name.rfind(kBackups));
}

absl::Status CheckFamilyName(std::string_view name) {
  if (!name.empty() && name.size() <= kFamilyNameBytesMax &&
      std::all_of(name.begin(), name.end(), IsNameByte)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      fmt::format("Invalid family name '{}': it must be 1 to {} characters of [-_.a-zA-Z0-9]",
                  Printable(name), kFamilyNameBytesMax));
}

std::string_view InstanceOfTable(std::string_view table_name) {
  return table_name.substr(0, table_name.rfind("/tables/"));
}

std::string_view IdOfTable(std::string_view table_name) {
  return table_name.substr(table_name.rfind("/tables/") + std::string_view("/tables/").size());
}

std::string_view TableOfAuthorizedView(std::string_view view_name) {
  return view_name.substr(0, view_name.rfind(kAuthorizedViews));
}

std::string_view IdOfAuthorizedView(std::string_view view_name) {
  return view_name.substr(view_name.rfind(kAuthorizedViews) + kAuthorizedViews.size());
}

std::string_view TableOfSchemaBundle(std::string_view bundle_name) {
  return bundle_name.substr(0, bundle_name.rfind(kSchemaBundles));
}

std::string_view IdOfSchemaBundle(std::string_view bundle_name) {
  return bundle_name.substr(bundle_name.rfind(kSchemaBundles) + kSchemaBundles.size());
}

}  // namespace sonde
