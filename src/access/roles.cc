#include "access/roles.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

#include "absl/strings/str_split.h"
#include "base/bytes.h"

namespace sonde {
namespace {

PermissionSet SetOf(std::initializer_list<Permission> permissions) {
  PermissionSet set;
  for (const Permission permission : permissions) set.set(static_cast<size_t>(permission));
  return set;
}

// The permissions of Bigtable's that end with ".VERB".
PermissionSet OfVerbs(std::initializer_list<std::string_view> verbs) {
  PermissionSet set;
  for (size_t i = 0; i < kPermissionNames.size(); ++i) {
    const std::string_view name = kPermissionNames[i];
    if (!name.starts_with("bigtable.")) continue;
    const std::string_view verb = name.substr(name.rfind('.') + 1);
    if (std::find(verbs.begin(), verbs.end(), verb) != verbs.end()) set.set(i);
  }
  return set;
}

constexpr Permission kKeyVisualizerGet = PermissionOf("bigtable.keyvisualizer.get");
constexpr Permission kKeyVisualizerList = PermissionOf("bigtable.keyvisualizer.list");

// The part that viewers and readers share.
PermissionSet Looking() {
  return (OfVerbs({"get", "list"}) & ~SetOf({kKeyVisualizerGet, kKeyVisualizerList})) |
         OfVerbs({"checkConsistency", "generateConsistencyToken"});
}

PermissionSet Viewer() {
  return Looking() |
         SetOf({PermissionOf("bigtable.instances.listEffectiveTags"),
                PermissionOf("bigtable.instances.listTagBindings"), PermissionOf("sonde.metrics.get")});
}

PermissionSet Reader() {
  return Looking() | OfVerbs({"readRows", "sampleRowKeys", "ping", "executeQuery"}) |
         SetOf({kKeyVisualizerGet, kKeyVisualizerList, PermissionOf("sonde.metrics.get")});
}

PermissionSet User() { return Reader() | OfVerbs({"mutateRows"}); }

PermissionSet Editor() {
  return User() | OfVerbs({"create", "update", "delete", "undelete", "read", "restore", "getIamPolicy",
                           "listEffectiveTags", "listTagBindings"});
}

PermissionSet Monitor() { return Viewer() | SetOf({PermissionOf("sonde.debug.get")}); }

}  // namespace

Roles::Roles() {
  roles_.emplace(std::string(kViewerRole), Viewer());
  roles_.emplace(std::string(kReaderRole), Reader());
  roles_.emplace(std::string(kUserRole), User());
  roles_.emplace(std::string(kEditorRole), Editor());
  roles_.emplace(std::string(kAdminRole), PermissionSet().set());
  roles_.emplace(std::string(kMonitorRole), Monitor());
}

absl::Status Roles::Add(std::string_view name, const std::vector<std::string>& permissions) {
  const std::vector<std::string> parts = absl::StrSplit(absl::string_view(name.data(), name.size()), '/');
  if (parts.size() != 4 || parts[0] != "projects" || parts[1].empty() || parts[2] != "roles" ||
      parts[3].empty()) {
    return absl::InvalidArgumentError(
        fmt::format("The name of a custom role must be projects/P/roles/R, but is '{}'", Printable(name)));
  }
  PermissionSet set;
  for (const std::string& permission : permissions) {
    const std::optional<Permission> found = FindPermission(permission);
    if (!found.has_value()) {
      return absl::InvalidArgumentError(
          fmt::format("The role {} has the permission '{}', which does not exist", Printable(name),
                      Printable(permission)));
    }
    set.set(static_cast<size_t>(*found));
  }
  if (!roles_.emplace(std::string(name), set).second) {
    return absl::AlreadyExistsError(fmt::format("There are two roles of the name {}", Printable(name)));
  }
  return absl::OkStatus();
}

const PermissionSet* Roles::Find(std::string_view name) const {
  const auto found = roles_.find(absl::string_view(name.data(), name.size()));
  return found == roles_.end() ? nullptr : &found->second;
}

}  // namespace sonde
