#include "server/serve_http.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <utility>

#include "server/access.h"
#include "table/local_tables.h"
#include "web/health.h"

namespace sonde {
namespace {

Router Routes(Tables* tables, series::IngestService* ingest) {
  Router router;
  AddHealth([tables] { return tables->engine().ReadRecords("readyz").status(); }, &router);
  ingest->AddRoutes(&router);
  return router;
}

}  // namespace

absl::StatusOr<std::unique_ptr<series::IngestService>> OpenIngest(const ServeSettings& settings,
                                                                  Tables* tables) {
  const AccessFlags usual;
  auto local = std::make_unique<LocalTables>(
      tables, fmt::format("projects/{}/instances/{}", usual.project, usual.instance));
  return series::IngestService::Open(
      std::move(local), &tables->clock(),
      {.ingest = {.takes_undeclared = !settings.declared_series_only},
       .bytes_under_way_max = static_cast<int64_t>(settings.memory_bytes / 4)});
}

absl::StatusOr<std::unique_ptr<HttpServer>> StartHttp(const ServeSettings& settings, Tables* tables,
                                                      series::IngestService* ingest) {
  if (settings.no_http) return nullptr;
  const int wanted = settings.http_port.value_or(kHttpPortUsual);
  absl::StatusOr<std::unique_ptr<HttpServer>> server =
      HttpServer::Start({.host = settings.host, .port = wanted}, Routes(tables, ingest));
  if (server.ok()) return server;
  const std::string why(server.status().message());
  if (settings.http_port.has_value()) {
    return absl::FailedPreconditionError(
        fmt::format("--http-port {}: {}; give another, 0 for any that is free, or --no-http", wanted, why));
  }
  server = HttpServer::Start({.host = settings.host, .port = 0}, Routes(tables, ingest));
  if (server.ok()) {
    spdlog::warn("http: {}; took port {} instead (--http-port chooses, --no-http does without)", why,
                 (*server)->port());
  }
  return server;
}

}  // namespace sonde
