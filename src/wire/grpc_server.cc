#include "wire/grpc_server.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <thread>

#include "absl/time/clock.h"
#include "access/policies/policy_store.h"
#include "backup/store/backups.h"
#include "base/admission.h"
#include "base/format.h"
#include "model/limits.h"
#include "table/commit_line.h"
#include "upkeep/automated_backups.h"
#include "upkeep/repeated_work.h"
#include "upkeep/table_purger.h"
#include "wire/admin/backup_operations.h"
#include "wire/admin/iam_calls.h"
#include "wire/admin/instance_admin_service.h"
#include "wire/admin/sql_views.h"
#include "wire/admin/table_admin_service.h"
#include "wire/call/door.h"
#include "wire/call/ended_call.h"
#include "wire/call/not_built.h"
#include "wire/call/service_names.h"
#include "wire/data/change_streams.h"
#include "wire/data/data_service.h"
#include "wire/health_service.h"
#include "wire/operations/operation_runner.h"
#include "wire/operations/operation_waits.h"
#include "wire/operations/operations.h"
#include "wire/operations/operations_service.h"
#include "wire/reflection_service.h"
#include "wire/resources/instance_store.h"
#include "wire/sql/prepared_queries.h"
#include "wire/sql/sql_calls.h"
#include "work/turn_clock.h"
#include "work/worker_pool.h"

namespace sonde {
namespace {

// Reads do not wait for a disk that is slow to sync: their queue need not be as long as that of writes.
constexpr absl::Duration kReadWaitWhenOverloaded = absl::Milliseconds(20);

// Calls of the administration that may be under way.
constexpr int64_t kAdminCallsMax = 1'000;
constexpr int64_t kAdminBytesMax = 32 << 20;

// How often backups are looked at that expire, cool, or have not been counted.
constexpr absl::Duration kBackupSweepInterval = absl::Seconds(20);

// Calls that wait for an operation.
constexpr int64_t kOperationWaitsMax = 1'000;
constexpr int64_t kOperationWaitBytesMax = 8 << 20;
// How often deleted tables are looked at whose time has come, or whose space is needed; and tables whose automated backup is due.
constexpr absl::Duration kPurgeInterval = absl::Seconds(20);
constexpr absl::Duration kAutomatedBackupLook = absl::Seconds(20);

// Watches of health: about as many as there may be connections.
constexpr int64_t kHealthWatchesMax = 10'000;
constexpr int64_t kHealthBytesMax = 64 << 20;

// Calls of reflection.
constexpr int64_t kReflectionsMax = 100;
constexpr int64_t kReflectionBytesMax = 8 << 20;

// Reads of large rows: some send what others put together.  They wait for longer than others: each takes
// long.
constexpr size_t kLargeReaderThreads = 4;
constexpr WaitLimits kLargeWait{
    .waiting = 256, .wait = absl::Seconds(10), .wait_when_overloaded = absl::Seconds(10)};
// Large writes that wait for their place, and those behind them: they hold nothing meanwhile.
constexpr size_t kLargeWaiterThreads = 16;
constexpr WaitLimits kLargeWriteWait{
    .waiting = 256, .wait = absl::Seconds(30), .wait_when_overloaded = absl::Seconds(30)};

// One waits for the disk while another is being made; more only where they have cores of their own.
int CommitsMax() { return static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 2U, 8U)); }

size_t ReaderThreads(size_t asked) {
  constexpr size_t kLeast = 4;
  return asked > 0 ? asked : std::max<size_t>(kLeast, 2 * std::thread::hardware_concurrency());
}

// The cluster that has the automated backups of an instance: the first by its name.
absl::StatusOr<std::string> FirstCluster(const InstanceStore& instances, std::string_view instance) {
  const absl::StatusOr<std::vector<InstanceStore::Cluster>> clusters = instances.ListClusters(instance);
  if (!clusters.ok()) return clusters.status();
  if (clusters->empty()) return absl::NotFoundError(fmt::format("Instance {} has no cluster", instance));
  return clusters->front().name();
}

std::map<std::string, OperationKind> OperationKinds(Backups* backups, const InstanceStore* instances,
                                                    Tables* tables) {
  std::map<std::string, OperationKind> kinds = BackupOperationKinds(backups, instances, &tables->clock());
  kinds.merge(SqlViewOperationKinds(&tables->catalog(), &tables->clock()));
  return kinds;
}

}  // namespace

