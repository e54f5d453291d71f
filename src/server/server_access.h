// ServerAccess holds all that decides who may use this server: the authentication file, the decisions, the audit log, and the door
// of the HTTP port.
//
// Threads: all functions may be called at once.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "access/access_control.h"
#include "access/policies/policy_store.h"
#include "access/sessions/web_sessions.h"
#include "audit/audit_log.h"
#include "base/clock.h"
#include "identity/check/file_authenticator.h"
#include "metrics/figure.h"
#include "web/http/http_door.h"

namespace sonde {

class ServerAccess {
 public:
  // `auth_file`: accounts, keys, tokens and roles (identity/config/auth_file.h).  `audit_log`: a file that is appended to.
  // `series_instance`: projects/P/instances/I, whose tables series and SQL over HTTP use.  `policies` must outlive this.
  // Errors: those of FileAuthenticator::Create and AuditLog::Open.  INVALID_ARGUMENT: a role or a binding of the file is not
  // one that there can be.
  static absl::StatusOr<std::unique_ptr<ServerAccess>> Open(const std::string& auth_file,
                                                            const std::string& audit_log,
                                                            const std::string& series_instance,
                                                            const PolicySource* policies);

  // Whether Open would take the authentication file.
  static absl::Status Check(const std::string& auth_file);

  // Reads the authentication file again, and opens the audit log again.  After an error what was there stays in force.
  absl::Status Reload();

  // sonde_access_refused_total and sonde_audit_lost_lines_total
  std::vector<Figure> Figures() const;

  AccessControl* control() { return &*control_; }
  AuditLog* audit() { return audit_.get(); }
  const HttpDoor* http_door() const { return &*http_door_; }
  WebSessions* sessions() { return &sessions_; }
  const Clock* clock() const { return &clock_; }

 private:
  ServerAccess() = default;

  SystemClock clock_;
  WebSessions sessions_;
  std::unique_ptr<FileAuthenticator> authenticator_;
  std::unique_ptr<AuditLog> audit_;
  std::optional<AccessControl> control_;
  std::optional<HttpDoor> http_door_;
};

}  // namespace sonde
