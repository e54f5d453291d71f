// The one door of the HTTP port: who calls, and whether the caller may, by the table of access/http_rules.h.  It is passed before a
// route's handler, and before it is known whether there is a route.
//
// A request without `authorization` may have a session (access/sessions): the cookie kSessionCookie.  As browsers bring it along by
// themselves, a request of a session that is no GET must say that it comes from a page of this server (Origin, Sec-Fetch-Site).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "access/access_control.h"
#include "access/sessions/web_sessions.h"
#include "audit/audit_log.h"
#include "base/clock.h"
#include "web/http/router.h"

namespace sonde {

inline constexpr std::string_view kSessionCookie = "__Host-sonde";

// Nothing is owned.  Threads: all functions may be called at once.
class HttpDoor {
 public:
  // `sessions` may be null: there are none.  `series_instance`: projects/P/instances/I, whose tables series over HTTP use.  `audit`
  // may be null.
  HttpDoor(const AccessControl* access, AuditLog* audit, const Clock* clock, std::string series_instance,
           const WebSessions* sessions = nullptr)
      : access_(access),
        audit_(audit),
        clock_(clock),
        series_instance_(std::move(series_instance)),
        sessions_(sessions) {}

  // nullopt: the request may go on to its route, with its `principal`, `check_access` and `count_bytes` set.  Otherwise its
  // answer: 401 with WWW-Authenticate, or, for a browser that asks for the page, the way to the login; 429 with Retry-After, which
  // names the caller's limit (access/rates); 403, which names the permission; 503, as the audit log is required and cannot be
  // written.  The audit log gets a line of each request that is let in and that it covers.  `match`: from Router::Find.  The request must stay
  // where it is.
  std::optional<HttpResponse> Refuse(HttpRequest* request, const Router::Match& match) const;

 private:
  absl::StatusOr<PrincipalRef> Authenticate(const HttpRequest& request, absl::Time now,
                                            std::string* cause) const;
  // A refusal is written to the audit log.
  absl::Status Check(const Principal& principal, Permission permission, std::string_view resource,
                     const HttpRequest& request) const;
  void Write(AuditEvent event, const HttpRequest& request, const Principal* principal) const;
  // Errors: AuditLog::Begin.
  absl::Status Begin(AuditEvent event, const HttpRequest& request, const Principal& principal) const;
  // Puts in who calls, and from where.
  void Complete(const HttpRequest& request, const Principal* principal, AuditEvent* completed) const;

  const AccessControl* const access_;
  AuditLog* const audit_;
  const Clock* const clock_;
  const std::string series_instance_;
  const WebSessions* const sessions_;
};

}  // namespace sonde
