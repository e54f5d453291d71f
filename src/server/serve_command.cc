#include <google/protobuf/stubs/logging.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/time/clock.h"
#include "base/format.h"
#include "server/commands.h"
#include "server/local_store.h"
#include "server/memory_shares.h"
#include "server/serve_http.h"
#include "server/serve_settings.h"
#include "server/temporary_directory.h"
#include "wire/grpc_server.h"

namespace sonde {
namespace {

// Calls have the first when the server is told to end; all else has the second, from then on.  Who ends it
// kills it after ten seconds, as a rule.
constexpr absl::Duration kShutdownGrace = absl::Seconds(5);
constexpr absl::Duration kEndMax = absl::Seconds(7);

// What connections leave to files of the database and to the HTTP port, as far as there are so many.
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

int Fail(const absl::Status& status) {
  fmt::print(stderr, "sonde serve: {}\n", std::string(status.message()));
  return absl::IsInvalidArgument(status) ? 2 : 1;
}

ServerFacts FactsOf(const ServeSettings& settings, LocalStore* store, GrpcServer* server,
                    const series::IngestService& ingest, LargeRoom* large_room) {
  return {.version = SONDE_VERSION,
          .started_seconds = absl::ToUnixSeconds(absl::Now()),
          .grpc_address = fmt::format("{}:{}", settings.host, server->port()),
          .data_dir = *settings.data_dir,
          .memory_bytes = settings.memory_bytes,
          .tables = &store->tables(),
          .key_visualizer = store->key_visualizer(),
          .requests = &server->request_metrics(),
          .under_way = {{"reads", &server->reads()},
                        {"writes", &server->writes()},
                        {"series_writes", &ingest.admission()}},
          .change_streams = &server->change_streams(),
          .large_room = large_room,
          .is_accepting = [server] { return server->is_accepting(); },
          .transport_figures = [server] { return server->TransportFigures(); },
          .allocator_bytes =
              [] {
                std::vector<std::pair<std::string, int64_t>> states;
                if (const auto bytes = ReadAllocatorBytes(); bytes.has_value())
                  states = {{"allocated", bytes->allocated}, {"resident", bytes->resident}};
                return states;
              }};
}

void LogLine(TellLevel level, const std::string& text) {
  spdlog::log(level == TellLevel::kInfo ? spdlog::level::info : spdlog::level::warn, "{}", text);
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

int Serve(ServeSettings settings) {
  if (absl::Status status = CheckServeSettings(settings); !status.ok()) return Fail(status);
  SetUpLogs(settings.log_level);
  const size_t connections_max = RaiseFileLimit();
  // Before any thread starts, so that all of them leave these signals to the wait below.
  sigset_t ending;
  sigemptyset(&ending);
  sigaddset(&ending, SIGINT);
  sigaddset(&ending, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &ending, nullptr);
  std::signal(SIGPIPE, SIG_IGN);

  std::unique_ptr<TemporaryDirectory> temporary;  // the last to go: the store is in it
  if (absl::Status status = ChooseDataDir(&settings, &temporary); !status.ok()) return Fail(status);
  const std::string data_dir = *settings.data_dir;
  const bool sync = settings.durability == "fsync";
  MemoryKeeper memory(settings.memory_bytes);
  absl::StatusOr<std::unique_ptr<LocalStore>> store = LocalStore::Open({.data_dir = data_dir,
                                                                        .memory_bytes = settings.memory_bytes,
                                                                        .large_room = memory.room(),
                                                                        .sync = sync,
                                                                        .tell = LogLine},
                                                                       /*watch=*/!settings.no_keyviz);
  if (!store.ok()) return Fail(store.status());
  memory.room()->set_after_write([engine = &(*store)->engine()] { engine->FlushLarge(); });
  absl::StatusOr<std::unique_ptr<GrpcServer>> server =
      GrpcServer::Start({.host = settings.host,
                         .port = settings.port,
                         .writes_block = sync,
                         .read_bytes_max = static_cast<int64_t>(settings.memory_bytes / 4),
                         .write_bytes_max = static_cast<int64_t>(settings.memory_bytes / 8),
                         .large_room = memory.room(),
                         .incoming_bytes_max = static_cast<int64_t>(settings.memory_bytes / 2),
                         .connections_max = connections_max,
                         .reads_per_second = settings.reads_per_second,
                         .writes_per_second = settings.writes_per_second},
                        &(*store)->tables(), (*store)->key_visualizer());
  if (!server.ok()) return Fail(server.status());
  absl::StatusOr<std::unique_ptr<series::IngestService>> ingest = OpenIngest(settings, &(*store)->tables());
  if (!ingest.ok()) return Fail(ingest.status());
  absl::StatusOr<std::unique_ptr<HttpServer>> http = StartHttp(
      settings, FactsOf(settings, store->get(), server->get(), **ingest, memory.room()), ingest->get());
  if (!http.ok()) return Fail(http.status());
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

  int signal = 0;
  sigwait(&ending, &signal);
  spdlog::info("ending signal={}", signal == SIGTERM ? "SIGTERM" : "SIGINT");
  EndInTime();
  http->reset();
  memory.Stop();
  ingest->reset();  // which refreshes the roll-ups that wait
  if (const int64_t left = (*server)->Shutdown(kShutdownGrace); left > 0) spdlog::warn("{} calls hang", left);
  server->reset();
  store->reset();
  spdlog::info("ended");
  return 0;
}

}  // namespace

void AddServeCommand(CLI::App& app, int* exit_status) {
  CLI::App* serve = app.add_subcommand("serve", "Serve the Bigtable API from a data directory");
  serve->footer(
      "Examples:\n"
      "  sonde serve --data-dir /var/lib/sonde\n"
      "  sonde serve --port 0 --durability os --memory 4GiB\n"
      "  sonde -host 127.0.0.1 -port 8086        (as Google's emulator is called; forgets all)\n"
      "Then:  BIGTABLE_EMULATOR_HOST=127.0.0.1:8086 cbt -project p -instance i ls");
  // Flags are kept apart until the file has been read: they have the last word.
  struct Flags {
    ServeSettings values;
    int http_port = kHttpPortUsual;
    std::string data_dir = kDataDirUsual;
    std::string memory;
    std::string config;
  };
  auto flags = std::make_shared<Flags>();
  CLI::Option* host =
      serve->add_option("--host", flags->values.host, "the address to listen on")->capture_default_str();
  CLI::Option* port = serve->add_option("--port", flags->values.port, "the port; 0 takes any that is free")
                          ->capture_default_str();
  CLI::Option* http_port = serve->add_option(
      "--http-port", flags->http_port,
      fmt::format("the port of web page, metrics and JSON; 0 takes any that is free [{}, or "
                  "any when that is taken]",
                  kHttpPortUsual));
  CLI::Option* no_http = serve->add_flag("--no-http", flags->values.no_http, "do without it");
  CLI::Option* declared_series_only =
      serve->add_flag("--declared-series-only", flags->values.declared_series_only,
                      "refuse line protocol and Prometheus samples of series that nobody declared");
  CLI::Option* no_keyviz = serve->add_flag("--no-keyviz", flags->values.no_keyviz,
                                           "keep no account of which keys are read and written");
  CLI::Option* data_dir =
      serve->add_option("--data-dir", flags->data_dir, "where the data is kept")->capture_default_str();
  CLI::Option* temporary =
      serve->add_flag("--temporary", flags->values.temporary,
                      "without --data-dir: keep the data in a temporary directory that goes at the end");
  CLI::Option* memory = serve->add_option("--memory", flags->memory,
                                          "what the process may take of the machine's memory, such as 4GiB "
                                          "[1GiB]: its peak stays within that and "
                                          "64 MiB more; a value may have a sixth of it");
  CLI::Option* reads_per_second =
      serve->add_option("--reads-per-second", flags->values.reads_per_second,
                        "a quota for requests of the Bigtable API that read: RESOURCE_EXHAUSTED beyond it");
  CLI::Option* writes_per_second = serve->add_option("--writes-per-second", flags->values.writes_per_second,
                                                     "the same for those that write");
  CLI::Option* durability = serve
                                ->add_option("--durability", flags->values.durability,
                                             "fsync: a write that was acknowledged survives the loss of "
                                             "power; os: only the end of the process")
                                ->capture_default_str();
  CLI::Option* log_level =
      serve->add_option("--log-level", flags->values.log_level, "trace, debug, info, warn, error or off")
          ->capture_default_str();
  CLI::Option* remote =
      serve->add_flag("--insecure-allow-remote", flags->values.insecure_allow_remote,
                      "listen on other than loopback addresses, though nothing is encrypted or checked");
  serve->add_option("--config", flags->config,
                    "a YAML file with these settings (data_dir, log_level, ...); flags go first");
  serve->callback([=] {
    ServeSettings settings;
    if (!flags->config.empty()) {
      if (absl::Status status = LoadServeSettings(flags->config, &settings); !status.ok()) {
        *exit_status = Fail(status);
        return;
      }
    }
    if (*host) settings.host = flags->values.host;
    if (*port) settings.port = flags->values.port;
    if (*http_port) settings.http_port = flags->http_port;
    if (*no_http) settings.no_http = flags->values.no_http;
    if (*declared_series_only) settings.declared_series_only = flags->values.declared_series_only;
    if (*reads_per_second) settings.reads_per_second = flags->values.reads_per_second;
    if (*writes_per_second) settings.writes_per_second = flags->values.writes_per_second;
    if (*no_keyviz) settings.no_keyviz = flags->values.no_keyviz;
    if (*data_dir) settings.data_dir = flags->data_dir;
    if (*temporary) settings.temporary = flags->values.temporary;
    if (*durability) settings.durability = flags->values.durability;
    if (*log_level) settings.log_level = flags->values.log_level;
    if (*remote) settings.insecure_allow_remote = flags->values.insecure_allow_remote;
    if (*memory) {
      if (absl::Status status = ParseBytes(flags->memory, &settings.memory_bytes); !status.ok()) {
        *exit_status = Fail(absl::InvalidArgumentError("--memory: " + std::string(status.message())));
        return;
      }
    }
    *exit_status = Serve(settings);
  });
}

}  // namespace sonde
