// The roles: names of sets of permissions.  Five are Google's, one is Sonde's, and the configuration adds others.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "access/permission.h"

namespace sonde {

inline constexpr std::string_view kViewerRole = "roles/bigtable.viewer";
inline constexpr std::string_view kReaderRole = "roles/bigtable.reader";
inline constexpr std::string_view kUserRole = "roles/bigtable.user";
inline constexpr std::string_view kEditorRole = "roles/editor";
inline constexpr std::string_view kAdminRole = "roles/bigtable.admin";
inline constexpr std::string_view kMonitorRole = "roles/sonde.monitor";

// Threads: Find may be called by all threads once the roles have been added.
class Roles {
 public:
  // Has the six roles.
  Roles();

  // Adds "projects/P/roles/R".  INVALID_ARGUMENT: the name is not of this form, or a permission does not exist.
  // ALREADY_EXISTS: there is a role of this name.
  absl::Status Add(std::string_view name, const std::vector<std::string>& permissions);

  // Null: there is no such role.
  const PermissionSet* Find(std::string_view name) const;

 private:
  absl::flat_hash_map<std::string, PermissionSet> roles_;
};

}  // namespace sonde
