#include "server/serve_settings.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <string_view>
#include <tuple>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_replace.h"
#include "base/loopback.h"
#include "engine/hbase/store_layout.h"

namespace sonde {
namespace {

constexpr uint64_t kMemoryBytesMin = uint64_t{64} << 20;
constexpr int kPortMax = 65'535;
constexpr int kUndeleteDaysMax = 3'650;
constexpr absl::Duration kDrainDelayMax = absl::Minutes(10);
constexpr absl::Duration kGraceMax = absl::Hours(1);
constexpr absl::Duration kPitrKeepMin = absl::Hours(1), kPitrKeepMax = absl::Hours(24 * 30);
constexpr int64_t kSlowMsMax = 3'600'000;
constexpr int64_t kQuotaMax = 1'000'000'000;
// A setting that takes one of a few words.
struct WordSetting {
  std::string_view key;
  std::string ServeSettings::* value;
  std::array<std::string_view, 6> words;  // the empty ones at the end are none
};
constexpr std::array<WordSetting, 7> kWordSettings = {{
    {"durability", &ServeSettings::durability, {"fsync", "os"}},
    {"log_level", &ServeSettings::log_level, {"trace", "debug", "info", "warn", "error", "off"}},
    {"log_format", &ServeSettings::log_format, {"logfmt", "json"}},
    {"sql_dialect", &ServeSettings::sql_dialect, {"extended", "production"}},
    {"clusters", &ServeSettings::clusters, {"names", "refuse"}},
    {"audit", &ServeSettings::audit, {"usual", "required"}},
    {"audit_data", &ServeSettings::audit_data, {"none", "reads", "writes", "all"}},
}};

std::span<const std::string_view> WordsOfSetting(const WordSetting& setting) {
  const auto end = std::find(setting.words.begin(), setting.words.end(), "");
  return {setting.words.begin(), end};
}

absl::Status CheckWords(const ServeSettings& settings) {
  for (const WordSetting& setting : kWordSettings) {
    const std::span<const std::string_view> words = WordsOfSetting(setting);
    const std::string& value = settings.*setting.value;
    if (std::find(words.begin(), words.end(), value) != words.end()) continue;
    const std::string flag = absl::StrReplaceAll(std::string(setting.key), {{"_", "-"}});
    return absl::InvalidArgumentError(
        words.size() == 2
            ? fmt::format("--{} must be {} or {}, but is '{}'", flag, words[0], words[1], value)
            : fmt::format("--{} must be one of {}, but is '{}'", flag, fmt::join(words, ", "), value));
  }
  return absl::OkStatus();
}

absl::Status SetTls(const YAML::Node& section, ServeSettings* settings) {
  if (!section.IsMap()) return absl::InvalidArgumentError("'tls' must be a section of `key: value` lines");
  tls::Files& files = settings->tls.emplace();
  for (const auto& entry : section) {
    const std::string key = entry.first.as<std::string>();
    if (key == "certificate") {
      files.certificate = entry.second.as<std::string>();
    } else if (key == "key") {
      files.key = entry.second.as<std::string>();
    } else if (key == "client_ca") {
      files.client_ca = entry.second.as<std::string>();
    } else if (key == "require_client_certificate") {
      files.require_client_certificate = entry.second.as<bool>();
    } else {
      return absl::InvalidArgumentError(
          fmt::format("unknown key '{}' in 'tls'; known are certificate, key, client_ca, "
                      "require_client_certificate",
                      key));
    }
  }
  return absl::OkStatus();
}

absl::Status SetOne(const std::string& key, const YAML::Node& value, ServeSettings* settings) {
  if (key == "tls") return SetTls(value, settings);
  if (!value.IsScalar()) return absl::InvalidArgumentError(fmt::format("'{}' must be a single value", key));
  if (key == "auth") {
    settings->auth = value.as<std::string>();
  } else if (key == "audit_log") {
    settings->audit_log = value.as<std::string>();
  } else if (key == "audit") {
    settings->audit = value.as<std::string>();
  } else if (key == "audit_data") {
    settings->audit_data = value.as<std::string>();
  } else if (key == "allow_root") {
    settings->allow_root = value.as<bool>();
  } else if (key == "host") {
    settings->host = value.as<std::string>();
  } else if (key == "port") {
    settings->port = value.as<int>();
  } else if (key == "http_port") {
    settings->http_port = value.as<int>();
  } else if (key == "no_http") {
    settings->no_http = value.as<bool>();
  } else if (key == "no_keyviz") {
    settings->no_keyviz = value.as<bool>();
  } else if (key == "data_dir") {
    settings->data_dir = value.as<std::string>();
  } else if (key == "temporary") {
    settings->temporary = value.as<bool>();
  } else if (key == "store") {
    settings->store = value.as<std::string>();
  } else if (key == "store_tls_ca") {
    settings->store_tls.ca = value.as<std::string>();
  } else if (key == "store_tls_certificate") {
    settings->store_tls.certificate = value.as<std::string>();
  } else if (key == "store_tls_key") {
    settings->store_tls.key = value.as<std::string>();
  } else if (key == "store_tls_server_name") {
    settings->store_tls_server_name = value.as<std::string>();
  } else if (key == "memory") {
    return ParseBytes(value.as<std::string>(), &settings->memory_bytes);
  } else if (key == "durability") {
    settings->durability = value.as<std::string>();
  } else if (key == "log_level") {
    settings->log_level = value.as<std::string>();
  } else if (key == "log_format") {
    settings->log_format = value.as<std::string>();
  } else if (key == "log_file") {
    settings->log_file = value.as<std::string>();
  } else if (key == "slow_ms") {
    settings->slow_ms = value.as<int64_t>();
  } else if (key == "drain_delay") {
    return ParseTime(value.as<std::string>(), &settings->drain_delay);
  } else if (key == "grace") {
    return ParseTime(value.as<std::string>(), &settings->grace);
  } else if (key == "insecure_allow_remote") {
    settings->insecure_allow_remote = value.as<bool>();
  } else if (key == "declared_series_only") {
    settings->declared_series_only = value.as<bool>();
  } else if (key == "promql_experimental") {
    settings->promql_experimental = value.as<bool>();
  } else if (key == "reads_per_second") {
    settings->reads_per_second = value.as<int64_t>();
  } else if (key == "writes_per_second") {
    settings->writes_per_second = value.as<int64_t>();
  } else if (key == "sql_dialect") {
    settings->sql_dialect = value.as<std::string>();
  } else if (key == "clusters") {
    settings->clusters = value.as<std::string>();
  } else if (key == "strict_instances") {
    settings->strict_instances = value.as<bool>();
  } else if (key == "undelete_days") {
    settings->undelete_days = value.as<int>();
  } else if (key == "pitr_tables") {
    settings->pitr_tables = value.as<std::string>();
  } else if (key == "plain_tables") {
    settings->plain_tables = value.as<std::string>();
  } else if (key == "packed_tables") {
    settings->packed_tables = value.as<std::string>();
  } else if (key == "pitr_keep") {
    return ParseTime(value.as<std::string>(), &settings->pitr_keep);
  } else {
    return absl::InvalidArgumentError(
        fmt::format("unknown key '{}'; known are {}", key, fmt::join(kSettingKeys, ", ")));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status LoadServeSettings(const std::string& file, ServeSettings* settings, SettingOrigins* origins) {
  try {
    const YAML::Node root = YAML::LoadFile(file);
    if (!root.IsMap())
      return absl::InvalidArgumentError(fmt::format("{}:1: must be a list of `key: value` lines", file));
    for (const auto& entry : root) {
      const int line = entry.first.Mark().line + 1;
      absl::Status status;
      try {
        status = SetOne(entry.first.as<std::string>(), entry.second, settings);
        if (origins != nullptr) (*origins)[entry.first.as<std::string>()] = fmt::format("{}:{}", file, line);
      } catch (const YAML::Exception&) {
        status = absl::InvalidArgumentError(
            fmt::format("'{}' has a value of the wrong kind", entry.first.as<std::string>()));
      }
      if (!status.ok()) {
        return absl::InvalidArgumentError(
            fmt::format("{}:{}: {}", file, line, std::string(status.message())));
      }
    }
    return absl::OkStatus();
  } catch (const YAML::BadFile&) {
    return absl::InvalidArgumentError(fmt::format("{} cannot be read", file));
  } catch (const YAML::Exception& e) {
    return absl::InvalidArgumentError(fmt::format("{}:{}: {}", file, e.mark.line + 1, e.msg));
  }
}

absl::Status LoadEnvironment(const std::function<const char*(const char* name)>& read,
                             ServeSettings* settings, SettingOrigins* origins) {
  for (const std::string_view key : kSettingKeys) {
    if (key == "tls") continue;
    const std::string name = "SONDE_" + absl::AsciiStrToUpper(std::string(key));
    const char* const text = read(name.c_str());
    if (text == nullptr) continue;
    absl::Status status;
    try {
      status = SetOne(std::string(key), YAML::Node(std::string(text)), settings);
    } catch (const YAML::Exception&) {
      status = absl::InvalidArgumentError(fmt::format("'{}' is a value of the wrong kind", text));
    }
    if (!status.ok())
      return absl::InvalidArgumentError(fmt::format("{}: {}", name, std::string(status.message())));
    if (origins != nullptr) (*origins)[std::string(key)] = name;
  }
  return absl::OkStatus();
}

std::span<const std::string_view> WordsOf(std::string_view key) {
  for (const WordSetting& setting : kWordSettings) {
    if (setting.key == key) return WordsOfSetting(setting);
  }
  return {};
}

absl::Status CheckServeSettings(const ServeSettings& settings) {
  if (absl::Status status = CheckWords(settings); !status.ok()) return status;
  if (settings.port < 0 || settings.port > kPortMax) {
    return absl::InvalidArgumentError(
        fmt::format("--port must be from 0 to {}, but is {}", kPortMax, settings.port));
  }
  if (settings.http_port.has_value() && (*settings.http_port < 0 || *settings.http_port > kPortMax)) {
    return absl::InvalidArgumentError(
        fmt::format("--http-port must be from 0 to {}, but is {}", kPortMax, *settings.http_port));
  }
  if (settings.http_port.has_value() && settings.no_http) {
    return absl::InvalidArgumentError("--http-port and --no-http do not go together");
  }
  for (const auto& [flag, quota] : {std::pair{"--reads-per-second", settings.reads_per_second},
                                    std::pair{"--writes-per-second", settings.writes_per_second}}) {
    if (quota >= 0 && quota <= kQuotaMax) continue;
    return absl::InvalidArgumentError(
        fmt::format("{} must be from 0 (no quota) to {}, but is {}", flag, kQuotaMax, quota));
  }
  for (const auto& [flag, time, most] : {std::tuple{"--drain-delay", settings.drain_delay, kDrainDelayMax},
                                         std::tuple{"--grace", settings.grace, kGraceMax}}) {
    if (time >= absl::ZeroDuration() && time <= most) continue;
    return absl::InvalidArgumentError(fmt::format("{} must be from 0 to {}, but is {}", flag,
                                                  absl::FormatDuration(most), absl::FormatDuration(time)));
  }
  if (settings.data_dir == "") return absl::InvalidArgumentError("--data-dir must not be empty");
  const auto store_tls = StoreTlsOf("--store-tls", {settings.store_tls, settings.store_tls_server_name});
  if (!store_tls.ok()) return store_tls.status();
  if (store_tls->has_value() && !settings.store.has_value())
    return absl::InvalidArgumentError("--store-tls-ca needs --store: it is for the way to an HBase cluster");
  if (settings.store.has_value()) {
    const absl::Status address = ParseHBaseStore(*settings.store).status();
    if (!address.ok()) return absl::InvalidArgumentError("--store: " + std::string(address.message()));
    if (!settings.pitr_tables.empty()) {
      return absl::InvalidArgumentError(
          "--pitr-tables needs a store in the data directory: journals are not built for --store");
    }
  } else if (!settings.plain_tables.empty() || !settings.packed_tables.empty()) {
    return absl::InvalidArgumentError(
        "--plain-tables and --packed-tables need --store: a data directory has one way to keep cells");
  }
  if (settings.memory_bytes < kMemoryBytesMin) {
    return absl::InvalidArgumentError(
        fmt::format("--memory must be at least {} bytes, but is {}", kMemoryBytesMin, settings.memory_bytes));
  }
  if (settings.slow_ms < 0 || settings.slow_ms > kSlowMsMax) {
    return absl::InvalidArgumentError(
        fmt::format("--slow-ms must be from 0 to {}, but is {}", kSlowMsMax, settings.slow_ms));
  }
  if (settings.log_file == "") return absl::InvalidArgumentError("--log-file must not be empty");
  if (settings.undelete_days < 0 || settings.undelete_days > kUndeleteDaysMax) {
    return absl::InvalidArgumentError(fmt::format("--undelete-days must be from 0 (off) to {}, but is {}",
                                                  kUndeleteDaysMax, settings.undelete_days));
  }
  if (settings.pitr_keep < kPitrKeepMin || settings.pitr_keep > kPitrKeepMax) {
    return absl::InvalidArgumentError(
        fmt::format("--pitr-keep must be from {} to {}, but is {}", absl::FormatDuration(kPitrKeepMin),
                    absl::FormatDuration(kPitrKeepMax), absl::FormatDuration(settings.pitr_keep)));
  }
  if (!settings.auth.has_value() && (settings.audit == "required" || settings.audit_data != "none")) {
    return absl::InvalidArgumentError(
        "--audit and --audit-data need an authentication file (--auth): without one nobody is known, and "
        "there "
        "is no audit log");
  }
  const bool has_both = settings.tls.has_value() && settings.auth.has_value();
  if (!IsLoopback(settings.host) && !settings.insecure_allow_remote && !has_both) {
    const std::string_view lacks = settings.tls.has_value() ? "without authentication"
                                   : settings.auth.has_value()
                                       ? "with proofs that anybody can read on the way"
                                       : "with neither encryption nor passwords";
    return absl::InvalidArgumentError(fmt::format(
        "--host {} would let other machines in, {}: `sonde init` makes certificates (--tls-certificate, "
        "--tls-key) and an authentication file (--auth); if it is meant, add --insecure-allow-remote",
        settings.host, lacks));
  }
  if (settings.tls.has_value() && (settings.tls->certificate.empty() || settings.tls->key.empty())) {
    return absl::InvalidArgumentError(
        "TLS needs both a certificate and its key: --tls-certificate and --tls-key, or `certificate` and "
        "`key` in "
        "the section `tls` of the settings");
  }
  return absl::OkStatus();
}

absl::Status ParseBytes(const std::string& text, uint64_t* bytes) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *bytes);
  std::string unit(end, text.data() + text.size());
  std::transform(unit.begin(), unit.end(), unit.begin(), [](unsigned char c) { return std::tolower(c); });
  unit.erase(0, unit.find_first_not_of(' ') == std::string::npos ? unit.size() : unit.find_first_not_of(' '));
  static constexpr std::string_view kLetters = "kmgt";
  int shift = 0;
  bool known = unit.empty() || unit == "b";
  if (!known) {
    const size_t letter = kLetters.find(unit[0]);
    known = letter != std::string_view::npos &&
            (unit.size() == 1 || unit.substr(1) == "b" || unit.substr(1) == "ib");
    shift = static_cast<int>(letter + 1) * 10;
  }
  if (error != std::errc() || !known || *bytes > (UINT64_MAX >> shift)) {
    return absl::InvalidArgumentError(
        fmt::format("'{}' is no number of bytes: write for example 1073741824, 512MiB or 4GiB", text));
  }
  *bytes <<= shift;
  return absl::OkStatus();
}

absl::Status ParseTime(const std::string& text, absl::Duration* time) {
  if (absl::ParseDuration(text, time)) return absl::OkStatus();
  return absl::InvalidArgumentError(fmt::format("'{}' is no time: write for example 30s, 500ms or 2m", text));
}

std::vector<std::string> AcceptEmulatorForm(std::vector<std::string> arguments) {
  for (std::string& argument : arguments) {
    for (const std::string_view flag : {"-host", "-port"}) {
      if (argument == flag || argument.starts_with(std::string(flag) + "=")) argument.insert(0, "-");
    }
  }
  // Without a command it is the emulator's whole command line.
  if (!arguments.empty() && (arguments[0].starts_with("--host") || arguments[0].starts_with("--port"))) {
    arguments.insert(arguments.begin(), {std::string("serve"), std::string("--temporary")});
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    std::string* host = nullptr;
    size_t start = 0;
    if (arguments[i] == "--host" && i + 1 < arguments.size()) {
      host = &arguments[i + 1];
    } else if (arguments[i].starts_with("--host=")) {
      host = &arguments[i];
      start = std::string_view("--host=").size();
    }
    // [127.0.0.1] is 127.0.0.1; an IPv6 address keeps its brackets.
    if (host != nullptr && host->size() > start + 2 && (*host)[start] == '[' && host->back() == ']' &&
        std::count(host->begin(), host->end(), ':') < 2) {
      host->pop_back();
      host->erase(start, 1);
    }
  }
  return arguments;
}

}  // namespace sonde