struct GrpcServer::Parts {
  Parts(const GrpcServerOptions& options, Tables* tables, KeyVisualizer* key_visualizer,
        std::unique_ptr<PreparedQueries> prepared_queries, std::unique_ptr<Backups> all_backups,
        std::unique_ptr<InstanceStore> instance_store, std::unique_ptr<Operations> all_operations)
      : queries(std::move(prepared_queries)),
        spooled(options.sql_spill, options.sql_spooled),
        backups(std::move(all_backups)),
        instances(std::move(instance_store)),
        operations(std::move(all_operations)),
        operation_runner(operations.get(), OperationKinds(backups.get(), instances.get(), tables),
                         tables->engine().leases()),
        workers(options.worker_threads, {}, turn_clock.get()),
        large_readers(kLargeReaderThreads, kLargeWait, turn_clock.get()),
        large_waiters(kLargeWaiterThreads, kLargeWriteWait, turn_clock.get()),
        readers(ReaderThreads(options.reader_threads), {.wait_when_overloaded = kReadWaitWhenOverloaded},
                turn_clock.get()),
        reads("reads", {.requests = options.reads_max,
                        .bytes = options.read_bytes_max,
                        .per_second = options.reads_per_second}),
        writes("writes", {.requests = options.writes_max,
                          .bytes = options.write_bytes_max,
                          .per_second = options.writes_per_second}),
        administration("calls of the administration", {.requests = kAdminCallsMax, .bytes = kAdminBytesMax}),
        stalled_reads(options.read_patience),
        change_streams(tables, &workers, options.read_bytes_max / 2),
        commit_line(tables, &workers,
                    {.commits_max = CommitsMax(),
                     .tell_together =
                         [](absl::FunctionRef<void()> tell) {
                           const rpc::AnswersTogether answers;
                           tell();
                         }}),
        calls{.workers = &workers,
              .readers = &readers,
              .reads = &reads,
              .writes = &writes,
              .administration = &administration,
              .stalled_reads = &stalled_reads,
              .read_cost = &read_cost,
              .commit_line = &commit_line,
              .metrics = &metrics,
              .writes_block = options.writes_block || tables->engine().traits().waits_for_network,
              .reads_block = tables->engine().traits().waits_for_network,
              .large_readers = &large_readers,
              .large_waiters = &large_waiters,
              .large_room = options.large_room,
              .spill = options.sql_spill,
              .idle_workers = options.idle_workers,
              .profiles = instances.get()},
        purger(&tables->catalog(), &tables->engine(), &tables->clock(),
               {.keep = options.undelete_for, .free_share = options.disk_free_share}),
        automated_backups(
            &tables->catalog(), backups.get(), &tables->clock(),
            [this](std::string_view instance) { return FirstCluster(*instances, instance); },
            tables->engine().leases()) {
    AddDataService(tables, &change_streams, calls, &router);
    AddSqlCalls(tables, queries.get(), &spooled, &query_metrics, calls, &router);
    AddTableAdminService(tables, instances.get(), backups.get(), &change_streams.streams(), operations.get(),
                         &operation_runner, /*keeps_deleted=*/options.undelete_for > absl::ZeroDuration(),
                         calls, &router);
    AddInstanceAdminService({.tables = tables,
                             .instances = instances.get(),
                             .operations = operations.get(),
                             .runner = &operation_runner,
                             .waits = &operation_waits,
                             .key_visualizer = key_visualizer,
                             .dialect = options.sql_dialect,
                             .view_definitions = options.view_definitions},
                            calls, &router);
    if (options.policies != nullptr) {
      for (const std::string_view service : {kTableAdminService, kInstanceAdminService}) {
        AddIamCalls(service, {tables, instances.get(), backups.get(), options.policies, options.access},
                    calls, &router);
      }
    }
    AddOperationsService({operations.get(), &operation_runner, &operation_waits, &operation_waits_admission},
                         calls, &router);
    AddHealthService(&health, &health_watches, &router);
    AddReflectionServices(&reflections, &router);
    router.SetFallback([](const rpc::UnknownCall& call) { return ToCallStatus(CallNotBuilt(call.path)); });
    if (options.access == nullptr) return;
    door.emplace(DoorOptions{options.access, options.audit, &metrics, &tables->clock()});
    door->Guard(&router);  // after all methods
  }

