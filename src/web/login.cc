#include "web/login.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/ascii.h"
#include "base/format.h"
#include "identity/proof/digest.h"
#include "identity/proof/static_token.h"
#include "web/http/http_door.h"

namespace sonde {
namespace {

constexpr size_t kLoginBodyBytesMax = 4096;

// The browser's own Referrer-Policy for this page: with `no-referrer` it would call the form's origin `null`.
constexpr char kLoginPage[] = R"(<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <meta name="referrer" content="same-origin">
    <title>Log in · Sonde</title>
    <style>
      :root {{ --page: #f5f6f9; --card: #ffffff; --ink: #1a2233; --muted: #667085; --edge: #d5dae4; --accent: #1f6feb; --accent-ink: #ffffff; --bad: #b42318; --bad-soft: #fdeceb;
        color-scheme: light; font: 14px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; }}
      @media (prefers-color-scheme: dark) {{ :root {{ --page: #0c111b; --card: #141b28; --ink: #e6eaf2; --muted: #93a0b5; --edge: #2c394f; --accent: #5b9cff; --accent-ink: #08101f; --bad: #ff7a70; --bad-soft: #331a1c; color-scheme: dark; }} }}
      * {{ box-sizing: border-box; }}
      body {{ margin: 0; min-height: 100vh; display: grid; place-items: center; background: var(--page); color: var(--ink); padding: 16px; }}
      form {{ width: 100%; max-width: 400px; background: var(--card); border: 1px solid var(--edge); border-radius: 12px; padding: 28px; display: grid; gap: 14px; }}
      h1 {{ margin: 0; font-size: 20px; font-weight: 650; letter-spacing: -0.01em; display: flex; gap: 10px; align-items: center; }}
      p {{ margin: 0; color: var(--muted); }}
      label {{ display: grid; gap: 5px; font-weight: 550; }}
      input, button {{ font: inherit; min-height: 38px; border-radius: 8px; padding: 6px 12px; width: 100%; }}
      input {{ color: var(--ink); background: var(--page); border: 1px solid var(--edge); }}
      button {{ background: var(--accent); color: var(--accent-ink); border: 0; font-weight: 600; cursor: pointer; }}
      button:hover {{ filter: brightness(1.07); }}
      :focus-visible {{ outline: 2px solid var(--accent); outline-offset: 2px; }}
      code {{ font: 12.5px ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; }}
      .problem {{ background: var(--bad-soft); color: var(--bad); border-radius: 8px; padding: 8px 12px; }}
    </style>
  </head>
  <body>
    <form method="post" action="login">
      <h1><svg viewBox="0 0 32 32" width="28" height="28" aria-hidden="true"><circle cx="16" cy="12" r="9" fill="#2f7de1"/><path d="M12 20l4 9 4-9" fill="none" stroke="#2f7de1" stroke-width="2"/><rect x="13.5" y="27" width="5" height="4" rx="1" fill="#e8833a"/></svg>Sonde</h1>
      {}<label>Token<input name="token" type="password" required autofocus autocomplete="current-password" spellcheck="false"></label>
      <button>Log in</button>
      <p>A token comes from <code>sonde auth create-token NAME</code>. This browser stays logged in for 12 hours.</p>
    </form>
  </body>
</html>
)";
constexpr std::string_view kProblem =
    "<p class=\"problem\" role=\"alert\">Nobody is known by this token.</p>\n      ";

void ShowForm(int code, std::string_view problem, HttpResponse* response) {
  response->code = code;
  response->content_type = "text/html; charset=utf-8";
  response->body = fmt::format(kLoginPage, problem);
  response->headers.emplace_back("Cache-Control", "no-store");
}

std::string CookieHeader(std::string_view secret, int64_t seconds) {
  return fmt::format("{}={}; Path=/; Max-Age={}; HttpOnly; Secure; SameSite=Strict", kSessionCookie, secret,
                     seconds);
}

void WriteLogin(const LoginParts& parts, const HttpRequest& request, AuditEvent event) {
  if (parts.audit == nullptr) return;
  const std::string method = fmt::format("{} {}", request.method, request.path);
  event.time = absl::FromUnixMicros(parts.clock->NowMicros());
  event.address = request.peer;
  event.method = method;
  event.request = request.tag.id;
  event.trace = request.tag.trace;
  if (absl::Status status = parts.audit->Write(event); !status.ok())
    spdlog::error("{}", std::string(status.message()));
}

absl::Status LogIn(const LoginParts& parts, const HttpRequest& request, HttpBody* body,
                   HttpResponse* response) {
  absl::StatusOr<std::string> form = body->ReadAll();
  if (!form.ok()) return form.status();
  std::string token;
  std::string target = "?" + *form;  // a form is written as the query of a target is
  Wipe(&*form);
  auto fields = ParseQueryOfTarget(target);
  Wipe(&target);
  for (auto& [name, value] : fields) {
    if (name == "token") token = std::string(absl::StripAsciiWhitespace(value));
    Wipe(&value);
  }
  const absl::Time now = absl::FromUnixMicros(parts.clock->NowMicros());
  std::string authorization = "Bearer " + token, cause;
  const absl::StatusOr<PrincipalRef> principal =
      parts.access->Authenticate({.authorization = authorization}, now, &cause);
  Wipe(&authorization);
  const std::optional<std::string_view> id = IdOfStaticToken(token);
  // A token that its client signed ends within an hour, and is for programs.
  const bool is_static = principal.ok() && (*principal)->proof == Proof::kToken && id.has_value();
  if (!is_static) {
    if (principal.ok()) cause = "a login needs a static token";
    WriteLogin(parts, request,
               {.kind = AuditEvent::Kind::kUnauthenticated,
                .status = absl::StatusCode::kUnauthenticated,
                .cause = cause});
    Wipe(&token);
    ShowForm(401, kProblem, response);
    return absl::OkStatus();
  }
  const std::string secret = parts.sessions->Begin(*id, Sha256(token), now);
  Wipe(&token);
  WriteLogin(parts, request,
             {.kind = AuditEvent::Kind::kEnded,
              .principal = (*principal)->member,
              .proof = NameOf((*principal)->proof)});
  *response = {.code = 303, .content_type = "text/plain", .body = "See the page\n"};
  response->headers.emplace_back("Location", "./");
  response->headers.emplace_back("Cache-Control", "no-store");
  response->headers.emplace_back("Set-Cookie",
                                 CookieHeader(secret, absl::ToInt64Seconds(WebSessions::kLife)));
  return absl::OkStatus();
}

absl::Status LogOut(const LoginParts& parts, const HttpRequest& request, HttpResponse* response) {
  if (const std::optional<std::string> secret = request.Cookie(kSessionCookie)) parts.sessions->End(*secret);
  if (request.principal != nullptr) {
    WriteLogin(parts, request,
               {.kind = AuditEvent::Kind::kEnded,
                .principal = request.principal->member,
                .proof = NameOf(request.principal->proof)});
  }
  response->code = 204;
  response->headers.emplace_back("Set-Cookie", CookieHeader("", 0));
  return absl::OkStatus();
}

}  // namespace

void AddLogin(const LoginParts& parts, Router* router) {
  router->Add({.method = "GET",
               .path = "/login",
               .handler = [](const HttpRequest&, HttpBody*, HttpResponse* response) {
                 ShowForm(200, "", response);
                 return absl::OkStatus();
               }});
  router->Add({.method = "POST",
               .path = "/login",
               .handler = [parts](const HttpRequest& request, HttpBody* body,
                                  HttpResponse* response) { return LogIn(parts, request, body, response); },
               .body_bytes_max = kLoginBodyBytesMax});
  router->Add({.method = "POST",
               .path = "/logout",
               .handler = [parts](const HttpRequest& request, HttpBody*,
                                  HttpResponse* response) { return LogOut(parts, request, response); },
               .body_bytes_max = 0});
}

void AddSession(Router* router) {
  router->Add(
      {.method = "GET",
       .path = "/api/v1/session",
       .handler = [](const HttpRequest& request, HttpBody*, HttpResponse* response) {
         const Principal* const principal = request.principal.get();
         nlohmann::json answer = {{"member", nullptr}, {"is_session", false}};
         if (principal != nullptr) {
           answer = {{"member", principal->member}, {"is_session", principal->proof == Proof::kSession}};
         }
         response->body = answer.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
         response->headers.emplace_back("Cache-Control", "no-store");
         return absl::OkStatus();
       }});
}

}  // namespace sonde
