// The login of the web page: a browser shows a static token once, and then has a session (access/sessions).
//
//   GET  /login            a form, in HTML that needs nothing else
//   POST /login            token=TOKEN: 303 to the page with the session's cookie, or 401 with the form
//   POST /logout           ends the session of the request: 204
//   GET  /api/v1/session   {"member": "user:a@example.com", "is_session": true}; the member is null if authentication is off
//
// The cookie is __Host-sonde: HttpOnly, Secure, SameSite=Strict, for 12 hours.  Browsers keep a Secure cookie only over TLS, or from
// localhost.
#pragma once

#include "access/access_control.h"
#include "access/sessions/web_sessions.h"
#include "audit/audit_log.h"
#include "base/clock.h"
#include "web/http/router.h"

namespace sonde {

// All must outlive the router; `audit` may be null.
struct LoginParts {
  const AccessControl* access = nullptr;
  WebSessions* sessions = nullptr;
  AuditLog* audit = nullptr;
  const Clock* clock = nullptr;
};

// /login and /logout: only where authentication is on.
void AddLogin(const LoginParts& parts, Router* router);
// /api/v1/session.
void AddSession(Router* router);

}  // namespace sonde
