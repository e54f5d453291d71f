#include "server/process/root_user.h"

#include <unistd.h>

#include <string_view>

namespace sonde {
namespace {

constexpr const char* kContainerVariables[] = {"container", "KUBERNETES_SERVICE_HOST"};
constexpr const char* kContainerFiles[] = {"/.dockerenv", "/run/.containerenv"};

}  // namespace

ProcessUser ProcessUser::Find(const std::function<const char*(const char* name)>& read) {
  ProcessUser user{.is_root = geteuid() == 0};
  for (const char* const name : kContainerVariables) {
    const char* const value = read(name);
    if (value != nullptr && !std::string_view(value).empty()) user.is_in_container = true;
  }
  for (const char* const file : kContainerFiles) {
    if (access(file, F_OK) == 0) user.is_in_container = true;
  }
  return user;
}

absl::Status CheckUser(const ProcessUser& user, bool allow_root) {
  if (!user.is_root || user.is_in_container || allow_root) return absl::OkStatus();
  return absl::FailedPreconditionError(
      "The server does not run as root outside of a container: start it as a user of its own (the package "
      "makes "
      "the user sonde), or add --allow-root");
}

}  // namespace sonde
