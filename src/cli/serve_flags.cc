#include "cli/serve_flags.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/check.h"

namespace sonde {

void ServeFlags::Take(CLI::Option* flag, std::string key, SettingKind kind,
                      std::function<absl::Status(ServeSettings* settings)> take) {
  taken_.push_back({flag, std::move(key), kind, std::move(take)});
}

template <typename Value, typename Member>
void ServeFlags::TakeValue(CLI::Option* flag, std::string key, const Value* value,
                           Member ServeSettings::* member) {
  constexpr SettingKind kKind = std::is_same_v<Value, bool> ? SettingKind::kBoolean
                                : std::is_integral_v<Value> ? SettingKind::kInteger
                                                            : SettingKind::kText;
  Take(flag, std::move(key), kKind, [value, member](ServeSettings* settings) {
    settings->*member = *value;
    return absl::OkStatus();
  });
}

void ServeFlags::AddPlaces(CLI::App* command) {
  TakeValue(command->add_option("--host", values_.host, "the address to listen on")->capture_default_str(),
            "host", &values_.host, &ServeSettings::host);
  TakeValue(command->add_option("--port", values_.port, "the port; 0 takes any that is free")
                ->capture_default_str(),
            "port", &values_.port, &ServeSettings::port);
  TakeValue(command->add_option(
                "--http-port", http_port_,
                fmt::format("the port of web page, metrics and JSON; 0 takes any that is free [{}, or "
                            "any when that is taken]",
                            kHttpPortUsual)),
            "http_port", &http_port_, &ServeSettings::http_port);
  TakeValue(command->add_flag("--no-http", values_.no_http, "do without it"), "no_http", &values_.no_http,
            &ServeSettings::no_http);
  TakeValue(command->add_flag("--declared-series-only", values_.declared_series_only,
                              "refuse line protocol and Prometheus samples of series that nobody declared"),
            "declared_series_only", &values_.declared_series_only, &ServeSettings::declared_series_only);
  TakeValue(command->add_flag(
                "--promql-experimental", values_.promql_experimental,
                "allow functions, aggregations and modifiers of PromQL that Prometheus has as experimental"),
            "promql_experimental", &values_.promql_experimental, &ServeSettings::promql_experimental);
  TakeValue(command->add_flag("--no-keyviz", values_.no_keyviz,
                              "keep no account of which keys are read and written"),
            "no_keyviz", &values_.no_keyviz, &ServeSettings::no_keyviz);
  TakeValue(command->add_option("--data-dir", data_dir_, "where the data is kept")->capture_default_str(),
            "data_dir", &data_dir_, &ServeSettings::data_dir);
  TakeValue(
      command->add_flag("--temporary", values_.temporary,
                        "without --data-dir: keep the data in a temporary directory that goes at the end"),
      "temporary", &values_.temporary, &ServeSettings::temporary);
  TakeValue(command->add_option("--store", store_,
                                "hbase://HOST[:PORT]/NAMESPACE: an HBase cluster, by the address of its "
                                "master, that keeps the rows; "
                                "several servers may use it, each with a data directory for its own files "
                                "[the data directory keeps them]"),
            "store", &store_, &ServeSettings::store);
}

void ServeFlags::AddStoreTls(CLI::App* command) {
  const auto take = [this](CLI::Option* flag, std::string key, std::string tls::ClientFiles::* member) {
    Take(flag, std::move(key), SettingKind::kText, [this, member](ServeSettings* settings) {
      settings->store_tls.*member = values_.store_tls.*member;
      return absl::OkStatus();
    });
  };
  take(command->add_option("--store-tls-ca", values_.store_tls.ca,
                           "with --store: PEM file of the CA of the certificates that HBase's servers show, "
                           "which are reached by TLS [plain text]"),
       "store_tls_ca", &tls::ClientFiles::ca);
  take(command->add_option("--store-tls-certificate", values_.store_tls.certificate,
                           "with --store-tls-ca: PEM file of the certificate that is shown to HBase, which "
                           "wants one unless it was told otherwise [none]"),
       "store_tls_certificate", &tls::ClientFiles::certificate);
  take(command->add_option("--store-tls-key", values_.store_tls.key,
                           "PEM file of its key, for nobody but its owner (mode 0600)"),
       "store_tls_key", &tls::ClientFiles::key);
  TakeValue(command->add_option("--store-tls-server-name", values_.store_tls_server_name,
                                "with --store-tls-ca: the name for which the certificates of all of HBase's "
                                "servers are [each for its host]"),
            "store_tls_server_name", &values_.store_tls_server_name, &ServeSettings::store_tls_server_name);
}

void ServeFlags::AddLimits(CLI::App* command) {
  Take(command->add_option("--memory", memory_,
                           "Memory that the process may take, such as 4GiB "
                           "[1GiB]: its peak stays within that and "
                           "64 MiB more; a value may have a sixth of it"),
       "memory", SettingKind::kBytes,
       [this](ServeSettings* settings) { return ParseBytes(memory_, &settings->memory_bytes); });
  TakeValue(
      command->add_option("--reads-per-second", values_.reads_per_second,
                          "a quota for requests of the Bigtable API that read: RESOURCE_EXHAUSTED beyond it"),
      "reads_per_second", &values_.reads_per_second, &ServeSettings::reads_per_second);
  TakeValue(command->add_option(
                "--writes-per-second", values_.writes_per_second,
                "a quota for requests of the Bigtable API that write: RESOURCE_EXHAUSTED beyond it"),
            "writes_per_second", &values_.writes_per_second, &ServeSettings::writes_per_second);
  TakeValue(
      command
          ->add_option("--sql-dialect", values_.sql_dialect,
                       "extended: queries are in production's GoogleSQL with Sonde's extensions (subqueries, "
                       "WITH, joins, set operations, ...); production: such extensions are refused by name")
          ->capture_default_str(),
      "sql_dialect", &values_.sql_dialect, &ServeSettings::sql_dialect);
  TakeValue(command
                ->add_option("--clusters", values_.clusters,
                             "names: an instance may have several clusters, all of which are names for the "
                             "one copy of "
                             "the data; refuse: a second cluster is refused")
                ->capture_default_str(),
            "clusters", &values_.clusters, &ServeSettings::clusters);
  TakeValue(command->add_flag("--strict-instances", values_.strict_instances,
                              "tables need an instance that was created, and calls of the data API an app "
                              "profile that exists; otherwise the first table of an instance makes it"),
            "strict_instances", &values_.strict_instances, &ServeSettings::strict_instances);
  TakeValue(command
                ->add_option("--undelete-days", values_.undelete_days,
                             "how long UndeleteTable brings a deleted table back, which takes room until "
                             "then; 0: its rows are dropped at once")
                ->capture_default_str(),
            "undelete_days", &values_.undelete_days, &ServeSettings::undelete_days);
  TakeValue(
      command->add_option("--pitr-tables", values_.pitr_tables,
                          "tables whose changes are journaled, so that they can be restored to any moment: "
                          "names or ids, with * for any letters, separated by commas [none]"),
      "pitr_tables", &values_.pitr_tables, &ServeSettings::pitr_tables);
  Take(command->add_option("--pitr-keep", pitr_keep_,
                           "how long the journal keeps changes for `sonde backup create --follow` [24h]"),
       "pitr_keep", SettingKind::kTime,
       [this](ServeSettings* settings) { return ParseTime(pitr_keep_, &settings->pitr_keep); });
  TakeValue(
      command->add_option(
          "--plain-tables", values_.plain_tables,
          "with --store: new tables whose cells stay cells of HBase's, for other programs to read, and are "
          "not packed: patterns as of --pitr-tables [none]"),
      "plain_tables", &values_.plain_tables, &ServeSettings::plain_tables);
  TakeValue(command->add_option("--packed-tables", values_.packed_tables,
                                "with --store: new tables whose cells are packed when they are written, and "
                                "in which no cell may be "
                                "written twice: patterns as of --pitr-tables [none]"),
            "packed_tables", &values_.packed_tables, &ServeSettings::packed_tables);
  TakeValue(command
                ->add_option("--durability", values_.durability,
                             "fsync: a write that was acknowledged survives the loss of "
                             "power; os: only the end of the process")
                ->capture_default_str(),
            "durability", &values_.durability, &ServeSettings::durability);
  Take(
      command
          ->add_option("--drain-delay", drain_delay_,
                       "at the end, how long the server says that it is not ready, but still takes calls, so "
                       "that balancers can leave it")
          ->capture_default_str(),
      "drain_delay", SettingKind::kTime,
      [this](ServeSettings* settings) { return ParseTime(drain_delay_, &settings->drain_delay); });
  Take(command->add_option("--grace", grace_, "at the end, how long calls under way may go on")
           ->capture_default_str(),
       "grace", SettingKind::kTime,
       [this](ServeSettings* settings) { return ParseTime(grace_, &settings->grace); });
}

void ServeFlags::AddLogs(CLI::App* command) {
  TakeValue(command->add_option("--log-level", values_.log_level, "trace, debug, info, warn, error or off")
                ->capture_default_str(),
            "log_level", &values_.log_level, &ServeSettings::log_level);
  TakeValue(command->add_option("--log-format", values_.log_format, "logfmt or json: what a line looks like")
                ->capture_default_str(),
            "log_format", &values_.log_format, &ServeSettings::log_format);
  TakeValue(command->add_option("--log-file", log_file_,
                                "where the log goes [stderr]; SIGHUP opens the file again"),
            "log_file", &log_file_, &ServeSettings::log_file);
  TakeValue(command
                ->add_option("--slow-ms", values_.slow_ms,
                             "calls that take so many milliseconds are listed by GET /api/v1/slow")
                ->capture_default_str(),
            "slow_ms", &values_.slow_ms, &ServeSettings::slow_ms);
  TakeValue(command->add_option("--audit-log", audit_log_,
                                "where refusals and changes are written [audit.log in the data directory]"),
            "audit_log", &audit_log_, &ServeSettings::audit_log);
  TakeValue(command
                ->add_option("--audit", values_.audit,
                             "required: a call that the audit log covers is refused while its line cannot be "
                             "written; usual: the call goes on, and the lost line is counted")
                ->capture_default_str(),
            "audit", &values_.audit, &ServeSettings::audit);
  TakeValue(
      command
          ->add_option("--audit-data", values_.audit_data,
                       "none, reads, writes or all: the accesses to rows that the audit log covers beside "
                       "changes of the administration")
          ->capture_default_str(),
      "audit_data", &values_.audit_data, &ServeSettings::audit_data);
}

void ServeFlags::AddSecurity(CLI::App* command) {
  TakeValue(command->add_flag("--insecure-allow-remote", values_.insecure_allow_remote,
                              "Accept connections from other machines, though there is no encryption and no "
                              "login: use it only on a network "
                              "that you trust"),
            "insecure_allow_remote", &values_.insecure_allow_remote, &ServeSettings::insecure_allow_remote);
  TakeValue(
      command->add_flag("--allow-root", values_.allow_root,
                        "Run as root also outside of a container, where the server otherwise refuses to"),
      "allow_root", &values_.allow_root, &ServeSettings::allow_root);
  const auto take_tls = [this](CLI::Option* flag, std::string key, auto member) {
    using Value = std::remove_cvref_t<decltype(tls_.*member)>;
    const SettingKind kind = std::is_same_v<Value, bool> ? SettingKind::kBoolean : SettingKind::kText;
    Take(flag, std::move(key), kind, [this, member](ServeSettings* settings) {
      if (!settings->tls.has_value()) settings->tls.emplace();
      (*settings->tls).*member = tls_.*member;
      return absl::OkStatus();
    });
  };
  take_tls(command->add_option("--tls-certificate", tls_.certificate,
                               "PEM file of the certificate that both ports show, and of those "
                               "that lead to its root: they speak TLS alone"),
           "tls.certificate", &tls::Files::certificate);
  take_tls(
      command->add_option("--tls-key", tls_.key, "PEM file of its key, for nobody but its owner (mode 0600)"),
      "tls.key", &tls::Files::key);
  take_tls(command->add_option("--tls-client-ca", tls_.client_ca,
                               "PEM file of the CAs by which clients may show certificates"),
           "tls.client_ca", &tls::Files::client_ca);
  take_tls(command->add_flag("--tls-require-client-certificate", tls_.require_client_certificate,
                             "refuse clients that show none"),
           "tls.require_client_certificate", &tls::Files::require_client_certificate);
  TakeValue(command->add_option(
                "--auth", auth_,
                "the authentication file: whoever calls must prove who he is, and may do what his roles "
                "allow (`sonde auth` writes it)"),
            "auth", &auth_, &ServeSettings::auth);
}

std::shared_ptr<ServeFlags> ServeFlags::Add(CLI::App* command) {
  std::shared_ptr<ServeFlags> flags(new ServeFlags());
  flags->AddPlaces(command);
  flags->AddStoreTls(command);
  flags->AddLimits(command);
  flags->AddLogs(command);
  flags->AddSecurity(command);
  command->add_option("--config", flags->config_,
                      "a YAML file with these settings (data_dir, log_level, ...); flags go first, then the "
                      "environment (SONDE_PORT, ...), then the file");
  return flags;
}

absl::StatusOr<ServeSettings> ServeFlags::Settings(SettingOrigins* origins) const {
  ServeSettings settings;
  if (!config_.empty()) {
    if (absl::Status status = LoadServeSettings(config_, &settings, origins); !status.ok()) return status;
  }
  if (absl::Status status =
          LoadEnvironment([](const char* name) { return std::getenv(name); }, &settings, origins);
      !status.ok())
    return status;
  for (const Taken& flag : taken_) {
    if (flag.option->count() == 0) continue;
    if (absl::Status status = flag.take(&settings); !status.ok()) {
      return absl::InvalidArgumentError(
          fmt::format("{}: {}", flag.option->get_name(), std::string(status.message())));
    }
    if (origins != nullptr) (*origins)[flag.key] = flag.option->get_name();
  }
  return settings;
}

std::vector<SettingEntry> ServeFlags::Entries() const {
  std::vector<SettingEntry> entries;
  for (const SettingLine& line : ListSettings({})) {
    const auto taken =
        std::find_if(taken_.begin(), taken_.end(), [&](const Taken& flag) { return flag.key == line.key; });
    CHECK(taken != taken_.end());  // each setting has a flag
    const std::span<const std::string_view> words = WordsOf(line.key);
    entries.push_back({.key = line.key,
                       .flag = taken->option->get_name(),
                       .kind = taken->kind,
                       .words = {words.begin(), words.end()},
                       .fallback = line.value,
                       .description = taken->option->get_description()});
  }
  return entries;
}

}  // namespace sonde
