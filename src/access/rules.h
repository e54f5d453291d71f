// The permission table: which permissions a call of each gRPC method needs, and which field of its request names the resource.  A
// method that is not in the table is refused.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "access/permission.h"
#include "access/resource.h"

namespace sonde {

enum class Door : uint8_t {
  kOpen,           // everybody may call it
  kAuthenticated,  // everybody who has proven who he is
  kDecided,        // whoever has what the call needs
  kNotBuilt,       // nobody: UNIMPLEMENTED for everybody who has proven who he is
};

struct Need {
  // nullopt: the permission of `verb` for the resource's kind, "bigtable.tables.getIamPolicy".
  std::optional<Permission> permission;
  std::string_view verb = {};
  // Fields of the request, from the outside in: "table.name".
  std::string_view field;
  std::optional<ResourceKind> kind = std::nullopt;  // of the resource that the field names; nullopt: any
  bool if_set = false;  // only if the field is not empty; a call must have one field at least
};

struct Rule {
  std::string_view method;  // "google.bigtable.v2.Bigtable/ReadRows"
  Door door = Door::kDecided;
  std::span<const Need> needs = {};
};

// All rules, by the order of the services' definitions.
std::span<const Rule> AllRules();

// `method` may begin with '/'.  Null: there is no rule.
const Rule* FindRule(std::string_view method);

// The permission that a need asks on a resource of this kind.  nullopt: resources of this kind have no such permission.
std::optional<Permission> PermissionFor(const Need& need, ResourceKind kind);

// The permission that SQL needs to read a table, a logical view or a materialized view of this name.
Permission PermissionToReadRows(std::string_view resource);

// The permission that INSERT needs on a table of this name, and on an instance: there it makes tables of periods.
Permission PermissionToInsert(std::string_view resource);

}  // namespace sonde
