// What one authentication file has that another has not, for the audit log.
#pragma once

#include <string>
#include <vector>

#include "identity/config/auth_config.h"

namespace sonde {

// `what` is a text for people, which names ids and members, never a secret or a digest of one: "key K of serviceAccount:a@b",
// "token T of user:a@b", "roles/bigtable.reader of group:g on the server".
struct AuthChange {
  std::string what;
  std::string how;  // "added", "removed", "changed"
  bool operator==(const AuthChange&) const = default;
};

// In the order of `what`.  Empty: the two are equal, but for the order of their entries.
std::vector<AuthChange> ChangesBetween(const AuthConfig& before, const AuthConfig& now);

}  // namespace sonde