  const std::unique_ptr<PreparedQueries> queries;
  SpooledResults spooled;
  const std::unique_ptr<Backups> backups;
  const std::unique_ptr<InstanceStore> instances;
  const std::unique_ptr<Operations> operations;
  OperationRunner operation_runner;
  OperationWaits operation_waits{operations.get()};
  RepeatedWork backup_sweeps{
      kBackupSweepInterval, [this] { return backups->Sweep(); },
      [](const absl::Status& error) { spdlog::error("Sweeping backups: {}", std::string(error.message())); }};
  RequestMetrics metrics;
  QueryMetrics query_metrics;
  const std::unique_ptr<TurnClock> turn_clock = TurnClock::Start();
  WorkerPool workers;
  WorkerPool large_readers;
  WorkerPool large_waiters;
  WorkerPool readers;
  Admission reads;
  Admission writes;
  Admission administration;
  StalledReads stalled_reads;
  StepCost read_cost;
  ChangeStreamCalls change_streams;
  CommitLine commit_line;
  Admission operation_waits_admission{"waits for operations",
                                      {.requests = kOperationWaitsMax, .bytes = kOperationWaitBytesMax}};
  HealthState health;
  Admission health_watches{"health watches", {.requests = kHealthWatchesMax, .bytes = kHealthBytesMax}};
  Admission reflections{"calls of reflection", {.requests = kReflectionsMax, .bytes = kReflectionBytesMax}};
  const CallResources calls;
  TablePurger purger;
  AutomatedBackups automated_backups;
  RepeatedWork purging{kPurgeInterval, [this] { return purger.Sweep(); },
                       [](const absl::Status& error) {
                         spdlog::error("Dropping deleted tables: {}", std::string(error.message()));
                       }};
  RepeatedWork backing_up{
      kAutomatedBackupLook, [this] { return automated_backups.Run(); },
      [](const absl::Status& error) { spdlog::error("{}", std::string(error.message())); }};
  std::optional<CallDoor> door;         // nullopt: authentication is off
  rpc::Router router;                   // until the server has it
  std::unique_ptr<rpc::Server> server;  // first to go: its calls use all of the above
};

