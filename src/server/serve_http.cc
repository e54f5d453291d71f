#include "server/serve_http.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "model/names.h"
#include "server/access.h"
#include "table/local_tables.h"
#include "web/health.h"
#include "web/overview_api.h"
#include "web/page.h"
#include "web/tables_api.h"

namespace sonde {
namespace {

// The names of the parts of a declared key, as the declaration has them.
DeclaredKey DeclaredKeyOf(const series::SeriesSchema& schema) {
  DeclaredKey declared{.series = schema.name};
  for (const series::KeyPart& part : schema.key) {
    switch (part.kind) {
      case series::KeyPart::Kind::kTag:
        declared.parts.push_back(schema.tags[part.tag].name);
        break;
      case series::KeyPart::Kind::kConst:
        declared.parts.push_back(fmt::format("{{ const: {} }}", part.text));
        break;
      case series::KeyPart::Kind::kTime:
      case series::KeyPart::Kind::kBucket:
        declared.time_part = part.kind == series::KeyPart::Kind::kTime ? "time" : "bucket";
        declared.parts.push_back(declared.time_part);
        break;
      case series::KeyPart::Kind::kField:
        declared.parts.emplace_back("field");
        break;
      case series::KeyPart::Kind::kSalt:
        declared.parts.emplace_back("salt");
        break;
    }
  }
  return declared;
}

FindDeclaredKey DeclaredKeys(series::IngestService* ingest) {
  return [ingest](std::string_view table_name) -> std::optional<DeclaredKey> {
    const AccessFlags usual;
    const std::string instance = fmt::format("projects/{}/instances/{}", usual.project, usual.instance);
    if (InstanceOfTable(table_name) != instance) return std::nullopt;
    for (const series::KnownSeriesRef& one : ingest->declarations().List()) {
      if (!one->is_open() && one->schema.table == IdOfTable(table_name)) return DeclaredKeyOf(one->schema);
    }
    return std::nullopt;
  };
}

Router Routes(const ServerFacts& facts, series::IngestService* ingest) {
  Router router;
  Tables* const tables = facts.tables;
  AddHealth([tables] { return tables->engine().ReadRecords("readyz").status(); }, &router);
  ingest->AddRoutes(&router);
  AddPage(&router);
  AddOverviewApi(facts, &router);
  AddTablesApi(tables, facts.key_visualizer, DeclaredKeys(ingest), &router);
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

absl::StatusOr<std::unique_ptr<HttpServer>> StartHttp(const ServeSettings& settings, const ServerFacts& facts,
                                                      series::IngestService* ingest) {
  if (settings.no_http) return nullptr;
  const int wanted = settings.http_port.value_or(kHttpPortUsual);
  absl::StatusOr<std::unique_ptr<HttpServer>> server =
      HttpServer::Start({.host = settings.host, .port = wanted}, Routes(facts, ingest));
  if (server.ok()) return server;
  const std::string why(server.status().message());
  if (settings.http_port.has_value()) {
    return absl::FailedPreconditionError(
        fmt::format("--http-port {}: {}; give another, 0 for any that is free, or --no-http", wanted, why));
  }
  server = HttpServer::Start({.host = settings.host, .port = 0}, Routes(facts, ingest));
  if (server.ok()) {
    spdlog::warn("http: {}; took port {} instead (--http-port chooses, --no-http does without)", why,
                 (*server)->port());
  }
  return server;
}

}  // namespace sonde
