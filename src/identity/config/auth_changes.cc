#include "identity/config/auth_changes.h"

#include <fmt/format.h>

#include <map>
#include <utility>

namespace sonde {
namespace {

// What a file says, in parts, each by its name.  The values are compared, and never shown.
using Parts = std::map<std::string, std::string>;

std::string PlaceOf(const AuthBinding& binding) {
  return binding.project.has_value() ? "projects/" + *binding.project : "the server";
}

void AddLimits(const AuthConfig& config, Parts* parts) {
  for (const AuthLimit& limit : config.limits) {
    // The first entry that names a caller counts, so the order is part of the value.
    (*parts)["the limits of callers"] +=
        fmt::format("{}:{},{},{},{};", fmt::join(limit.members, ","), limit.reads_per_second,
                    limit.writes_per_second, limit.bytes_per_second, limit.running_calls);
  }
}

Parts PartsOf(const AuthConfig& config) {
  Parts parts;
  if (config.accept_google_accounts) parts["tokens of Google's accounts"];
  for (const std::string& audience : config.audiences) parts["audience " + audience];
  for (const AuthAccount& account : config.accounts) {
    parts["account " + account.Member()];
    for (const AuthKey& key : account.keys)
      parts[fmt::format("key {} of {}", key.id, account.Member())] = key.public_key->pem();
  }
  for (const AuthToken& token : config.tokens) {
    const absl::Time expires = token.expires.value_or(absl::InfiniteFuture());
    parts[fmt::format("token {} of {}", token.id, token.member)] =
        std::string(token.sha256.begin(), token.sha256.end()) + absl::FormatTime(expires);
  }
  for (const AuthGroup& group : config.groups) {
    for (const std::string& member : group.members) parts[fmt::format("{} in group:{}", member, group.name)];
  }
  for (const AuthRole& role : config.roles)
    parts["role " + role.name] = fmt::format("{}", fmt::join(role.permissions, ","));
  for (const AuthBinding& binding : config.bindings) {
    for (const std::string& member : binding.members)
      parts[fmt::format("{} of {} on {}", binding.role, member, PlaceOf(binding))];
  }
  for (const AuthCertificate& certificate : config.certificates)
    parts["certificate " + certificate.name] = certificate.member;
  AddLimits(config, &parts);
  return parts;
}

}  // namespace

std::vector<AuthChange> ChangesBetween(const AuthConfig& before, const AuthConfig& now) {
  const Parts old_parts = PartsOf(before), new_parts = PartsOf(now);
  std::map<std::string, std::string> how;
  for (const auto& [what, value] : old_parts) {
    const auto found = new_parts.find(what);
    if (found == new_parts.end()) {
      how[what] = "removed";
    } else if (found->second != value) {
      how[what] = "changed";
    }
  }
  for (const auto& [what, value] : new_parts) {
    if (!old_parts.contains(what)) how[what] = "added";
  }
  std::vector<AuthChange> changes;
  changes.reserve(how.size());
  for (auto& [what, change] : how) changes.push_back({what, std::move(change)});
  return changes;
}

}  // namespace sonde
