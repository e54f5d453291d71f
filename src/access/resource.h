// Names of resources as policies see them, whether or not a resource of the name exists.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace sonde {

enum class ResourceKind : uint8_t {
  kServer,  // its name is empty
  kProject,
  kInstance,
  kCluster,
  kAppProfile,
  kTable,
  kAuthorizedView,
  kSchemaBundle,
  kLogicalView,
  kMaterializedView,
  kBackup,
  kSnapshot,
};

// nullopt: `name` is no name of a resource.  An id is 1 to 1024 bytes, none of them '/' or a control byte; which ids may be given
// to new resources is decided elsewhere.
std::optional<ResourceKind> KindOfResource(std::string_view name);

// The name one step up: of a table its instance, of a project "" (the server).  `name` has a kind and is not empty.
std::string_view ParentOf(std::string_view name);

// Takes the resource out of "operations/RESOURCE/operations/ID" and of "operations/RESOURCE".  Any other name is given back.
std::string_view ResourceOfOperation(std::string_view name);

// "tables" for kTable, as permissions name it.  Empty: there are no permissions of this kind.
std::string_view PluralOf(ResourceKind kind);

// "bigtableadmin.googleapis.com/Table", as conditions name it.
std::string_view TypeOf(ResourceKind kind);

// Whether the kind's resources may have a policy of their own.
bool HasPolicy(ResourceKind kind);

}  // namespace sonde