GrpcServer::GrpcServer(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

GrpcServer::~GrpcServer() { Shutdown(absl::ZeroDuration()); }

absl::StatusOr<std::unique_ptr<GrpcServer>> GrpcServer::Start(const GrpcServerOptions& options,
                                                              Tables* tables, KeyVisualizer* key_visualizer) {
  absl::StatusOr<std::unique_ptr<PreparedQueries>> queries =
      PreparedQueries::Create(tables, options.sql_dialect);
  if (!queries.ok()) return queries.status();
  absl::StatusOr<std::unique_ptr<Backups>> backups = Backups::Open(
      &tables->engine(), &tables->catalog(), &tables->clock(), {.companions = options.policies});
  if (!backups.ok()) return backups.status();
  absl::StatusOr<std::unique_ptr<InstanceStore>> instances =
      InstanceStore::Open(&tables->engine(), &tables->catalog(), backups->get(), &tables->clock(),
                          {.refuses_clusters = options.refuses_clusters,
                           .is_strict = options.strict_instances,
                           .companions = options.policies});
  if (!instances.ok()) return instances.status();
  absl::StatusOr<std::unique_ptr<Operations>> operations =
      Operations::Open(&tables->engine(), &tables->clock(), tables->engine().leases() != nullptr);
  if (!operations.ok()) return operations.status();
  if (absl::Status status = HoldRestoredBackups(**operations, backups->get()); !status.ok()) return status;
  auto parts = std::make_unique<Parts>(options, tables, key_visualizer, *std::move(queries),
                                       *std::move(backups), *std::move(instances), *std::move(operations));
  rpc::ServerOptions transport;
  transport.host = options.host;
  transport.port = options.port;
  transport.tls = options.tls;
  transport.connections_max = options.connections_max;
  transport.connections_per_peer_max = std::max<size_t>(options.connections_max / 2, 1);
  transport.bytes_max = options.incoming_bytes_max;
  transport.busy_details = [] { return ToCallStatus(absl::UnavailableError("The server is busy")).details; };
  absl::StatusOr<std::unique_ptr<rpc::Server>> server =
      rpc::Server::Start(std::move(transport), std::move(parts->router));
  if (!server.ok()) return server.status();
  parts->server = *std::move(server);
  return std::unique_ptr<GrpcServer>(new GrpcServer(std::move(parts)));
}

int GrpcServer::port() const { return parts_->server->port(); }
rpc::ServerFacts GrpcServer::transport_facts() const { return parts_->server->facts(); }
bool GrpcServer::is_accepting() const { return parts_->server->is_accepting(); }
RequestMetrics* GrpcServer::request_metrics() { return &parts_->metrics; }
QueryMetrics* GrpcServer::query_metrics() { return &parts_->query_metrics; }
RunningCallsAccess GrpcServer::running_calls() const {
  const rpc::Server* const server = parts_->server.get();
  const auto list = [server](size_t calls_max) {
    std::vector<RunningCall> calls;
    for (rpc::RunningCall& call : server->ListCalls(calls_max)) {
      calls.push_back({.name = std::move(call.name),
                       .port = "grpc",
                       .method = call.path.substr(call.path.rfind('/') + 1),
                       .resource = ParseRouting(call.routing).resource,
                       .principal = std::move(call.caller),
                       .client = std::move(call.peer),
                       .came = call.came});
    }
    return calls;
  };
  const auto cancel = [server](const std::string& name) {
    return server->CancelCall(name, "An operator of the server has cancelled the call");
  };
  return {list, cancel};
}
const Admission& GrpcServer::reads() const { return parts_->reads; }
const Admission& GrpcServer::writes() const { return parts_->writes; }
CommitLine* GrpcServer::commit_line() { return &parts_->commit_line; }

const ChangeStreams& GrpcServer::change_streams() const { return parts_->change_streams.streams(); }

int64_t GrpcServer::bytes_under_way() const {
  return parts_->reads.Taken().bytes + parts_->writes.Taken().bytes + parts_->administration.Taken().bytes +
         parts_->change_streams.admission().Taken().bytes;
}

std::vector<Figure> GrpcServer::TransportFigures() const {
  const rpc::ServerFacts facts = transport_facts();
  const auto number = [](int64_t count) { return static_cast<double>(count); };
  Figure refused = Figure::Counter(
      "sonde_grpc_refused_total", "Connections and calls that the gRPC port refused or ended, by the limit.");
  for (size_t i = 0; i < facts.refused.size(); ++i) {
    refused.Add(number(facts.refused[i]),
                {{"reason", std::string(rpc::NameOf(static_cast<rpc::Refusal>(i)))}});
  }
  Figure bytes = Figure::Gauge("sonde_grpc_buffer_bytes",
                               "Bytes of requests on their way in, and of answers that clients do not take.");
  bytes.Add(number(facts.bytes), {{"direction", "in"}})
      .Add(number(facts.unsent_bytes), {{"direction", "out"}});
  const Backups::Progress backups = parts_->backups->progress();
  return {
      Figure::Gauge("sonde_backups", "Backups of the Bigtable API that are READY.")
          .Add(number(backups.ready)),
      Figure::Gauge("sonde_backup_last_seconds",
                    "Time when the newest backup was complete, in seconds since 1970; 0: there is none.")
          .Add(backups.last.has_value() ? absl::ToDoubleSeconds(*backups.last - absl::UnixEpoch()) : 0),
      Figure::Counter("sonde_backup_failures_total",
                      "Backups that could not be made, and looks at backups that met an error.")
          .Add(number(backups.failures)),
      Figure::Gauge("sonde_grpc_connections", "Connections to the gRPC port.").Add(number(facts.connections)),
      Figure::Gauge("sonde_grpc_tls_handshakes", "Connections to the gRPC port that are in TLS's handshake.")
          .Add(number(facts.tls_handshakes)),
      Figure::Gauge("sonde_grpc_calls", "Calls under way, also those that have no data.")
          .Add(number(facts.calls)),
      Figure::Counter("sonde_grpc_connections_total", "Connections that were taken.")
          .Add(number(facts.accepted)),
      Figure::Counter("sonde_grpc_calls_total", "Calls that began.").Add(number(facts.begun)),
      std::move(bytes),
      std::move(refused)};
}

std::vector<Figure> GrpcServer::UpkeepFigures() const {
  std::vector<Figure> figures = parts_->purger.Figures();
  MergeFigures(parts_->automated_backups.Figures(), &figures);
  return figures;
}
void GrpcServer::StopServing() { parts_->health.StopServing(); }

int64_t GrpcServer::Shutdown(absl::Duration grace) {
  parts_->change_streams.End();
  parts_->operation_waits.End();
  parts_->operation_runner.Pause();
  return parts_->server->Shutdown(grace);
}

}  // namespace sonde
