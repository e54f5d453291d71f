#include "server/serve.h"

#include <google/protobuf/stubs/logging.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "base/format.h"
#include "base/processors.h"
#include "server/certificates.h"
#include "server/local_store.h"
#include "server/memory_shares.h"
#include "server/serve_http.h"
#include "server/server_access.h"
#include "server/service_notices.h"
#include "server/temporary_directory.h"
#include "sql/bind/binder.h"
#include "sql/http/sql_answer.h"
#include "sql/spill/spill_space.h"
#include "wire/grpc_server.h"
#include "work/idle_workers.h"

namespace sonde {
namespace {

// Grace when the server is told to end: calls have the first, all else has the second, from then on.  A
// supervisor kills it after ten seconds, as a rule.
constexpr absl::Duration kShutdownGrace = absl::Seconds(5);
constexpr absl::Duration kEndMax = absl::Seconds(7);

// A read by which the service manager sees whether the engine answers.
constexpr absl::Duration kWatchedReadMax = absl::Seconds(5);

// The files that connections leave to the database and the HTTP port, as far as there are so many.
constexpr size_t kReservedFiles = 8'704;
constexpr size_t kConnectionsMax = 10'000;

void SetUpLogs(const std::string& level) {
  auto logger = std::make_shared<spdlog::logger>("sonde", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  logger->set_pattern("time=%Y-%m-%dT%H:%M:%S.%fZ level=%l msg=\"%v\"", spdlog::pattern_time_type::utc);
  logger->set_level(level == "error" ? spdlog::level::err : spdlog::level::from_str(level));
  logger->flush_on(spdlog::level::trace);
  spdlog::set_default_logger(std::move(logger));
  // Else each field of a request that is not UTF-8 would put a line onto stderr.
  google::protobuf::SetLogHandler(
      [](google::protobuf::LogLevel, const char*, int, const std::string& message) {
        spdlog::debug("protocol buffers: {}", message);
      });
}

// Connections and files of the database count against one limit, which is low by default.  How many
// connections there may be.
size_t RaiseFileLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return kConnectionsMax;
  const rlimit raised{limit.rlim_max, limit.rlim_max};
  if (setrlimit(RLIMIT_NOFILE, &raised) == 0) limit = raised;
  const auto files = static_cast<size_t>(limit.rlim_cur);
  return std::min(files - std::min(files / 2, kReservedFiles), kConnectionsMax);
}

// Ends the process when something hangs: what was acknowledged is on the disk, as after a crash.
void EndInTime() {
  std::thread([] {
    absl::SleepFor(kEndMax);
    spdlog::warn("ending without what is still under way after {} s", absl::ToInt64Seconds(kEndMax));
    std::_Exit(0);
  }).detach();
}

ServerFacts FactsOf(const ServeSettings& settings, LocalStore* store, GrpcServer* server,
                    const series::IngestService& ingest, LargeRoom* large_room,
                    const Certificates* certificates) {
  return {
      .version = SONDE_VERSION,
      .started_seconds = absl::ToUnixSeconds(absl::Now()),
      .grpc_address = fmt::format("{}:{}", settings.host, server->port()),
      .data_dir = *settings.data_dir,
      .memory_bytes = settings.memory_bytes,
      .tables = &store->tables(),
      .key_visualizer = store->key_visualizer(),
      .requests = server->request_metrics(),
      .queries = server->query_metrics(),
      .under_way = {{"reads", &server->reads()},
                    {"writes", &server->writes()},
                    {"series_writes", &ingest.admission()}},
      .change_streams = &server->change_streams(),
      .large_room = large_room,
      .is_accepting = [server] { return server->is_accepting(); },
      .transport_figures =
          [server, certificates, is_insecure = !IsLoopback(settings.host) && settings.insecure_allow_remote] {
            std::vector<Figure> figures = server->TransportFigures();
            for (Figure& figure : certificates->Figures(absl::Now())) figures.push_back(std::move(figure));
            figures.push_back(Figure::Gauge("sonde_insecure_remote",
                                            "1: other machines are let in by --insecure-allow-remote.")
                                  .Add(is_insecure ? 1 : 0));
            return figures;
          },
      .allocator_bytes =
          [] {
            std::vector<std::pair<std::string, int64_t>> states;
            if (const auto bytes = ReadAllocatorBytes(); bytes.has_value())
              states = {{"allocated", bytes->allocated}, {"resident", bytes->resident}};
            return states;
          }};
}

sql::Dialect DialectOf(const ServeSettings& settings) {
  return settings.sql_dialect == "production" ? sql::Dialect::kProduction : sql::Dialect::kSonde;
}

sql::SqlService SqlOf(const ServeSettings& settings, LocalStore* store, GrpcServer* server,
                      series::IngestService* ingest, sql::BundleFinder* bundles, sql::SpillSpace* spill,
                      const std::atomic<bool>* is_ending) {
  return {.tables = &store->tables(),
          .dialect = DialectOf(settings),
          .bundles = bundles,
          .admission = &ingest->admission(),
          .spill = spill,
          .idle_workers = ingest->idle_workers(),
          .requests = server->request_metrics(),
          .queries = server->query_metrics(),
          .is_ending = is_ending};
}

void LogLine(TellLevel level, const std::string& text) {
  spdlog::log(level == TellLevel::kInfo ? spdlog::level::info : spdlog::level::warn, "{}", text);
}

// The files of the process, and the memory of a crash, in which keys are, are for nobody else.
void HardenProcess(bool has_keys) {
  umask(077);
  if (has_keys) prctl(PR_SET_DUMPABLE, 0);
  if (geteuid() == 0) spdlog::warn("running as root: a user of its own would do");
}

void WarnOfWideDirectory(const std::string& data_dir) {
  struct stat facts{};
  if (stat(data_dir.c_str(), &facts) != 0 || (facts.st_mode & 077) == 0) return;
  spdlog::warn(
      "data_dir={} has the mode {:04o}: other users of this machine are let in; `chmod 700` keeps them out",
      data_dir, facts.st_mode & 07777);
}

void ReloadAccess(ServerAccess* access) {
  const absl::Status status = access->Reload();
  if (status.ok()) {
    spdlog::info("auth: loaded anew");
  } else {
    spdlog::error("auth: what was there stays in force: {}", std::string(status.message()));
  }
}

// Null: nobody is asked who he is.
absl::StatusOr<std::unique_ptr<ServerAccess>> OpenAccess(const ServeSettings& settings,
                                                         const PolicySource* policies) {
  if (!settings.auth.has_value()) {
    spdlog::info("auth: off, everybody who reaches address={} may do everything (--auth)", settings.host);
    return nullptr;
  }
  const std::string audit_log =
      settings.audit_log.value_or((std::filesystem::path(*settings.data_dir) / "audit.log").native());
  return ServerAccess::Open(*settings.auth, audit_log, SeriesInstance(), policies);
}

// Waits for the signal that ends the server; looks after certificates meanwhile.
int WaitForEnd(const sigset_t& signals, const ServeSettings& settings, Certificates* certificates,
               ServerAccess* access) {
  const timespec pause{absl::ToInt64Seconds(kCertificateLook), 0};
  const bool is_insecure = !IsLoopback(settings.host) && settings.insecure_allow_remote;
  absl::Time warn_next = absl::Now();
  while (true) {
    if (is_insecure && absl::Now() >= warn_next) {
      warn_next += absl::Hours(1);
      spdlog::warn("address={} other machines are let in without authentication (--insecure-allow-remote)",
                   settings.host);
    }
    const int signal = sigtimedwait(&signals, nullptr, &pause);
    if (signal == SIGINT || signal == SIGTERM) return signal;
    certificates->Look(/*asks=*/signal == SIGHUP, absl::Now());
    if (signal == SIGHUP && access != nullptr) ReloadAccess(access);
  }
}

absl::Status ChooseDataDir(ServeSettings* settings, std::unique_ptr<TemporaryDirectory>* temporary) {
  if (settings->data_dir.has_value()) return absl::OkStatus();
  settings->data_dir = kDataDirUsual;
  if (!settings->temporary) return absl::OkStatus();
  std::error_code error;
  const std::filesystem::path parent = std::filesystem::temp_directory_path(error);
  if (error) {
    return absl::FailedPreconditionError(
        fmt::format("TMPDIR names no directory ({}); --data-dir chooses one", error.message()));
  }
  absl::StatusOr<std::unique_ptr<TemporaryDirectory>> made = TemporaryDirectory::Create(parent);
  if (!made.ok()) return made.status();
  *temporary = *std::move(made);
  settings->data_dir = (*temporary)->path().native();
  return absl::OkStatus();
}

}  // namespace

absl::Status Serve(ServeSettings settings) {
  if (absl::Status status = CheckServeSettings(settings); !status.ok()) return status;
  SetUpLogs(settings.log_level);
  ServiceNotices notices = ServiceNotices::FromEnvironment();
  const size_t connections_max = RaiseFileLimit();
  // Before any thread starts, so that all of them leave these signals to the wait below.
  sigset_t ending;
  sigemptyset(&ending);
  sigaddset(&ending, SIGINT);
  sigaddset(&ending, SIGTERM);
  sigaddset(&ending, SIGHUP);
  pthread_sigmask(SIG_BLOCK, &ending, nullptr);
  std::signal(SIGPIPE, SIG_IGN);

  HardenProcess(settings.tls.has_value());
  absl::StatusOr<std::unique_ptr<Certificates>> certificates = Certificates::Open(settings, absl::Now());
  if (!certificates.ok()) return certificates.status();
  std::unique_ptr<TemporaryDirectory> temporary;  // the last to go: the store is in it
  if (absl::Status status = ChooseDataDir(&settings, &temporary); !status.ok()) return status;
  const std::string data_dir = *settings.data_dir;
  WarnOfWideDirectory(data_dir);
  const bool sync = settings.durability == "fsync";
  notices.Status(fmt::format("opening {}", data_dir));
  MemoryKeeper memory(settings.memory_bytes);
  absl::StatusOr<std::unique_ptr<LocalStore>> store = LocalStore::Open({.data_dir = data_dir,
                                                                        .memory_bytes = settings.memory_bytes,
                                                                        .large_room = memory.room(),
                                                                        .sync = sync,
                                                                        .tell = LogLine},
                                                                       /*watch=*/!settings.no_keyviz);
  if (!store.ok()) return store.status();
  sql::SpillSpace spill((std::filesystem::path(data_dir) / "spill").native(), {});
  memory.room()->set_after_write([engine = &(*store)->engine()] { engine->FlushLarge(); });
  absl::StatusOr<std::unique_ptr<ServerAccess>> access = OpenAccess(settings, &(*store)->policies());
  if (!access.ok()) return access.status();
  IdleWorkers idle_workers(UsableProcessors());
  absl::StatusOr<std::unique_ptr<GrpcServer>> server =
      GrpcServer::Start({.host = settings.host,
                         .port = settings.port,
                         .writes_block = sync,
                         .read_bytes_max = static_cast<int64_t>(settings.memory_bytes / 4),
                         .write_bytes_max = static_cast<int64_t>(settings.memory_bytes / 8),
                         .large_room = memory.room(),
                         .sql_spill = &spill,
                         .idle_workers = &idle_workers,
                         .incoming_bytes_max = static_cast<int64_t>(settings.memory_bytes / 2),
                         .tls = (*certificates)->provider(),
                         .connections_max = connections_max,
                         .reads_per_second = settings.reads_per_second,
                         .writes_per_second = settings.writes_per_second,
                         .access = *access == nullptr ? nullptr : (*access)->control(),
                         .audit = *access == nullptr ? nullptr : (*access)->audit(),
                         .policies = &(*store)->policies(),
                         .sql_dialect = DialectOf(settings),
                         .refuses_clusters = settings.clusters == "refuse"},
                        &(*store)->tables(), (*store)->key_visualizer());
  if (!server.ok()) return server.status();
  absl::StatusOr<std::unique_ptr<series::IngestService>> ingest =
      OpenIngest(settings, &(*store)->tables(), (*server)->commit_line(), &idle_workers);
  if (!ingest.ok()) return ingest.status();
  sql::BundleFinder bundles(&(*store)->tables().catalog());
  std::atomic<bool> is_ending = false;
  absl::StatusOr<std::unique_ptr<HttpServer>> http = StartHttp(
      settings, FactsOf(settings, store->get(), server->get(), **ingest, memory.room(), certificates->get()),
      SqlOf(settings, store->get(), server->get(), ingest->get(), &bundles, &spill, &is_ending),
      ingest->get(), **certificates, access->get());
  if (!http.ok()) return http.status();
  RocksEngine* const engine = &(*store)->engine();
  memory.Start(
      {.small_bytes =
           [server = server->get(), ingest = ingest->get()] {
             return server->bytes_under_way() + ingest->admission().Taken().bytes;
           },
       .cache_bytes = [engine] { return static_cast<int64_t>(engine->cache_bytes()); },
       .set_cache_max = [engine](int64_t bytes) { engine->SetCacheBytes(static_cast<uint64_t>(bytes)); }});
  spdlog::info("serving address={}:{} data_dir={} durability={} memory_bytes={}", settings.host,
               (*server)->port(), data_dir, settings.durability, settings.memory_bytes);
  // Before the line that tells that all is there.
  if (*http != nullptr) fmt::print("sonde: web page at {}\n", (*http)->url());
  fmt::print("sonde: listening on {}:{}\n", settings.host, (*server)->port());
  std::fflush(stdout);
  notices.Ready();
  notices.Watch([engine] { (void)engine->RecordsVersion(absl::Now() + kWatchedReadMax); });

  const int signal = WaitForEnd(ending, settings, certificates->get(), access->get());
  spdlog::info("ending signal={}", signal == SIGTERM ? "SIGTERM" : "SIGINT");
  EndInTime();
  notices.Stopping();
  is_ending = true;
  http->reset();
  memory.Stop();
  ingest->reset();  // which refreshes the roll-ups that wait
  if (const int64_t left = (*server)->Shutdown(kShutdownGrace); left > 0) spdlog::warn("{} calls hang", left);
  server->reset();
  store->reset();
  spdlog::info("ended");
  return absl::OkStatus();
}

}  // namespace sonde
