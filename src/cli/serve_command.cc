#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "cli/commands.h"
#include "server/serve.h"
#include "server/serve_settings.h"

namespace sonde {
namespace {

int Fail(const absl::Status& status) {
  fmt::print(stderr, "sonde serve: {}\n", std::string(status.message()));
  return absl::IsInvalidArgument(status) ? 2 : 1;
}

}  // namespace

void AddServeCommand(CLI::App& app, int* exit_status) {
  CLI::App* serve = app.add_subcommand("serve", "Serve the Bigtable API from a data directory");
  serve->footer(
      "Examples:\n"
      "  sonde serve --data-dir /var/lib/sonde\n"
      "  sonde serve --tls-certificate server.pem --tls-key server.key\n"
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
    tls::Files tls;
    std::string auth;
    std::string audit_log;
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
  CLI::Option* sql_dialect =
      serve
          ->add_option("--sql-dialect", flags->values.sql_dialect,
                       "extended: queries are in production's GoogleSQL with Sonde's extensions (subqueries, "
                       "WITH, joins, set operations, ...); production: such extensions are refused by name")
          ->capture_default_str();
  CLI::Option* clusters =
      serve
          ->add_option(
              "--clusters", flags->values.clusters,
              "names: an instance may have several clusters, all of which are names for the one copy of "
              "the data; refuse: a second cluster is refused")
          ->capture_default_str();
  CLI::Option* strict_instances = serve->add_flag(
      "--strict-instances", flags->values.strict_instances,
      "tables need an instance that was created, and calls of the data API an app profile that "
      "exists; otherwise the first table of an instance makes it");
  CLI::Option* undelete_days =
      serve
          ->add_option(
              "--undelete-days", flags->values.undelete_days,
              "how long UndeleteTable brings a deleted table back, which takes room until then; 0: its "
              "rows are dropped at once")
          ->capture_default_str();
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
  CLI::Option* certificate =
      serve->add_option("--tls-certificate", flags->tls.certificate,
                        "PEM file of the certificate that both ports show, and of those "
                        "that lead to its root: they speak TLS alone");
  CLI::Option* key = serve->add_option("--tls-key", flags->tls.key,
                                       "PEM file of its key, for nobody but its owner (mode 0600)");
  CLI::Option* client_ca = serve->add_option("--tls-client-ca", flags->tls.client_ca,
                                             "PEM file of the CAs by which clients may show certificates");
  CLI::Option* require_client =
      serve->add_flag("--tls-require-client-certificate", flags->tls.require_client_certificate,
                      "refuse clients that show none");
  CLI::Option* auth = serve->add_option(
      "--auth", flags->auth,
      "the authentication file: whoever calls must prove who he is, and may do what his roles "
      "allow (`sonde auth` writes it)");
  CLI::Option* audit_log =
      serve->add_option("--audit-log", flags->audit_log,
                        "where refusals and changes are written [audit.log in the data directory]");
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
    if (*sql_dialect) settings.sql_dialect = flags->values.sql_dialect;
    if (*clusters) settings.clusters = flags->values.clusters;
    if (*strict_instances) settings.strict_instances = flags->values.strict_instances;
    if (*undelete_days) settings.undelete_days = flags->values.undelete_days;
    if (*no_keyviz) settings.no_keyviz = flags->values.no_keyviz;
    if (*data_dir) settings.data_dir = flags->data_dir;
    if (*temporary) settings.temporary = flags->values.temporary;
    if (*durability) settings.durability = flags->values.durability;
    if (*log_level) settings.log_level = flags->values.log_level;
    if (*remote) settings.insecure_allow_remote = flags->values.insecure_allow_remote;
    if ((*certificate || *key || *client_ca || *require_client) && !settings.tls) settings.tls.emplace();
    if (*certificate) settings.tls->certificate = flags->tls.certificate;
    if (*key) settings.tls->key = flags->tls.key;
    if (*client_ca) settings.tls->client_ca = flags->tls.client_ca;
    if (*require_client) settings.tls->require_client_certificate = flags->tls.require_client_certificate;
    if (*auth) settings.auth = flags->auth;
    if (*audit_log) settings.audit_log = flags->audit_log;
    if (*memory) {
      if (absl::Status status = ParseBytes(flags->memory, &settings.memory_bytes); !status.ok()) {
        *exit_status = Fail(absl::InvalidArgumentError("--memory: " + std::string(status.message())));
        return;
      }
    }
    const absl::Status served = Serve(settings);
    *exit_status = served.ok() ? 0 : Fail(served);
  });
}

}  // namespace sonde
