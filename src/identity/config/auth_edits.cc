#include "identity/config/auth_edits.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/bytes.h"
#include "identity/config/member_names.h"

namespace sonde {
namespace {

// auth.yaml keeps times to the second.
absl::Time ToSecond(absl::Time time) { return absl::FromUnixSeconds(absl::ToUnixSeconds(time)); }

absl::Status Full(std::string_view what, size_t count_max) {
  return absl::ResourceExhaustedError(
      fmt::format("{} has {} already, as many as are allowed", what, count_max));
}

std::string PlaceOf(const std::optional<std::string>& project) {
  return project.has_value() ? "project " + *project : "the server";
}

absl::Status CheckBinding(const AuthConfig& config, std::string_view member, std::string_view role,
                          const std::optional<std::string>& project) {
  if (absl::Status status = CheckGrantedMember(member); !status.ok()) return status;
  if (project.has_value()) {
    if (absl::Status status = CheckProjectId(*project); !status.ok()) return status;
  }
  constexpr std::string_view kGroup = "group:";
  if (member.starts_with(kGroup) &&
      std::none_of(config.groups.begin(), config.groups.end(),
                   [&](const AuthGroup& group) { return group.name == member.substr(kGroup.size()); })) {
    return absl::NotFoundError(fmt::format("'{}' is no group of the authentication file", member));
  }
  if (IsPredefinedRoleName(role)) return absl::OkStatus();
  if (!IsCustomRoleName(role)) {
    return absl::InvalidArgumentError(
        fmt::format("role '{}' must be roles/NAME or projects/PROJECT/roles/NAME", Printable(role)));
  }
  const bool is_known = std::any_of(config.roles.begin(), config.roles.end(),
                                    [&](const AuthRole& known) { return known.name == role; });
  if (is_known) return absl::OkStatus();
  return absl::NotFoundError(fmt::format("'{}' is no role of the authentication file", role));
}

}  // namespace

absl::StatusOr<NewServiceKey> AddServiceKey(AuthConfig* config, std::string_view name,
                                            std::string_view project, absl::Time now) {
  if (absl::Status status = CheckAccountName(name); !status.ok()) return status;
  if (absl::Status status = CheckProjectId(project); !status.ok()) return status;
  const std::string email = fmt::format("{}@{}", name, kAccountDomain);
  auto account = std::find_if(config->accounts.begin(), config->accounts.end(),
                              [&](const AuthAccount& known) { return known.email == email; });
  if (account == config->accounts.end()) {
    if (config->accounts.size() >= kAuthAccountsMax) return Full("the file", kAuthAccountsMax);
  } else if (account->keys.size() >= kAuthKeysPerAccountMax) {
    return Full("account " + email, kAuthKeysPerAccountMax);
  }
  absl::StatusOr<NewServiceKey> key = MakeServiceKey(email, project);
  if (!key.ok()) return key.status();
  if (account == config->accounts.end()) {
    account = config->accounts.insert(account, AuthAccount{.email = email, .keys = {}});
  }
  account->keys.push_back({.id = key->id, .created = ToSecond(now), .public_key = key->public_key});
  return key;
}

absl::StatusOr<NewStaticToken> AddStaticToken(AuthConfig* config, std::string_view member,
                                              std::optional<absl::Time> expires, absl::Time now) {
  if (absl::Status status = CheckMember(member); !status.ok()) return status;
  if (config->tokens.size() >= kAuthTokensMax) return Full("the file", kAuthTokensMax);
  if (expires.has_value() && *expires <= now)
    return absl::InvalidArgumentError("a token must not expire before it is made");
  NewStaticToken token = MakeStaticToken();
  AuthToken entry{
      .id = token.id, .sha256 = Sha256(token.text), .member = std::string(member), .created = ToSecond(now)};
  if (expires.has_value()) entry.expires = ToSecond(*expires);
  config->tokens.push_back(std::move(entry));
  return token;
}

absl::StatusOr<std::string> RevokeProof(AuthConfig* config, std::string_view id) {
  for (AuthAccount& account : config->accounts) {
    const auto key = std::find_if(account.keys.begin(), account.keys.end(),
                                  [&](const AuthKey& known) { return known.id == id; });
    if (key == account.keys.end()) continue;
    account.keys.erase(key);
    return account.Member();
  }
  const auto token = std::find_if(config->tokens.begin(), config->tokens.end(),
                                  [&](const AuthToken& known) { return known.id == id; });
  if (token == config->tokens.end()) {
    return absl::NotFoundError(fmt::format("no key and no token has the id '{}'", Printable(id)));
  }
  std::string member = std::move(token->member);
  config->tokens.erase(token);
  return member;
}

absl::Status AddBinding(AuthConfig* config, std::string_view member, std::string_view role,
                        const std::optional<std::string>& project) {
  if (absl::Status status = CheckBinding(*config, member, role, project); !status.ok()) return status;
  // An entry of this role and place that has room takes the member.
  AuthBinding* place = nullptr;
  for (AuthBinding& binding : config->bindings) {
    if (binding.role != role || binding.project != project) continue;
    if (std::find(binding.members.begin(), binding.members.end(), member) != binding.members.end()) {
      return absl::AlreadyExistsError(fmt::format("{} has {} on {} already", member, role, PlaceOf(project)));
    }
    if (binding.members.size() < kAuthMembersMax) place = &binding;
  }
  if (place != nullptr) {
    place->members.emplace_back(member);
    return absl::OkStatus();
  }
  if (config->bindings.size() >= kAuthBindingsMax) return Full("the file", kAuthBindingsMax);
  config->bindings.push_back(
      {.role = std::string(role), .members = {std::string(member)}, .project = project});
  return absl::OkStatus();
}

absl::Status RemoveBinding(AuthConfig* config, std::string_view member, std::string_view role,
                           const std::optional<std::string>& project) {
  bool is_removed = false;
  for (AuthBinding& binding : config->bindings) {
    if (binding.role != role || binding.project != project) continue;
    is_removed = std::erase(binding.members, member) > 0 || is_removed;
  }
  std::erase_if(config->bindings, [](const AuthBinding& binding) { return binding.members.empty(); });
  if (is_removed) return absl::OkStatus();
  return absl::NotFoundError(
      fmt::format("{} has no {} on {}", Printable(member), Printable(role), PlaceOf(project)));
}

}  // namespace sonde
