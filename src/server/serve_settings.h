// The settings of `sonde serve`, by flags or by a file.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "tls/client_context.h"
#include "tls/context.h"

namespace sonde {

constexpr int kHttpPortUsual = 8087;
constexpr char kDataDirUsual[] = "sonde-data";
// The default project and instance of series over HTTP, and of `sonde series`.
constexpr char kProjectUsual[] = "sonde";
constexpr char kInstanceUsual[] = "sonde";

struct ServeSettings {
  std::string host = "127.0.0.1";
  int port = 8086;  // 0: any that is free
  // The port of the web page, metrics and JSON.  0: any free port.  Unset: kHttpPortUsual, or any free port
  // if that is taken.
  std::optional<int> http_port;
  bool no_http = false;
  bool no_keyviz = false;
  std::optional<std::string> data_dir;  // unset: kDataDirUsual, or as `temporary` says
  // Where no data_dir is set: a temporary directory that goes at the end.
  bool temporary = false;
  // Where rows and records are, if not in data_dir: an HBase cluster, "hbase://HOST[:PORT]/NAMESPACE".
  std::optional<std::string> store;
  // How the cluster is reached by TLS; without a CA: it is not.
  tls::ClientFiles store_tls;
  std::string store_tls_server_name;  // for which all its servers' certificates are; empty: each for its host
  uint64_t memory_bytes = uint64_t{1} << 30;
  std::string durability = "fsync";  // or "os"
  std::string log_level = "info";
  std::string log_format = "logfmt";    // or "json"
  std::optional<std::string> log_file;  // unset: stderr
  // How the server ends (docs/operations.md, "Start and stop"): for `drain_delay` it is not ready but still takes calls; then calls
  // under way have `grace`.
  absl::Duration drain_delay = absl::ZeroDuration();
  absl::Duration grace = absl::Seconds(30);
  bool insecure_allow_remote = false;
  // Both ports speak TLS, and nothing else.  Unset: neither does.
  std::optional<tls::Files> tls;
  // The authentication file: who may do what.  Unset: nobody is asked, and everybody may do everything.
  std::optional<std::string> auth;
  // Where refusals and changes are written, if there is an authentication file.  Unset: audit.log in data_dir.
  std::optional<std::string> audit_log;
  // "usual"; or "required": a call that the audit log covers is refused while its line cannot be written.
  std::string audit = "usual";
  // The accesses to rows that the audit log covers beside changes: "none", "reads", "writes", "all".
  std::string audit_data = "none";
  // The server may run as root also outside of a container.
  bool allow_root = false;
  // Points that come over HTTP for series that nobody declared are refused; otherwise they open one.
  bool declared_series_only = false;
  bool promql_experimental = false;
  // Calls that take so long are listed by GET /api/v1/slow.
  int64_t slow_ms = 500;
  // Quotas for requests of the Bigtable API; 0: none.
  int64_t reads_per_second = 0;
  int64_t writes_per_second = 0;
  // The language of queries: "extended", production's GoogleSQL with Sonde's extensions; or "production", which refuses these
  // by name.
  std::string sql_dialect = "extended";
  // An instance may have several clusters, which are "names" for the one copy of the data; or CreateInstance and CreateCluster
  // "refuse" a second one.
  std::string clusters = "names";

  // Tables need an instance that was created, and data calls an app profile that exists; otherwise the first table of an instance
  // makes it.
  bool strict_instances = false;
  // How long UndeleteTable may bring a deleted table back; 0: its rows are dropped at once.
  int undelete_days = 7;
  // Patterns of tables, separated by commas, whose changes are journaled, so that the store can be restored to any moment
  // (journal/journal.h); empty: none.
  std::string pitr_tables;
  // Patterns of tables; of new ones in a cluster.  plain_tables: each cell stays a cell of HBase's, for other programs to read.
  // packed_tables: cells are packed when they are written, which is for tables where no cell is written twice.
  std::string plain_tables;
  std::string packed_tables;
  // How long the data directory keeps the changes for `sonde backup create --follow`.
  absl::Duration pitr_keep = absl::Hours(24);

  bool operator==(const ServeSettings&) const = default;
};

// The names of all settings, as the file has them; `tls` is a section of certificate, key, client_ca, require_client_certificate.
inline constexpr std::array<std::string_view, 39> kSettingKeys = {"host",
                                                                  "port",
                                                                  "http_port",
                                                                  "no_http",
                                                                  "no_keyviz",
                                                                  "data_dir",
                                                                  "temporary",
                                                                  "store",
                                                                  "store_tls_ca",
                                                                  "store_tls_certificate",
                                                                  "store_tls_key",
                                                                  "store_tls_server_name",
                                                                  "memory",
                                                                  "durability",
                                                                  "log_level",
                                                                  "log_format",
                                                                  "log_file",
                                                                  "slow_ms",
                                                                  "drain_delay",
                                                                  "grace",
                                                                  "insecure_allow_remote",
                                                                  "declared_series_only",
                                                                  "promql_experimental",
                                                                  "reads_per_second",
                                                                  "writes_per_second",
                                                                  "sql_dialect",
                                                                  "clusters",
                                                                  "strict_instances",
                                                                  "undelete_days",
                                                                  "pitr_tables",
                                                                  "pitr_keep",
                                                                  "plain_tables",
                                                                  "packed_tables",
                                                                  "auth",
                                                                  "audit_log",
                                                                  "audit",
                                                                  "audit_data",
                                                                  "allow_root",
                                                                  "tls"};

// The words of which the setting of this name takes one.  Empty: it takes something else.
std::span<const std::string_view> WordsOf(std::string_view key);

// Where a setting's value is from, by key: "FILE:LINE", "SONDE_PORT", "--port".  A key that is not there has its default.
using SettingOrigins = std::map<std::string, std::string, std::less<>>;

// Takes over what the YAML file sets.  `origins` may be null.
// INVALID_ARGUMENT, with file and line: an unknown key, a value of the wrong kind.
absl::Status LoadServeSettings(const std::string& file, ServeSettings* settings,
                               SettingOrigins* origins = nullptr);

// Takes over what the environment sets: SONDE_PORT sets port, and so on for all but the section tls.  `read` is std::getenv.
// INVALID_ARGUMENT, with the variable: a value of the wrong kind.
absl::Status LoadEnvironment(const std::function<const char*(const char* name)>& read,
                             ServeSettings* settings, SettingOrigins* origins = nullptr);

// A setting as `sonde config show` has it.  `key` is a name of kSettingKeys, or tls.certificate and so on.
struct SettingLine {
  std::string key;
  std::string value;  // as the file would have it; empty: there is none
};
// All settings, in the order of kSettingKeys.  None is a secret: keys and tokens are in the files that settings name.
std::vector<SettingLine> ListSettings(const ServeSettings& settings);

// INVALID_ARGUMENT, naming the flag, what is allowed and the value.
absl::Status CheckServeSettings(const ServeSettings& settings);

// "512MiB", "1gb" (of 1024 each), "1073741824".  INVALID_ARGUMENT.
absl::Status ParseBytes(const std::string& text, uint64_t* bytes);

// "30s", "500ms", "2m", "0".  INVALID_ARGUMENT.
absl::Status ParseTime(const std::string& text, absl::Duration* time);

// Google's emulator is called with -host and -port: one dash becomes two, and without a command, as its whole
// command line, it serves from a temporary directory: the emulator forgets all, and is expected to.
std::vector<std::string> AcceptEmulatorForm(std::vector<std::string> arguments);

}  // namespace sonde
