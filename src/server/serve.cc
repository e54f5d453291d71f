#include "server/serve.h"

#include <google/protobuf/stubs/logging.h>
#include <spdlog/spdlog.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "base/format.h"
#include "base/loopback.h"
#include "base/processors.h"
#include "engine/rocks/files/disk_guard.h"
#include "journal/journal.h"
#include "metrics/latency_history.h"
#include "server/admin_socket.h"
#include "server/backup_calls.h"
#include "server/certificates.h"
#include "server/local_store.h"
#include "server/memory_shares.h"
#include "server/process/clock_watch.h"
#include "server/process/drain.h"
#include "server/process/root_user.h"
#include "server/process/server_log.h"
#include "server/serve_http.h"
#include "server/server_access.h"
#include "server/service_notices.h"
#include "server/temporary_directory.h"
#include "sql/bind/binder.h"
#include "sql/http/sql_answer.h"
#include "sql/spill/spill_space.h"
#include "sql/view/keep/view_definitions.h"
#include "sql/view/keep/view_upkeep.h"
#include "tls/certificate_keeper.h"
#include "upkeep/repeated_work.h"
#include "wire/grpc_server.h"
#include "work/idle_workers.h"

namespace sonde {
namespace {

// What comes after the grace (calls that are cancelled, roll-ups, the store) has this time.
constexpr absl::Duration kCloseMax = absl::Seconds(4);

// The time in which an answer over HTTP that breaks off is sent.
constexpr absl::Duration kAnswerMax = absl::Seconds(1);

// How often the end of answers over HTTP is looked for.
constexpr absl::Duration kEndLook = absl::Milliseconds(20);

// A read by which the service manager sees whether the engine answers.
constexpr absl::Duration kWatchedReadMax = absl::Seconds(5);

// The files that connections leave to the database and the HTTP port, as far as there are so many.
constexpr size_t kReservedFiles = 8'704;
constexpr size_t kConnectionsMax = 10'000;

absl::Status SetUpLogs(const ServeSettings& settings) {
  const absl::Status opened =
      OpenServerLog({.format = settings.log_format == "json" ? LogFormat::kJson : LogFormat::kLogfmt,
                     .level = settings.log_level,
                     .file = settings.log_file.value_or("")});
  if (!opened.ok()) return opened;
  // Else each field of a request that is not UTF-8 would put a line onto stderr.
  google::protobuf::SetLogHandler(
      [](google::protobuf::LogLevel, const char*, int, const std::string& message) {
        spdlog::debug("protocol buffers: {}", message);
      });
  return absl::OkStatus();
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
void EndWithin(absl::Duration most) {
  std::thread([most] {
    absl::SleepFor(most);
    spdlog::warn("ending without what is still under way after {}", absl::FormatDuration(most));
    std::_Exit(0);
  }).detach();
}

// The part of the disk of the data directory that is free.
std::optional<double> FreeShare(const std::string& data_dir) {
  const absl::StatusOr<DiskSpace> space = MeasureDisk(data_dir);
  if (!space.ok() || space->size_bytes == 0) return std::nullopt;
  return static_cast<double>(space->free_bytes) / static_cast<double>(space->size_bytes);
}

// How far the end has come.
struct EndState {
  std::atomic<bool> is_draining = false;  // readiness says so
  std::atomic<bool> is_ending = false;    // answers over HTTP that go on and on break off
};

std::vector<ServerFacts::KeptView> KeptViewsOf(const sql::ViewUpkeep& upkeep) {
  std::vector<ServerFacts::KeptView> views;
  for (const sql::ViewUpkeep::Progress& one : upkeep.ListProgress()) {
    views.push_back({.name = one.view,
                     .lag_seconds = static_cast<double>(one.lag_micros) * 1e-6,
                     .is_populating = one.progress.is_populating,
                     .rows = one.progress.populated_rows + one.progress.changed_rows,
                     .left_out = one.progress.rows_left_out + one.progress.groups_left_out,
                     .finding = one.finding,
                     .error = one.error});
  }
  return views;
}

ServerFacts FactsOf(const ServeSettings& settings, LocalStore* store, GrpcServer* server,
                    const series::IngestService& ingest, LargeRoom* large_room,
                    const Certificates* certificates, const ServerAccess* access,
                    const ClockWatch* clock_watch, const sql::ViewUpkeep* views, const Journal* journal,
                    const LatencyHistory* latency, const EndState* end) {
  return {.version = SONDE_VERSION,
          .started_seconds = absl::ToUnixSeconds(absl::Now()),
          .grpc_address = fmt::format("{}:{}", settings.host, server->port()),
          .data_dir = *settings.data_dir,
          .durability = settings.durability,
          .memory_bytes = settings.memory_bytes,
          .tables = &store->tables(),
          .key_visualizer = store->key_visualizer(),
          .requests = server->request_metrics(),
          .queries = server->query_metrics(),
          .latency = latency,
          .grpc_calls = server->running_calls(),
          .under_way = {{"reads", &server->reads()},
                        {"writes", &server->writes()},
                        {"series_writes", &ingest.admission()}},
          .change_streams = &server->change_streams(),
          .large_room = large_room,
          .is_accepting = [server] { return server->is_accepting(); },
          .is_draining = [end] { return end->is_draining.load(); },
          .transport_figures =
              [server, certificates, access, clock_watch, views, journal, settler = store->settler(),
               ingest = &ingest, is_insecure = !IsLoopback(settings.host) && settings.insecure_allow_remote] {
                std::vector<Figure> figures = server->TransportFigures();
                for (Figure& figure : certificates->Figures(absl::Now()))
                  figures.push_back(std::move(figure));
                for (Figure& figure : server->UpkeepFigures()) figures.push_back(std::move(figure));
                for (Figure& figure : ingest->points().Figures()) figures.push_back(std::move(figure));
                for (Figure& figure : ingest->IndexFigures()) figures.push_back(std::move(figure));
                for (Figure& figure : clock_watch->Figures()) figures.push_back(std::move(figure));
                for (Figure& figure : views->Figures()) figures.push_back(std::move(figure));
                if (settler != nullptr) {
                  for (Figure& figure : settler->Figures()) figures.push_back(std::move(figure));
                }
                if (journal != nullptr) {
                  for (Figure& figure : journal->Figures()) figures.push_back(std::move(figure));
                }
                if (access != nullptr) {
                  for (Figure& figure : access->Figures()) figures.push_back(std::move(figure));
                }
                figures.push_back(Figure::Gauge("sonde_insecure_remote",
                                                "1: other machines are let in by --insecure-allow-remote.")
                                      .Add(is_insecure ? 1 : 0));
                return figures;
              },
          .kept_views = [views] { return KeptViewsOf(*views); },
          .new_series = [ingest = &ingest] { return ingest->NewEntities(); },
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
                      series::IngestService* ingest, sql::BundleFinder* bundles, sql::SeriesFinder* finder,
                      sql::SpillSpace* spill, const std::atomic<bool>* is_ending) {
  return {.tables = &store->tables(),
          .dialect = DialectOf(settings),
          .bundles = bundles,
          .series = finder,
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
  const bool is_all = settings.audit_data == "all";
  const AuditRules rules{.is_required = settings.audit == "required",
                         .data_reads = is_all || settings.audit_data == "reads",
                         .data_writes = is_all || settings.audit_data == "writes"};
  return ServerAccess::Open(*settings.auth, {.path = audit_log, .rules = rules}, SeriesInstance(), policies);
}

// Null: no table is journaled.
absl::StatusOr<std::unique_ptr<Journal>> OpenJournal(const ServeSettings& settings, LocalStore* store) {
  Catalog* const catalog = &store->tables().catalog();
  if (settings.pitr_tables.empty()) {
    if (absl::Status status = Journal::TurnOff(&store->engine(), catalog); !status.ok()) return status;
    return nullptr;
  }
  SystemRandom random;
  absl::StatusOr<std::unique_ptr<Journal>> journal =
      Journal::Open(&store->engine(), catalog, &store->tables().clock(), &random,
                    {.tables = settings.pitr_tables, .keep = settings.pitr_keep});
  if (journal.ok()) {
    spdlog::info("journal: id={} tables={} keep={}", (*journal)->id(), settings.pitr_tables,
                 absl::FormatDuration(settings.pitr_keep));
  }
  return journal;
}

absl::StatusOr<std::unique_ptr<LocalStore>> OpenStore(const ServeSettings& settings, LargeRoom* large_room) {
  const bool sync = settings.durability == "fsync";
  const bool watch = !settings.no_keyviz;
  if (settings.store.has_value()) {
    absl::StatusOr<HBaseStoreAddress> address = ParseHBaseStore(*settings.store);
    if (!address.ok()) return address.status();
    auto tls = StoreTlsOf("--store-tls", {settings.store_tls, settings.store_tls_server_name});
    if (!tls.ok()) return tls.status();
    const auto storage_of = [plain = settings.plain_tables,
                             packed = settings.packed_tables](std::string_view table) {
      if (FitsPatterns(plain, table)) return CellStorage::kPlain;
      return FitsPatterns(packed, table) ? CellStorage::kPackedAtOnce : CellStorage::kPacked;
    };
    return LocalStore::OpenHBase(
        {.engine = {.address = *std::move(address), .sync = sync, .tls = *std::move(tls)},
         .settler = SettlerOptions(),
         .storage_of = storage_of,
         .tell_error = [](const absl::Status& error) { spdlog::warn("settling: {}", error.ToString()); }},
        *settings.data_dir, large_room, watch);
  }
  return LocalStore::Open({.data_dir = *settings.data_dir,
                           .memory_bytes = settings.memory_bytes,
                           .large_room = large_room,
                           .sync = sync,
                           .tell = LogLine},
                          watch);
}

// What SIGHUP loads again.
struct Reloaded {
  ServeSettings* settings;
  const std::function<absl::StatusOr<ServeSettings>()>* read_again;
  Certificates* certificates;
  ServerAccess* access;  // null: nobody is asked who he is
  ClockWatch* clock_watch;
};

// Takes log_level over; the log names all other settings that have changed.
void TakeSettings(const ServeSettings& changed, ServeSettings* settings) {
  std::vector<std::string> later;
  const std::vector<SettingLine> before = ListSettings(*settings), now = ListSettings(changed);
  for (size_t i = 0; i < before.size(); ++i) {
    const bool is_chosen_at_start = before[i].key == "data_dir" && now[i].value.empty();
    if (before[i].value != now[i].value && before[i].key != "log_level" && !is_chosen_at_start)
      later.push_back(before[i].key);
  }
  if (changed.log_level != settings->log_level) {
    SetServerLogLevel(changed.log_level);
    spdlog::info("settings: log_level={}", changed.log_level);
    settings->log_level = changed.log_level;
  }
  if (!later.empty()) spdlog::warn("settings: {} count from the next start", fmt::join(later, ", "));
}

void LookAtCertificates(const Reloaded& parts, bool asks) {
  if (parts.certificates->Look(asks, absl::Now()) && parts.access != nullptr)
    parts.access->WriteChange("certificate of the server", "loaded anew");
}

void Reload(const Reloaded& parts) {
  if (absl::Status status = ReopenServerLog(); !status.ok())
    spdlog::error("log: {}", std::string(status.message()));
  absl::StatusOr<ServeSettings> changed = (*parts.read_again)();
  absl::Status checked = changed.ok() ? CheckServeSettings(*changed) : changed.status();
  if (checked.ok()) {
    TakeSettings(*changed, parts.settings);
  } else {
    spdlog::error("settings: those before stay in force: {}", std::string(checked.message()));
  }
  // The audit log's file is opened again before there are lines of what has changed.
  if (parts.access != nullptr) ReloadAccess(parts.access);
  LookAtCertificates(parts, /*asks=*/true);
}

// Waits for the signal that ends the server; looks after certificates meanwhile.
int WaitForEnd(const sigset_t& signals, const Reloaded& parts, ServiceNotices* notices) {
  const timespec pause{absl::ToInt64Seconds(kCertificateLook), 0};
  const bool is_insecure = !IsLoopback(parts.settings->host) && parts.settings->insecure_allow_remote;
  absl::Time warn_next = absl::Now();
  while (true) {
    if (is_insecure && absl::Now() >= warn_next) {
      warn_next += absl::Hours(1);
      spdlog::warn("address={} other machines are let in without authentication (--insecure-allow-remote)",
                   parts.settings->host);
    }
    const int signal = sigtimedwait(&signals, nullptr, &pause);
    if (signal == SIGINT || signal == SIGTERM) return signal;
    const absl::Duration step = parts.clock_watch->Look(absl::Now(), std::chrono::steady_clock::now());
    if (step > absl::ZeroDuration()) {
      spdlog::warn("clock: it was set back by {}: new cells may be older than those that are there",
                   absl::FormatDuration(step));
    }
    if (signal != SIGHUP) {
      LookAtCertificates(parts, /*asks=*/false);
      continue;
    }
    notices->Reloading();
    Reload(parts);
    notices->Ready();
  }
}

// The parts that clients use.  `http` may be null.
struct Ports {
  GrpcServer* grpc;
  HttpServer* http;
};

// Lets clients go, as drain.h says; `signals` hurry it.
void EndPorts(const Ports& ports, const ServeSettings& settings, const sigset_t& signals, EndState* end) {
  DrainSteps steps;
  steps.stop_serving = [&] {
    end->is_draining = true;
    ports.grpc->StopServing();
  };
  steps.shut_down = [&](absl::Duration grace) {
    const absl::Time until = absl::Now() + grace;
    absl::Notification http_has_ended;
    std::thread http_end([&] {
      if (ports.http != nullptr) ports.http->End(grace + kAnswerMax);
      http_has_ended.Notify();
    });
    if (const int64_t left = ports.grpc->Shutdown(grace); left > 0) spdlog::warn("{} calls hang", left);
    while (!end->is_ending && absl::Now() < until &&
           !http_has_ended.WaitForNotificationWithTimeout(kEndLook)) {
    }
    // Answers that go on and on break off, and say so; whoever does not is cut off.
    end->is_ending = true;
    if (!http_has_ended.WaitForNotificationWithTimeout(kAnswerMax)) ports.http->HurryEnd();
    http_end.join();
  };
  steps.hurry = [&] {
    spdlog::info("ending at once: a second signal came");
    EndWithin(kCloseMax);
    end->is_ending = true;
    ports.grpc->Shutdown(absl::ZeroDuration());
  };
  steps.await_signal = [&](absl::Duration wait) {
    const timespec pause = absl::ToTimespec(wait);
    const int signal = sigtimedwait(&signals, nullptr, &pause);
    return signal == SIGINT || signal == SIGTERM;
  };
  RunDrain({.delay = settings.drain_delay, .grace = settings.grace}, steps);
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

absl::Status CheckServe(const ServeSettings& settings) {
  if (absl::Status status = CheckServeSettings(settings); !status.ok()) return status;
  if (settings.tls.has_value()) {
    const auto keeper = tls::CertificateKeeper::Open(*settings.tls, absl::Now());
    if (!keeper.ok()) return keeper.status();
  }
  return settings.auth.has_value() ? ServerAccess::Check(*settings.auth) : absl::OkStatus();
}

absl::Status Serve(ServeSettings settings, const std::function<absl::StatusOr<ServeSettings>()>& read_again) {
  if (absl::Status status = CheckServeSettings(settings); !status.ok()) return status;
  const ProcessUser user = ProcessUser::Find([](const char* name) { return std::getenv(name); });
  if (absl::Status status = CheckUser(user, settings.allow_root); !status.ok()) return status;
  if (absl::Status status = SetUpLogs(settings); !status.ok()) return status;
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
  notices.Status(fmt::format("opening {}", settings.store.value_or(data_dir)));
  MemoryKeeper memory(settings.memory_bytes);
  absl::StatusOr<std::unique_ptr<LocalStore>> store = OpenStore(settings, memory.room());
  if (!store.ok()) return store.status();
  absl::StatusOr<std::unique_ptr<Journal>> journal = OpenJournal(settings, store->get());
  if (!journal.ok()) return journal.status();
  sql::SpillSpace spill((std::filesystem::path(data_dir) / "spill").native(), {});
  RocksEngine* const rocks = (*store)->rocks();
  if (rocks != nullptr) memory.room()->set_after_write([rocks] { rocks->FlushLarge(); });
  absl::StatusOr<std::unique_ptr<ServerAccess>> access = OpenAccess(settings, &(*store)->policies());
  if (!access.ok()) return access.status();
  IdleWorkers idle_workers(UsableProcessors());
  auto views = std::make_unique<sql::ViewUpkeep>(
      &(*store)->tables(),
      [](const std::string& view, const absl::Status& error) {
        spdlog::error("keeping view={}: {}", view, std::string(error.message()));
      },
      sql::ViewUpkeepOptions{.keeper = {.idle_workers = &idle_workers}});
  sql::CheckedDefinitions view_definitions(&(*store)->tables().catalog(), DialectOf(settings));
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
                         .view_definitions = &view_definitions,
                         .refuses_clusters = settings.clusters == "refuse",
                         .strict_instances = settings.strict_instances,
                         .undelete_for = absl::Hours(24 * settings.undelete_days),
                         .disk_free_share = [data_dir] { return FreeShare(data_dir); }},
                        &(*store)->tables(), (*store)->key_visualizer());
  if (!server.ok()) return server.status();
  (*server)->request_metrics()->slow_calls()->SetThreshold(absl::Milliseconds(settings.slow_ms));
  absl::StatusOr<std::unique_ptr<series::IngestService>> ingest =
      OpenIngest(settings, &(*store)->tables(), (*server)->commit_line(), &idle_workers);
  if (!ingest.ok()) return ingest.status();
  sql::BundleFinder bundles(&(*store)->tables().catalog());
  sql::SeriesFinder finder(&(*store)->tables());
  absl::StatusOr<std::unique_ptr<LatencyHistory>> latency =
      LatencyHistory::Open(std::filesystem::path(data_dir) / "latency", absl::ToUnixSeconds(absl::Now()));
  if (!latency.ok()) {
    spdlog::warn("latency: nothing is kept over a restart: {}", std::string(latency.status().message()));
    latency = LatencyHistory::Open({}, absl::ToUnixSeconds(absl::Now()));
  }
  std::optional<RepeatedWork> latency_ticks(
      std::in_place, absl::Seconds(LatencyHistory::kShortStep),
      [latency = latency->get(), requests = (*server)->request_metrics()] {
        latency->Tick(*requests, absl::ToUnixSeconds(absl::Now()));
        return absl::OkStatus();
      },
      [](const absl::Status&) {});
  EndState end;
  ClockWatch clock_watch(absl::Now(), std::chrono::steady_clock::now());
  absl::StatusOr<std::unique_ptr<HttpServer>> http = StartHttp(
      settings,
      FactsOf(settings, store->get(), server->get(), **ingest, memory.room(), certificates->get(),
              access->get(), &clock_watch, views.get(), journal->get(), latency->get(), &end),
      SqlOf(settings, store->get(), server->get(), ingest->get(), &bundles, &finder, &spill, &end.is_ending),
      ingest->get(), **certificates, access->get());
  if (!http.ok()) return http.status();
  memory.Start(
      {.small_bytes =
           [server = server->get(), ingest = ingest->get()] {
             return server->bytes_under_way() + ingest->admission().Taken().bytes;
           },
       .cache_bytes = [rocks] { return rocks == nullptr ? 0 : static_cast<int64_t>(rocks->cache_bytes()); },
       .set_cache_max =
           [rocks](int64_t bytes) {
             if (rocks != nullptr) rocks->SetCacheBytes(static_cast<uint64_t>(bytes));
           }});
  spdlog::info("serving address={}:{} data_dir={} store={} durability={} memory_bytes={}", settings.host,
               (*server)->port(), data_dir, settings.store.value_or("data_dir"), settings.durability,
               settings.memory_bytes);
  absl::StatusOr<std::unique_ptr<AdminSocket>> admin =
      AdminSocket::Start(data_dir, BackupCalls(store->get(), journal->get(), data_dir));
  if (!admin.ok()) spdlog::warn("admin: no commands: {}", std::string(admin.status().message()));
  // Before the line that tells that all is there.
  if (*http != nullptr) fmt::print("sonde: web page at {}\n", (*http)->url());
  fmt::print("sonde: listening on {}:{}\n", settings.host, (*server)->port());
  std::fflush(stdout);
  notices.Ready();
  notices.Watch(
      [engine = &(*store)->engine()] { (void)engine->RecordsVersion(absl::Now() + kWatchedReadMax); });

  const int signal = WaitForEnd(ending,
                                {.settings = &settings,
                                 .read_again = &read_again,
                                 .certificates = certificates->get(),
                                 .access = access->get(),
                                 .clock_watch = &clock_watch},
                                &notices);
  spdlog::info("ending signal={}", signal == SIGTERM ? "SIGTERM" : "SIGINT");
  EndWithin(settings.drain_delay + settings.grace + kCloseMax);
  notices.Stopping();
  EndPorts({.grpc = server->get(), .http = http->get()}, settings, ending, &end);
  if (admin.ok()) admin->reset();
  http->reset();
  memory.Stop();
  latency_ticks.reset();
  ingest->reset();  // which refreshes the roll-ups that wait
  server->reset();
  views.reset();
  journal->reset();  // at whose end the catalog is told
  store->reset();
  spdlog::info("ended");
  return absl::OkStatus();
}

}  // namespace sonde
