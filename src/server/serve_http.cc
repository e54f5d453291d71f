#include "server/serve_http.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/format.h"
#include "promql/http/prometheus_api.h"
#include "promql/transfer/transfer_routes.h"
#include "server/table_declarations.h"
#include "sql/http/sql_routes.h"
#include "table/local_tables.h"
#include "web/cell_api.h"
#include "web/dashboards_api.h"
#include "web/health.h"
#include "web/login.h"
#include "web/overview_api.h"
#include "web/page.h"
#include "web/requests_api.h"
#include "web/slow_api.h"
#include "web/tables_api.h"
#include "web/views_api.h"

namespace sonde {
namespace {

// A server whose store has not answered by then is not ready.
constexpr absl::Duration kReadyPatience = absl::Seconds(5);

absl::Status CheckReady(Tables* tables, const std::function<bool()>& is_accepting,
                        const std::function<bool()>& is_draining) {
  if (is_draining && is_draining()) return absl::UnavailableError("draining");
  if (is_accepting && !is_accepting()) {
    return absl::UnavailableError(
        "The gRPC port takes no connections: no file descriptor is left; it goes on when there are some "
        "again");
  }
  const absl::Time deadline = absl::Now() + kReadyPatience;
  if (absl::Status status = tables->engine().CheckWrites(deadline); !status.ok()) return status;
  return tables->engine().ReadRecords("readyz", deadline).status();
}

RunningCallsAccess CallsOf(const std::shared_ptr<RunningRequests>& running) {
  const auto list = [running](size_t calls_max) {
    std::vector<RunningCall> calls;
    for (RunningRequest& request : running->List()) {
      if (calls.size() == calls_max) break;
      calls.push_back({.name = std::move(request.name),
                       .port = "http",
                       .method = std::move(request.method),
                       .principal = std::move(request.principal),
                       .client = std::move(request.peer),
                       .came = request.came});
    }
    return calls;
  };
  return {list, [running](const std::string& name) { return running->Cancel(name); }};
}

Router Routes(const ServeSettings& settings, const ServerFacts& facts, const sql::SqlService& sql,
              series::IngestService* ingest, ServerAccess* access,
              const std::shared_ptr<RunningRequests>& running) {
  Router router;
  AddSession(&router);
  if (access != nullptr) {
    AddLogin({.access = access->control(),
              .sessions = access->sessions(),
              .audit = access->audit(),
              .clock = access->clock()},
             &router);
  }
  Tables* const tables = facts.tables;
  AddHealth([tables, is_accepting = facts.is_accepting,
             is_draining = facts.is_draining] { return CheckReady(tables, is_accepting, is_draining); },
            &router);
  // The route of series holds it as long as the router.
  const auto prometheus = std::make_shared<const promql::PrometheusApi>(
      ingest, promql::PrometheusSettings{.series_instance = SeriesInstance(),
                                         .sonde_version = facts.version,
                                         .parse = {.allows_experimental = settings.promql_experimental}});
  prometheus->AddRoutes(&router);
  ingest->AddRoutes(&router, [prometheus](const HttpRequest& request, HttpResponse* response) {
    return prometheus->AnswerSeriesOfMatchers(request, response);
  });
  promql::AddTransferRoutes(ingest, &router);
  sql::AddSqlRoutes(sql, kProjectUsual, kInstanceUsual, &router);
  AddPage(&router);
  AddOverviewApi(facts, &router);
  AddSlowApi(&facts.requests->slow_calls(), &router);
  AddRequestsApi({.failed = &facts.requests->failed_calls(),
                  .latency = facts.latency,
                  .callers = &facts.requests->callers(),
                  .running = {facts.grpc_calls, CallsOf(running)}},
                 &router);
  const auto declarations = std::make_shared<TableDeclarations>(tables);
  AddTablesApi(
      tables, facts.key_visualizer, facts.large_room,
      {.find_series = [declarations](std::string_view table_name) { return declarations->Find(table_name); },
       .find_meaning =
           [declarations](std::string_view table_name) { return declarations->MeaningOf(table_name); },
       .is_own = TableDeclarations::IsOwnTable},
      &router);
  AddViewsApi(&tables->catalog(), &router);
  AddDashboardsApi(&tables->engine(), &router);
  AddCellApi(tables, facts.large_room, &router);
  return router;
}

}  // namespace

std::string SeriesInstance() {
  return fmt::format("projects/{}/instances/{}", kProjectUsual, kInstanceUsual);
}

absl::StatusOr<std::unique_ptr<series::IngestService>> OpenIngest(const ServeSettings& settings,
                                                                  Tables* tables, CommitLine* line,
                                                                  IdleWorkers* idle_workers) {
  const std::string instance = SeriesInstance();
  auto local = std::make_unique<LocalTables>(tables, instance, "Sonde itself", line);
  // All threads may have a batch each, and these a quarter of the memory.
  constexpr uint64_t kCellBytes = 128;
  const uint64_t batch_bytes = settings.memory_bytes / 4 / HttpServerOptions().threads;
  series::IngestSettings ingest{.takes_undeclared = !settings.declared_series_only};
  ingest.cells_max = std::min<uint64_t>(ingest.cells_max, batch_bytes / kCellBytes);
  ingest.value_bytes_max = std::min<uint64_t>(ingest.value_bytes_max, batch_bytes);
  const series::IndexWriterSettings index{.known_bytes_max = settings.memory_bytes / 16,
                                          .is_shared = tables->engine().traits().is_shared};
  return series::IngestService::Open(std::move(local), &tables->clock(),
                                     {.ingest = ingest,
                                      .bytes_under_way_max = static_cast<int64_t>(settings.memory_bytes / 4),
                                      .index = index,
                                      .index_cache_bytes_max = settings.memory_bytes / 16,
                                      .idle_workers = idle_workers,
                                      .tables_of_caller = [tables, instance, line](std::string caller) {
                                        return std::make_unique<LocalTables>(tables, instance,
                                                                             std::move(caller), line);
                                      }});
}

absl::StatusOr<std::unique_ptr<HttpServer>> StartHttp(const ServeSettings& settings, const ServerFacts& facts,
                                                      const sql::SqlService& sql,
                                                      series::IngestService* ingest,
                                                      const Certificates& certificates,
                                                      ServerAccess* access) {
  const HttpDoor* const door = access == nullptr ? nullptr : access->http_door();
  if (settings.no_http) return nullptr;
  const int wanted = settings.http_port.value_or(kHttpPortUsual);
  const auto running = std::make_shared<RunningRequests>();
  const auto start = [&](int port) {
    return HttpServer::Start({.host = settings.host,
                              .port = port,
                              .door = door,
                              .tls = certificates.provider(),
                              .counts = facts.http_counts,
                              .running = running,
                              .requests = sql.requests},
                             Routes(settings, facts, sql, ingest, access, running));
  };
  absl::StatusOr<std::unique_ptr<HttpServer>> server = start(wanted);
  if (server.ok()) return server;
  const std::string why(server.status().message());
  if (settings.http_port.has_value()) {
    return absl::FailedPreconditionError(
        fmt::format("--http-port {}: {}; give another, 0 for any that is free, or --no-http", wanted, why));
  }
  server = start(0);
  if (server.ok()) {
    spdlog::warn("http: {}; took port {} instead (--http-port chooses, --no-http does without)", why,
                 (*server)->port());
  }
  return server;
}

}  // namespace sonde
