#include "web/http/http_door.h"

#include <spdlog/spdlog.h>

#include "access/http_rules.h"
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

HttpResponse Unauthenticated() {
  HttpResponse response = ErrorResponse(401, "UNAUTHENTICATED", kBadCredentials);
  response.headers.emplace_back("WWW-Authenticate", "Bearer realm=\"sonde\"");
  return response;
}

HttpResponse Denied(std::string_view message) { return ErrorResponse(403, "PERMISSION_DENIED", message); }

}  // namespace

std::optional<HttpResponse> HttpDoor::Refuse(HttpRequest* request, const Router::Match& match) const {
  const HttpRule* const rule =
      match.route == nullptr ? nullptr : FindHttpRule(match.route->method, match.route->path);
  if (rule != nullptr && rule->door == Door::kOpen) return std::nullopt;
  const std::string authorization = request->Header("authorization").value_or("");
  const absl::Time now = absl::FromUnixMicros(clock_->NowMicros());
  std::string cause;
  absl::StatusOr<PrincipalRef> principal = access_->Authenticate(
      {.authorization = authorization, .certificate = request->peer_certificate}, now, &cause);
  if (!principal.ok()) {
    Write({.kind = AuditEvent::Kind::kUnauthenticated, .status = principal.status().code(), .cause = cause},
          *request, nullptr);
    return Unauthenticated();
  }
  if (match.route == nullptr) return std::nullopt;  // 404 or 405 to those who may know
  if (rule == nullptr) return Denied("Access denied. The route is in no table of permissions.");
  request->check_access = [this, request, principal = *principal](Permission permission,
                                                                  std::string_view resource) {
    return Check(*principal, permission, resource, *request);
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
  return std::nullopt;
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
  event.time = absl::FromUnixMicros(clock_->NowMicros());
  event.address = request.peer;
  event.method = method;
  if (principal != nullptr) {
    event.principal = principal->member;
    event.proof = NameOf(principal->proof);
  }
  if (absl::Status status = audit_->Write(event); !status.ok())
    spdlog::error("{}", std::string(status.message()));
}

}  // namespace sonde
