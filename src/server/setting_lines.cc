// ListSettings: the settings as text.
#include <fmt/format.h>

#include "server/serve_settings.h"

namespace sonde {
namespace {

std::string TextOf(bool value) { return value ? "true" : "false"; }
std::string TextOf(int64_t value) { return fmt::format("{}", value); }
std::string TextOf(const std::string& value) { return value; }
std::string TextOf(absl::Duration value) { return absl::FormatDuration(value); }
template <typename Value>
std::string TextOf(const std::optional<Value>& value) {
  return value.has_value() ? TextOf(*value) : "";
}
std::string TextOf(const std::optional<int>& value) {
  return value.has_value() ? TextOf(static_cast<int64_t>(*value)) : "";
}

std::string ValueOf(std::string_view key, const ServeSettings& settings) {
  if (key == "host") return settings.host;
  if (key == "port") return TextOf(static_cast<int64_t>(settings.port));
  if (key == "http_port") return TextOf(settings.http_port);
  if (key == "no_http") return TextOf(settings.no_http);
  if (key == "no_keyviz") return TextOf(settings.no_keyviz);
  if (key == "data_dir") return TextOf(settings.data_dir);
  if (key == "temporary") return TextOf(settings.temporary);
  if (key == "store") return TextOf(settings.store);
  if (key == "store_tls_ca") return settings.store_tls.ca;
  if (key == "store_tls_certificate") return settings.store_tls.certificate;
  if (key == "store_tls_key") return settings.store_tls.key;
  if (key == "store_tls_server_name") return settings.store_tls_server_name;
  if (key == "memory") return TextOf(static_cast<int64_t>(settings.memory_bytes));
  if (key == "durability") return settings.durability;
  if (key == "log_level") return settings.log_level;
  if (key == "log_format") return settings.log_format;
  if (key == "log_file") return TextOf(settings.log_file);
  if (key == "slow_ms") return TextOf(settings.slow_ms);
  if (key == "drain_delay") return TextOf(settings.drain_delay);
  if (key == "grace") return TextOf(settings.grace);
  if (key == "insecure_allow_remote") return TextOf(settings.insecure_allow_remote);
  if (key == "declared_series_only") return TextOf(settings.declared_series_only);
  if (key == "promql_experimental") return TextOf(settings.promql_experimental);
  if (key == "reads_per_second") return TextOf(settings.reads_per_second);
  if (key == "writes_per_second") return TextOf(settings.writes_per_second);
  if (key == "sql_dialect") return settings.sql_dialect;
  if (key == "clusters") return settings.clusters;
  if (key == "strict_instances") return TextOf(settings.strict_instances);
  if (key == "undelete_days") return TextOf(static_cast<int64_t>(settings.undelete_days));
  if (key == "pitr_tables") return settings.pitr_tables;
  if (key == "pitr_keep") return TextOf(settings.pitr_keep);
  if (key == "plain_tables") return settings.plain_tables;
  if (key == "packed_tables") return settings.packed_tables;
  if (key == "auth") return TextOf(settings.auth);
  if (key == "audit_log") return TextOf(settings.audit_log);
  if (key == "audit") return settings.audit;
  if (key == "audit_data") return settings.audit_data;
  return TextOf(settings.allow_root);
}

}  // namespace

std::vector<SettingLine> ListSettings(const ServeSettings& settings) {
  std::vector<SettingLine> lines;
  for (const std::string_view key : kSettingKeys) {
    if (key != "tls") {
      lines.push_back({std::string(key), ValueOf(key, settings)});
      continue;
    }
    const tls::Files files = settings.tls.value_or(tls::Files{});
    lines.push_back({"tls.certificate", files.certificate});
    lines.push_back({"tls.key", files.key});
    lines.push_back({"tls.client_ca", files.client_ca});
    lines.push_back({"tls.require_client_certificate", TextOf(files.require_client_certificate)});
  }
  return lines;
}

}  // namespace sonde
