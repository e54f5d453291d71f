#include "server/serve_http.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <utility>

#include "web/health.h"

namespace sonde {
namespace {

Router Routes(Tables* tables) {
  Router router;
  AddHealth([tables] { return tables->engine().ReadRecords("readyz").status(); }, &router);
  return router;
}

}  // namespace

absl::StatusOr<std::unique_ptr<HttpServer>> StartHttp(const ServeSettings& settings, Tables* tables) {
  if (settings.no_http) return nullptr;
  const int wanted = settings.http_port.value_or(kHttpPortUsual);
  absl::StatusOr<std::unique_ptr<HttpServer>> server =
      HttpServer::Start({.host = settings.host, .port = wanted}, Routes(tables));
  if (server.ok()) return server;
  const std::string why(server.status().message());
  if (settings.http_port.has_value()) {
    return absl::FailedPreconditionError(
        fmt::format("--http-port {}: {}; give another, 0 for any that is free, or --no-http", wanted, why));
  }
  server = HttpServer::Start({.host = settings.host, .port = 0}, Routes(tables));
  if (server.ok()) {
    spdlog::warn("http: {}; took port {} instead (--http-port chooses, --no-http does without)", why,
                 (*server)->port());
  }
  return server;
}

}  // namespace sonde
