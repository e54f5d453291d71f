#include "server/server_access.h"

#include <spdlog/spdlog.h>

#include <utility>

#include "base/format.h"
#include "identity/config/auth_changes.h"

namespace sonde {
namespace {

// The roles and the policies of an authentication file, in the form that decisions ask.
absl::StatusOr<AccessControl::Configuration> ConfigurationOf(const AuthConfig& config) {
  AccessControl::Configuration configuration;
  for (const AuthRole& role : config.roles) {
    if (absl::Status status = configuration.roles.Add(role.name, role.permissions); !status.ok())
      return status;
  }
  for (const AuthBinding& binding : config.bindings) {
    const std::string resource =
        binding.project.has_value() ? fmt::format("projects/{}", *binding.project) : "";
    configuration.policies[resource].bindings.push_back({.role = binding.role, .members = binding.members});
  }
  for (const AuthLimit& limit : config.limits) {
    configuration.limits.push_back({.members = limit.members,
                                    .limits = {.reads_per_second = limit.reads_per_second,
                                               .writes_per_second = limit.writes_per_second,
                                               .bytes_per_second = limit.bytes_per_second,
                                               .running_calls = limit.running_calls}});
  }
  for (const auto& [resource, policy] : configuration.policies) {
    const absl::Status status = CheckPolicy(policy, configuration.roles);
    if (status.ok()) continue;
    return absl::InvalidArgumentError(fmt::format(
        "The bindings of {}: {}", resource.empty() ? "the server" : resource, std::string(status.message())));
  }
  return configuration;
}

}  // namespace

absl::StatusOr<std::unique_ptr<ServerAccess>> ServerAccess::Open(const std::string& auth_file,
                                                                 const AuditSettings& audit_log,
                                                                 const std::string& series_instance,
                                                                 const PolicySource* policies) {
  std::unique_ptr<ServerAccess> access(new ServerAccess());
  absl::StatusOr<std::unique_ptr<FileAuthenticator>> authenticator = FileAuthenticator::Create(auth_file);
  if (!authenticator.ok()) return authenticator.status();
  access->authenticator_ = *std::move(authenticator);
  const absl::StatusOr<AccessControl::Configuration> configuration =
      ConfigurationOf(*access->authenticator_->config());
  if (!configuration.ok()) return configuration.status();
  absl::StatusOr<std::unique_ptr<AuditLog>> audit = AuditLog::Open(audit_log.path, audit_log.rules);
  if (!audit.ok()) return audit.status();
  access->audit_ = *std::move(audit);
  access->control_.emplace(access->authenticator_.get(), policies, *configuration);
  access->http_door_.emplace(&*access->control_, access->audit_.get(), &access->clock_, series_instance,
                             &access->sessions_);
  return access;
}

absl::Status ServerAccess::Check(const std::string& auth_file) {
  const absl::StatusOr<std::unique_ptr<FileAuthenticator>> authenticator =
      FileAuthenticator::Create(auth_file);
  if (!authenticator.ok()) return authenticator.status();
  return ConfigurationOf(*(*authenticator)->config()).status();
}

absl::Status ServerAccess::Reload() {
  const absl::Status reopened = audit_->Reopen();
  const std::shared_ptr<const AuthConfig> before = authenticator_->config();
  if (absl::Status status = authenticator_->Reload(); !status.ok()) return status;
  const absl::StatusOr<AccessControl::Configuration> configuration =
      ConfigurationOf(*authenticator_->config());
  if (!configuration.ok()) {
    authenticator_->Replace(*before);
    return configuration.status();
  }
  control_->Configure(*configuration);
  for (const AuthChange& change : ChangesBetween(*before, *authenticator_->config())) {
    WriteChange(change.what, change.how);
  }
  return reopened;
}

void ServerAccess::WriteChange(std::string_view what, std::string_view how) {
  const absl::Status status = audit_->Write({.kind = AuditEvent::Kind::kChanged,
                                             .time = absl::FromUnixMicros(clock_.NowMicros()),
                                             .method = "reload",
                                             .resource = what,
                                             .cause = how});
  if (!status.ok()) spdlog::error("audit: {} {}: {}", what, how, std::string(status.message()));
}

std::vector<Figure> ServerAccess::Figures() const {
  const AuditLog::Counts counts = audit_->counts();
  return {Figure::Counter(
              "sonde_access_refused_total",
              "Requests that were refused: the caller was not proven to be anybody, or lacks a permission.")
              .Add(static_cast<double>(counts.unauthenticated), {{"reason", "unauthenticated"}})
              .Add(static_cast<double>(counts.denied), {{"reason", "denied"}}),
          Figure::Counter("sonde_audit_lost_lines_total", "Lines of the audit log that could not be written.")
              .Add(static_cast<double>(counts.lost_lines))};
}

}  // namespace sonde
