#include "sql/http/sql_routes.h"

#include <fmt/format.h>

#include <atomic>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "access/permission.h"
#include "access/rules.h"
#include "sql/function/function.h"
#include "sql/http/sql_request.h"
#include "sql/library/library.h"
#include "sql/syntax/words.h"
#include "web/http/query_reader.h"

namespace sonde::sql {
namespace {

// CANCELLED: the client has gone; UNAVAILABLE: the server ends.
std::function<absl::Status()> InterruptedBy(const SqlService& service, const HttpRequest& request) {
  return [is_ending = service.is_ending, is_gone = InterruptedWhenGone(request)]() -> absl::Status {
    if (is_ending != nullptr && is_ending->load(std::memory_order_relaxed)) {
      return absl::UnavailableError("The server is ending");
    }
    return is_gone ? is_gone() : absl::OkStatus();
  };
}

// PERMISSION_DENIED unless the caller may query the instance that the body names.
absl::Status CheckInstance(const HttpRequest& request, const SqlRequest& asked) {
  if (!request.check_access) return absl::OkStatus();
  return request.check_access(PermissionOf("bigtable.instances.executeQuery"),
                              fmt::format("projects/{}/instances/{}", asked.project, asked.instance));
}

// `request` must outlive it.
SqlAnswer::Access AccessOf(const HttpRequest& request) {
  SqlAnswer::Access access{.rights = {}, .count_write = request.count_write};
  if (!request.check_access) return access;
  access.rights.may_read = [&request](std::string_view resource) {
    return request.check_access(PermissionToReadRows(resource), resource);
  };
  access.rights.may_write = [&request](std::string_view resource) {
    return request.check_access(PermissionToInsert(resource), resource);
  };
  return access;
}

absl::Status AnswerSql(const SqlService* service, const SqlRequest& usual, const HttpRequest& request,
                       HttpBody* body, HttpResponse* response) {
  const auto answer = std::make_shared<SqlAnswer>(
      service, absl::Now(),
      SqlAnswer::Caller{.principal = request.principal == nullptr ? "" : request.principal->member,
                        .tag = request.tag,
                        .client = request.peer,
                        .agent = request.Header("user-agent").value_or("")});
  if (absl::Status status = QueryReader(request).Finish(); !status.ok()) return answer->Fail(status);
  if (absl::Status status = answer->Admit(0); !status.ok()) return answer->Fail(status);
  const absl::StatusOr<std::string> text = body->ReadAll([&](size_t bytes) { return answer->Admit(bytes); });
  if (!text.ok()) return answer->Fail(text.status());
  std::function<absl::Status()> interrupted = InterruptedBy(*service, request);
  SqlRequest asked = usual;
  if (request.Header("accept").value_or("").starts_with("text/csv")) asked.format = AnswerFormat::kCsv;
  absl::StatusOr<SqlRequest> parsed = ParseSqlRequest(*text, std::move(asked), interrupted);
  if (!parsed.ok()) return answer->Fail(parsed.status());
  if (absl::Status status = CheckInstance(request, *parsed); !status.ok()) return answer->Fail(status);
  response->content_type = parsed->format == AnswerFormat::kCsv ? "text/csv; charset=utf-8"
                                                                : "application/x-ndjson; charset=utf-8";
  if (absl::Status status = answer->Begin(*std::move(parsed), std::move(interrupted), AccessOf(request));
      !status.ok()) {
    return status;
  }
  response->stream = [answer](std::string* part) { return answer->Next(part); };
  return absl::OkStatus();
}

// {"dialect", "keywords": [...], "functions": [{"name", "signatures", "meaning"}]}: for those who write queries.
std::string WordsOfLanguage(Dialect dialect) {
  nlohmann::ordered_json functions = nlohmann::ordered_json::array();
  for (const Function& function : AllFunctions()) {
    if (function.name.starts_with('$') || function.kind == Function::Kind::kNotBuilt) continue;
    nlohmann::ordered_json signatures = nlohmann::ordered_json::array();
    for (const Overload& overload : function.overloads) signatures.push_back(overload.signature.text());
    functions.push_back(
        {{"name", function.name}, {"signatures", std::move(signatures)}, {"meaning", function.meaning}});
  }
  const nlohmann::ordered_json json = {
      {"dialect", dialect == Dialect::kProduction ? "production" : "extended"},
      {"keywords", kReservedWords},
      {"functions", std::move(functions)}};
  return json.dump() + "\n";
}

}  // namespace

void AddSqlRoutes(SqlService service, std::string project, std::string instance, Router* router) {
  const auto shared = std::make_shared<const SqlService>(service);
  const auto usual = std::make_shared<const SqlRequest>(
      SqlRequest{.project = std::move(project), .instance = std::move(instance)});
  router->Add({.method = "GET",
               .path = "/api/v1/sql",
               .handler = [words = WordsOfLanguage(service.dialect)](const HttpRequest& request, HttpBody*,
                                                                     HttpResponse* response) {
                 if (absl::Status status = QueryReader(request).Finish(); !status.ok()) return status;
                 response->body = words;
                 return absl::OkStatus();
               }});
  router->Add({.method = "POST",
               .path = "/api/v1/sql",
               .handler =
                   [shared, usual](const HttpRequest& request, HttpBody* body, HttpResponse* response) {
                     return AnswerSql(shared.get(), *usual, request, body, response);
                   },
               .body_bytes_max = kSqlBodyBytesMax,
               .is_counted = false});
}

}  // namespace sonde::sql
