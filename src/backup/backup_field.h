// The fields of backups by which lists are filtered and sorted.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "absl/time/time.h"
#include "backup/backup.h"

namespace sonde {

enum class BackupField : uint8_t {
  kName,
  kSourceTable,
  kState,
  kStartTime,
  kEndTime,
  kExpireTime,
  kSizeBytes
};

// The names of all fields, for errors.
inline constexpr std::string_view kBackupFieldNames =
    "name, source_table, state, start_time, end_time, expire_time, size_bytes";

// nullopt: no field has this name.  Case does not matter.
std::optional<BackupField> FindBackupField(std::string_view name);

// A field's value: text, a time, or a number of bytes, as the field says.  Nothing: the backup has no such time yet.
using BackupValue = std::variant<std::monostate, std::string, absl::Time, int64_t>;

BackupValue ValueOf(const Backup& backup, BackupField field);

// "CREATING", "READY".
std::string_view NameOfState(BackupState state);

}  // namespace sonde
