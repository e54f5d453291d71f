#include "backup/store/backup_record.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "catalog/record/table_record.h"

namespace sonde {
namespace {

using nlohmann::json;

constexpr int kBackupRecordVersion = 1;

json TimeToJson(const std::optional<absl::Time>& time) {
  return time.has_value() ? json(absl::ToUnixMicros(*time)) : json(nullptr);
}

std::optional<absl::Time> TimeFromJson(const json& micros) {
  if (micros.is_null()) return std::nullopt;
  return absl::FromUnixMicros(micros.get<int64_t>());
}

json KnownMembers(const BackupRecord& record) {
  const Backup& backup = record.backup;
  return {{"version", kBackupRecordVersion},
          {"name", backup.name},
          {"source_table", backup.source_table},
          {"source_backup", backup.source_backup},
          {"start_micros", absl::ToUnixMicros(backup.start)},
          {"end_micros", TimeToJson(backup.end)},
          {"expire_micros", absl::ToUnixMicros(backup.expire)},
          {"hot_to_standard_micros", TimeToJson(backup.hot_to_standard)},
          {"size_bytes", backup.size_bytes},
          {"is_ready", backup.state == BackupState::kReady},
          {"is_hot", backup.type == BackupType::kHot},
          {"snapshot", record.snapshot},
          {"table", json::parse(EncodeTableRecord({record.schema}))}};
}

}  // namespace

std::string EncodeBackupRecord(const BackupRecord& record) {
  json all = record.unknown_members.empty() ? json::object() : json::parse(record.unknown_members);
  all.update(KnownMembers(record));
  return all.dump();
}

absl::StatusOr<BackupRecord> DecodeBackupRecord(std::string_view bytes) {
  try {
    json all = json::parse(bytes);
    if (all.at("version").get<int>() != kBackupRecordVersion) throw std::invalid_argument("unknown version");
    BackupRecord record;
    Backup& backup = record.backup;
    backup.name = all.at("name").get<std::string>();
    backup.source_table = all.at("source_table").get<std::string>();
    backup.source_backup = all.at("source_backup").get<std::string>();
    backup.start = absl::FromUnixMicros(all.at("start_micros").get<int64_t>());
    backup.end = TimeFromJson(all.at("end_micros"));
    backup.expire = absl::FromUnixMicros(all.at("expire_micros").get<int64_t>());
    backup.hot_to_standard = TimeFromJson(all.at("hot_to_standard_micros"));
    backup.size_bytes = all.at("size_bytes").get<int64_t>();
    backup.state = all.at("is_ready").get<bool>() ? BackupState::kReady : BackupState::kCreating;
    backup.type = all.at("is_hot").get<bool>() ? BackupType::kHot : BackupType::kStandard;
    record.snapshot = all.at("snapshot").get<std::string>();
    absl::StatusOr<TableRecord> table = DecodeTableRecord(all.at("table").dump());
    if (!table.ok()) return table.status();
    record.schema = std::move(table->schema);
    const json known = KnownMembers(record);
    for (auto at = known.begin(); at != known.end(); ++at) all.erase(at.key());
    if (!all.empty()) record.unknown_members = all.dump();
    return record;
  } catch (const std::exception& error) {
    return absl::DataLossError(fmt::format("The record of a backup is damaged: {}", error.what()));
  }
}

}  // namespace sonde
