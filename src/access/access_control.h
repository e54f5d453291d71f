// AccessControl decides who calls, and whether the caller may.  Nothing else decides it.  It also keeps how much each caller may.
//
// A permission on a resource is had if a policy grants it: the resource's own, or that of one above it (authorized view ->
// table -> instance -> project -> server; backup -> instance).  The configuration has the policies of the server and of
// projects; all others are set by SetIamPolicy.  Nothing else grants anything.
//
// Threads: all functions may be called at once.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "access/policy.h"
#include "access/rates/principal_rates.h"
#include "identity/authenticator.h"

namespace sonde {

using PrincipalRef = std::shared_ptr<const Principal>;

// "Access denied. Missing IAM permission: bigtable.tables.readRows."
absl::Status AccessDenied(Permission permission);

class AccessControl {
 public:
  struct Configuration {
    Roles roles;
    std::map<std::string, Policy>
        policies;  // of "" (the server) and of "projects/P"; they passed CheckPolicy
    std::vector<PrincipalLimitEntry> limits = {};
  };

  // `authenticator` and `policies` must outlive this.
  AccessControl(Authenticator* authenticator, const PolicySource* policies,
                const Configuration& configuration);

  // Takes the place of the configuration for all decisions that begin from now on.
  void Configure(const Configuration& configuration);

  std::shared_ptr<const Roles> roles() const;

  // The limits of callers, which the doors ask.
  PrincipalRates* rates() const { return rates_.get(); }

  // UNAUTHENTICATED, with kBadCredentials; the cause is put into `cause` (may be null).
  absl::StatusOr<PrincipalRef> Authenticate(const Credentials& credentials, absl::Time now,
                                            std::string* cause) const;

  // Proves the bearer of a session (Authenticator::AuthenticateToken).  Errors: as Authenticate.
  absl::StatusOr<PrincipalRef> AuthenticateToken(std::string_view token_id, std::string_view token_sha256,
                                                 absl::Time now, std::string* cause) const;

  // `resource` has a kind (KindOfResource); any other name has no permissions at all.
  bool IsAllowed(const Principal& principal, Permission permission, std::string_view resource,
                 absl::Time now) const;
  // PERMISSION_DENIED, as AccessDenied.
  absl::Status Check(const Principal& principal, Permission permission, std::string_view resource,
                     absl::Time now) const;

 private:
  struct Held {
    Roles roles;
    std::map<std::string, Grants, std::less<>> grants;
  };
  std::shared_ptr<const Held> held() const;
  static absl::StatusOr<PrincipalRef> Checked(absl::StatusOr<PrincipalRef> principal, absl::Time now,
                                              std::string* cause);

  Authenticator* const authenticator_;
  const PolicySource* const policies_;
  const std::unique_ptr<PrincipalRates> rates_ = std::make_unique<PrincipalRates>();
  mutable absl::Mutex mutex_;
  std::shared_ptr<const Held> held_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sonde
