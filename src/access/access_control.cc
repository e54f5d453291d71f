#include "access/access_control.h"

#include <fmt/format.h>

#include <utility>

#include "access/resource.h"

namespace sonde {

absl::Status AccessDenied(Permission permission) {
  return absl::PermissionDeniedError(
      fmt::format("Access denied. Missing IAM permission: {}.", NameOf(permission)));
}

AccessControl::AccessControl(Authenticator* authenticator, const PolicySource* policies,
                             const Configuration& configuration)
    : authenticator_(authenticator), policies_(policies) {
  Configure(configuration);
}

void AccessControl::Configure(const Configuration& configuration) {
  auto held = std::make_shared<Held>();
  held->roles = configuration.roles;
  for (const auto& [resource, policy] : configuration.policies) {
    held->grants.emplace(resource, Grants(policy));
  }
  rates_->Configure(configuration.limits);
  const absl::MutexLock lock(&mutex_);
  held_ = std::move(held);
}

std::shared_ptr<const AccessControl::Held> AccessControl::held() const {
  const absl::ReaderMutexLock lock(&mutex_);
  return held_;
}

std::shared_ptr<const Roles> AccessControl::roles() const {
  std::shared_ptr<const Held> held = this->held();
  return {held, &held->roles};
}

absl::StatusOr<PrincipalRef> AccessControl::Authenticate(const Credentials& credentials, absl::Time now,
                                                         std::string* cause) const {
  return Checked(authenticator_->Authenticate(credentials, now, cause), now, cause);
}

absl::StatusOr<PrincipalRef> AccessControl::AuthenticateToken(std::string_view token_id,
                                                              std::string_view token_sha256, absl::Time now,
                                                              std::string* cause) const {
  return Checked(authenticator_->AuthenticateToken(token_id, token_sha256, now, cause), now, cause);
}

absl::StatusOr<PrincipalRef> AccessControl::Checked(absl::StatusOr<PrincipalRef> principal, absl::Time now,
                                                    std::string* cause) {
  // The text tells nobody more than that: the cause is for the audit log.
  if (!principal.ok()) return absl::UnauthenticatedError(kBadCredentials);
  if (*principal == nullptr || (*principal)->member.empty() || (*principal)->until <= now) {
    if (cause != nullptr && cause->empty()) *cause = "The proof has ended";
    return absl::UnauthenticatedError(kBadCredentials);
  }
  return principal;
}

bool AccessControl::IsAllowed(const Principal& principal, Permission permission, std::string_view resource,
                              absl::Time now) const {
  const std::optional<ResourceKind> kind = KindOfResource(resource);
  if (!kind.has_value()) return false;
  const std::shared_ptr<const Held> held = this->held();
  const ConditionFacts facts{now, resource, TypeOf(*kind)};
  for (std::string_view at = resource;; at = ParentOf(at)) {
    if (const auto fixed = held->grants.find(at); fixed != held->grants.end()) {
      if (fixed->second.Allow(principal, permission, held->roles, facts)) return true;
    }
    if (at.empty()) return false;
    const GrantsRef set = policies_->Find(at);
    if (set != nullptr && set->Allow(principal, permission, held->roles, facts)) return true;
  }
}

absl::Status AccessControl::Check(const Principal& principal, Permission permission,
                                  std::string_view resource, absl::Time now) const {
  return IsAllowed(principal, permission, resource, now) ? absl::OkStatus() : AccessDenied(permission);
}

}  // namespace sonde
