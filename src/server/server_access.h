// ServerAccess holds all that decides who may use this server: the authentication file, the decisions, the audit log, and the door
// of the HTTP port.
//
// Threads: all functions may be called at once.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
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

// The audit log's file, which is appended to, and what the log covers.
struct AuditSettings {
  std::string path;
  AuditRules rules = {};
};

class ServerAccess {
 public:
  // `auth_file`: accounts, keys, tokens and roles (identity/config/auth_file.h).
  // `series_instance`: projects/P/instances/I, whose tables series and SQL over HTTP use.  `policies` must outlive this.
  // Errors: those of FileAuthenticator::Create and AuditLog::Open.  INVALID_ARGUMENT: a role or a binding of the file is not
  // one that there can be.
  static absl::StatusOr<std::unique_ptr<ServerAccess>> Open(const std::string& auth_file,
                                                            const AuditSettings& audit_log,
                                                            const std::string& series_instance,
                                                            const PolicySource* policies);

  // Whether Open would take the authentication file.
  static absl::Status Check(const std::string& auth_file);

  // Opens the audit log again, and reads the authentication file again.  After an error what was there stays in force.  The audit log
  // gets a kChanged line of each key, token, role, binding, ... that the file has more or less.  A change counts also if its line
  // cannot be written, or a full disk would keep a revoked key in force.
  absl::Status Reload();

  // Writes a kChanged line of what SIGHUP has brought in, or a look at the certificate's files.
  void WriteChange(std::string_view what, std::string_view how);

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
