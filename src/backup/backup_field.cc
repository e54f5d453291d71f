#include "backup/backup_field.h"

#include "absl/strings/ascii.h"

namespace sonde {
namespace {

struct NamedField {
  std::string_view name;
  BackupField field;
};

constexpr NamedField kNamedFields[] = {
    {"name", BackupField::kName},           {"source_table", BackupField::kSourceTable},
    {"state", BackupField::kState},         {"start_time", BackupField::kStartTime},
    {"end_time", BackupField::kEndTime},    {"expire_time", BackupField::kExpireTime},
    {"size_bytes", BackupField::kSizeBytes}};

}  // namespace

std::optional<BackupField> FindBackupField(std::string_view name) {
  const std::string lower = absl::AsciiStrToLower(std::string(name));
  for (const NamedField& named : kNamedFields) {
    if (named.name == lower) return named.field;
  }
  return std::nullopt;
}

std::string_view NameOfState(BackupState state) {
  return state == BackupState::kReady ? "READY" : "CREATING";
}

BackupValue ValueOf(const Backup& backup, BackupField field) {
  switch (field) {
    case BackupField::kName:
      return backup.name;
    case BackupField::kSourceTable:
      return backup.source_table;
    case BackupField::kState:
      return std::string(NameOfState(backup.state));
    case BackupField::kStartTime:
      return backup.start;
    case BackupField::kEndTime:
      return backup.end.has_value() ? BackupValue(*backup.end) : BackupValue();
    case BackupField::kExpireTime:
      return backup.expire;
    case BackupField::kSizeBytes:
      return backup.size_bytes;
  }
  return {};
}

}  // namespace sonde
