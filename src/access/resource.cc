#include "access/resource.h"

#include <algorithm>
#include <array>

namespace sonde {
namespace {

constexpr size_t kIdBytesMax = 1024;

struct Collection {
  std::string_view name;  // as names of resources and permissions have it
  std::string_view type;
  ResourceKind parent;
  ResourceKind kind;
  bool has_policy;
};

using enum ResourceKind;
constexpr std::array kCollections = {
    Collection{"projects", "cloudresourcemanager.googleapis.com/Project", kServer, kProject, false},
    Collection{"instances", "bigtableadmin.googleapis.com/Instance", kProject, kInstance, true},
    Collection{"clusters", "bigtableadmin.googleapis.com/Cluster", kInstance, kCluster, false},
    Collection{"appProfiles", "bigtableadmin.googleapis.com/AppProfile", kInstance, kAppProfile, false},
    Collection{"tables", "bigtableadmin.googleapis.com/Table", kInstance, kTable, true},
    Collection{"authorizedViews", "bigtableadmin.googleapis.com/AuthorizedView", kTable, kAuthorizedView,
               true},
    Collection{"schemaBundles", "bigtableadmin.googleapis.com/SchemaBundle", kTable, kSchemaBundle, true},
    Collection{"logicalViews", "bigtableadmin.googleapis.com/LogicalView", kInstance, kLogicalView, true},
    Collection{"materializedViews", "bigtableadmin.googleapis.com/MaterializedView", kInstance,
               kMaterializedView, true},
    Collection{"backups", "bigtableadmin.googleapis.com/Backup", kCluster, kBackup, true},
    Collection{"snapshots", "bigtableadmin.googleapis.com/Snapshot", kCluster, kSnapshot, false},
};

const Collection* CollectionOf(ResourceKind kind) {
  const auto* const found = std::find_if(kCollections.begin(), kCollections.end(),
                                         [kind](const Collection& it) { return it.kind == kind; });
  return found == kCollections.end() ? nullptr : found;
}

std::string_view TakePart(std::string_view* name) {
  const size_t end = name->find('/');
  const std::string_view part = name->substr(0, end);
  name->remove_prefix(end == std::string_view::npos ? name->size() : end + 1);
  return part;
}

bool IsId(std::string_view id) {
  return !id.empty() && id.size() <= kIdBytesMax && std::none_of(id.begin(), id.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
  });
}

}  // namespace

std::optional<ResourceKind> KindOfResource(std::string_view name) {
  if (name.empty()) return kServer;
  if (name.ends_with('/')) return std::nullopt;
  ResourceKind kind = kServer;
  while (!name.empty()) {
    const std::string_view collection = TakePart(&name);
    const auto* const found =
        std::find_if(kCollections.begin(), kCollections.end(),
                     [&](const Collection& it) { return it.parent == kind && it.name == collection; });
    if (found == kCollections.end() || !IsId(TakePart(&name))) return std::nullopt;
    kind = found->kind;
  }
  return kind;
}

std::string_view ParentOf(std::string_view name) {
  const size_t id = name.rfind('/');
  if (id == std::string_view::npos) return {};
  const size_t collection = name.rfind('/', id - 1);
  return collection == std::string_view::npos ? std::string_view() : name.substr(0, collection);
}

std::string_view ResourceOfOperation(std::string_view name) {
  static constexpr std::string_view kPrefix = "operations/";
  static constexpr std::string_view kSuffix = "/operations/";
  if (!name.starts_with(kPrefix)) return name;
  name.remove_prefix(kPrefix.size());
  const size_t at = name.rfind(kSuffix);
  return at == std::string_view::npos ? name : name.substr(0, at);
}

std::string_view PluralOf(ResourceKind kind) {
  const Collection* const found = CollectionOf(kind);
  const bool has_permissions = found != nullptr && kind != kProject && kind != kSnapshot;
  return has_permissions ? found->name : std::string_view();
}

std::string_view TypeOf(ResourceKind kind) {
  const Collection* const found = CollectionOf(kind);
  return found == nullptr ? std::string_view() : found->type;
}

bool HasPolicy(ResourceKind kind) {
  const Collection* const found = CollectionOf(kind);
  return found != nullptr && found->has_policy;
}

}  // namespace sonde
