// An Authenticator and policies in memory.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "access/access_control.h"

namespace sonde {

inline constexpr std::string_view kSomebody = "serviceAccount:somebody@sonde.local";

class FakeAuthenticator final : public Authenticator {
 public:
  void Set(std::string_view header, Principal principal) {
    const absl::MutexLock lock(&mutex_);
    principals_[std::string(header)] = std::make_shared<const Principal>(std::move(principal));
  }
  void Revoke(std::string_view header) {
    const absl::MutexLock lock(&mutex_);
    principals_.erase(std::string(header));
  }
  absl::StatusOr<std::shared_ptr<const Principal>> Authenticate(const Credentials& credentials, absl::Time,
                                                                std::string* cause) override {
    const absl::MutexLock lock(&mutex_);
    const auto found = principals_.find(credentials.authorization);
    if (found != principals_.end()) return found->second;
    if (cause != nullptr) *cause = "The token is unknown";
    return absl::UnauthenticatedError("unknown");
  }

 private:
  absl::Mutex mutex_;
  std::map<std::string, std::shared_ptr<const Principal>, std::less<>> principals_ ABSL_GUARDED_BY(mutex_);
};

class FakePolicies final : public PolicySource {
 public:
  // Takes the place of the resource's policy.  An empty role: none.
  void Set(std::string_view resource, std::string_view role, std::string_view member) {
    const absl::MutexLock lock(&mutex_);
    grants_.erase(std::string(resource));
    if (role.empty()) return;
    grants_[std::string(resource)] =
        std::make_shared<const Grants>(Policy{.bindings = {{std::string(role), {std::string(member)}}}});
  }
  GrantsRef Find(std::string_view resource) const override {
    const absl::MutexLock lock(&mutex_);
    const auto found = grants_.find(resource);
    return found == grants_.end() ? nullptr : found->second;
  }
  void Clear() {
    const absl::MutexLock lock(&mutex_);
    grants_.clear();
  }

 private:
  mutable absl::Mutex mutex_;
  std::map<std::string, GrantsRef, std::less<>> grants_ ABSL_GUARDED_BY(mutex_);
};

struct AccessFixture {
  // Grants kSomebody the role at the place ("": the server, "projects/P", or any resource), and nothing anywhere else.
  void Grant(std::string_view at, std::string_view role) {
    policies.Clear();
    AccessControl::Configuration configuration;
    if (ParentOfIsServer(at)) {
      if (!role.empty()) {
        configuration.policies[std::string(at)] = {
            .bindings = {{std::string(role), {std::string(kSomebody)}}}};
      }
    } else {
      policies.Set(at, role, kSomebody);
    }
    if (!custom_role.empty()) {
      configuration.roles.Add(custom_role, {"bigtable.tables.readRows"}).IgnoreError();
    }
    access.Configure(configuration);
  }
  bool IsAllowed(std::string_view permission, std::string_view resource) const {
    return access.IsAllowed({.member = std::string(kSomebody)}, FindPermission(permission).value(), resource,
                            absl::Now());
  }

  std::string_view custom_role;  // not empty: Grant adds it, with the reading of a table's rows
  FakeAuthenticator authenticator;
  FakePolicies policies;
  AccessControl access{&authenticator, &policies, {}};

 private:
  static bool ParentOfIsServer(std::string_view at) { return std::count(at.begin(), at.end(), '/') <= 1; }
};

}  // namespace sonde
