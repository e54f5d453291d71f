#include "web/http/http_door.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <memory>

#include "access/http_rules.h"
#include "access/rates/principal_rates.h"
#include "access/resource.h"
#include "base/format.h"

namespace sonde {
namespace {

// The resource of a rule, with the parts of the request's path in the place of their {names}.
std::string ResourceOf(const HttpRule& rule, const Router::Match& match, std::string_view series_instance) {
  if (rule.resource == kSeriesInstance) return std::string(series_instance);
  std::string resource;
  std::string_view rest = rule.resource;
  while (!rest.empty()) {
    const size_t begin = rest.find('{');
    resource += rest.substr(0, begin);
    if (begin == std::string_view::npos) break;
    const size_t end = rest.find('}', begin);
    const auto part = match.parts.find(std::string(rest.substr(begin + 1, end - begin - 1)));
    if (part != match.parts.end()) resource += part->second;
    rest.remove_prefix(end + 1);
  }
  return resource;
}

// A browser that somebody has sent to the page is shown the login; scripts and programs are told that they proved nobody.
bool WantsThePage(const HttpRequest& request) {
  const bool is_page = request.path == "/" || request.path == "/index.html";
  return is_page && request.method == "GET" &&
         request.Header("accept").value_or("").find("text/html") != std::string::npos;
}

HttpResponse Unauthenticated(const HttpRequest& request, bool has_login) {
  if (has_login && WantsThePage(request)) {
    HttpResponse response{.code = 303, .content_type = "text/plain", .body = "See login\n"};
    response.headers.emplace_back("Location", "login");
    response.headers.emplace_back("Cache-Control", "no-store");
    return response;
  }
  HttpResponse response = ErrorResponse(401, "UNAUTHENTICATED", kBadCredentials);
  response.headers.emplace_back("WWW-Authenticate", "Bearer realm=\"sonde\"");
  return response;
}

HttpResponse OverLimit(const absl::Status& status) {
  HttpResponse response = ErrorResponse(429, "RESOURCE_EXHAUSTED", std::string(status.message()));
  response.headers.emplace_back("Retry-After", "1");
  return response;
}

// SQL reads; its tables are those of its body.  That an INSERT writes, its handler counts.
RateKind RateKindOf(const HttpRule& rule) {
  const auto has = [&](std::string_view verb) {
    return std::any_of(rule.permissions.begin(), rule.permissions.end(),
                       [&](std::string_view name) { return name.ends_with(verb); });
  };
  if (has(".mutateRows")) return RateKind::kWrite;
  const bool is_sql = rule.method == "POST" && rule.path == "/api/v1/sql";
  return has(".readRows") || is_sql ? RateKind::kRead : RateKind::kOther;
}

// Whether the audit log covers a route: what changes something beside rows (a declaration of series, the end of a call), and accesses to
// data as the rules say.
bool IsAudited(RateKind kind, std::string_view method, const AuditRules& rules) {
  if (method == "PUT" || (method == "POST" && kind == RateKind::kOther)) return true;
  return kind == RateKind::kWrite ? rules.data_writes : kind == RateKind::kRead && rules.data_reads;
}

HttpResponse Denied(std::string_view message) { return ErrorResponse(403, "PERMISSION_DENIED", message); }

}  // namespace

std::optional<HttpResponse> HttpDoor::Refuse(HttpRequest* request, const Router::Match& match) const {
  const HttpRule* const rule =
      match.route == nullptr ? nullptr : FindHttpRule(match.route->method, match.route->path);
  if (rule != nullptr && rule->door == Door::kOpen) return std::nullopt;
  const absl::Time now = absl::FromUnixMicros(clock_->NowMicros());
  std::string cause;
  absl::StatusOr<PrincipalRef> principal = Authenticate(*request, now, &cause);
  if (!principal.ok()) {
    Write({.kind = AuditEvent::Kind::kUnauthenticated, .status = principal.status().code(), .cause = cause},
          *request, nullptr);
    return Unauthenticated(*request, sessions_ != nullptr);
  }
  const bool may_be_forged = (*principal)->proof == Proof::kSession && request->method != "GET" &&
                             !request->Header("origin").has_value() &&
                             request->Header("sec-fetch-site") != "same-origin";
  if (may_be_forged) return Denied("A request of a session must say its Origin, unless it is a GET.");
  if (match.route == nullptr) return std::nullopt;  // 404 or 405 to those who may know
  if (rule == nullptr) return Denied("Access denied. The route is in no table of permissions.");
  const RateKind rate_kind = RateKindOf(*rule);
  absl::StatusOr<PrincipalRates::Place> place =
      access_->rates()->Admit(**principal, rate_kind, absl::FromUnixMicros(clock_->NowMicros()));
  if (!place.ok()) return OverLimit(place.status());
  if (place->IsCounted()) {
    // A function must be able to be copied.
    const auto held = std::make_shared<PrincipalRates::Place>(*std::move(place));
    request->count_bytes = [this, held](size_t bytes) {
      held->Charge(bytes, absl::FromUnixMicros(clock_->NowMicros()));
    };
    request->count_write = [this, held] {
      return access_->rates()->CountWrite(*held, absl::FromUnixMicros(clock_->NowMicros()));
    };
  }
  request->principal = *principal;
  request->check_access = [this, request, principal = *principal](Permission permission,
                                                                  std::string_view resource) {
    absl::Status status = Check(*principal, permission, resource, *request);
    const bool is_audited = audit_ != nullptr && audit_->rules().CoverAccess(NameOf(permission));
    if (!status.ok() || !is_audited) return status;
    return Begin({.resource = resource, .permission = NameOf(permission)}, *request, *principal);
  };
  if (rule->door == Door::kAuthenticated) return std::nullopt;
  const std::string resource = ResourceOf(*rule, match, series_instance_);
  for (const std::string_view name : rule->permissions) {
    if (name.empty()) continue;
    const std::optional<Permission> permission = FindPermission(name);
    if (!permission.has_value()) return Denied("Access denied. The route's permission does not exist.");
    const absl::Status status = Check(**principal, *permission, resource, *request);
    if (!status.ok()) return Denied(std::string(status.message()));
  }
  if (audit_ == nullptr || !IsAudited(rate_kind, rule->method, audit_->rules())) return std::nullopt;
  const absl::Status begun =
      Begin({.resource = resource, .permission = rule->permissions.front()}, *request, **principal);
  if (!begun.ok()) return ErrorResponse(503, "UNAVAILABLE", std::string(begun.message()));
  return std::nullopt;
}

absl::Status HttpDoor::Begin(AuditEvent event, const HttpRequest& request, const Principal& principal) const {
  const std::string method = fmt::format("{} {}", request.method, request.path);
  event.method = method;
  Complete(request, &principal, &event);
  return audit_->Begin(event);
}

absl::StatusOr<PrincipalRef> HttpDoor::Authenticate(const HttpRequest& request, absl::Time now,
                                                    std::string* cause) const {
  const std::string authorization = request.Header("authorization").value_or("");
  const std::string cookie =
      authorization.empty() && sessions_ != nullptr ? request.Cookie(kSessionCookie).value_or("") : "";
  if (cookie.empty()) {
    return access_->Authenticate({.authorization = authorization, .certificate = request.peer_certificate},
                                 now, cause);
  }
  const std::optional<WebSession> session = sessions_->Find(cookie, now);
  if (!session.has_value()) {
    // A browser's old cookie does not hide its certificate.
    if (request.peer_certificate != nullptr) {
      return access_->Authenticate({.certificate = request.peer_certificate}, now, cause);
    }
    *cause = "there is no such session, or it has ended";
    return absl::UnauthenticatedError(kBadCredentials);
  }
  const Sha256Digest& digest = session->token_sha256;
  absl::StatusOr<PrincipalRef> bearer = access_->AuthenticateToken(
      session->token_id, {reinterpret_cast<const char*>(digest.data()), digest.size()}, now, cause);
  if (!bearer.ok()) return bearer.status();
  Principal principal = **bearer;
  principal.proof = Proof::kSession;
  principal.until = std::min(principal.until, session->until);
  return std::make_shared<const Principal>(std::move(principal));
}

absl::Status HttpDoor::Check(const Principal& principal, Permission permission, std::string_view resource,
                             const HttpRequest& request) const {
  absl::Status status =
      access_->Check(principal, permission, resource, absl::FromUnixMicros(clock_->NowMicros()));
  if (!status.ok()) {
    Write({.kind = AuditEvent::Kind::kDenied,
           .resource = resource,
           .permission = NameOf(permission),
           .status = status.code()},
          request, &principal);
  }
  return status;
}

void HttpDoor::Write(AuditEvent event, const HttpRequest& request, const Principal* principal) const {
  if (audit_ == nullptr) return;
  // The path of a request may hold what somebody asks for, but no token: the query is left out.
  const std::string method = fmt::format("{} {}", request.method, request.path);
  event.method = method;
  Complete(request, principal, &event);
  if (absl::Status status = audit_->Write(event); !status.ok())
    spdlog::error("{}", std::string(status.message()));
}

void HttpDoor::Complete(const HttpRequest& request, const Principal* principal, AuditEvent* completed) const {
  AuditEvent& event = *completed;
  event.time = absl::FromUnixMicros(clock_->NowMicros());
  event.address = request.peer;
  event.request = request.tag.id;
  event.trace = request.tag.trace;
  if (principal != nullptr) {
    event.principal = principal->member;
    event.proof = NameOf(principal->proof);
  }
}

}  // namespace sonde
