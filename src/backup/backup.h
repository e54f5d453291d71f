// A backup of a table, as its record says: google.bigtable.admin.v2.Backup.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/time/time.h"

namespace sonde {

enum class BackupState : uint8_t { kCreating, kReady };
enum class BackupType : uint8_t { kStandard, kHot };

struct Backup {
  std::string name;           // projects/P/instances/I/clusters/C/backups/B
  std::string source_table;   // projects/P/instances/I/tables/T, which may be gone
  std::string source_backup;  // the backup that this one was copied from; empty: it is no copy
  absl::Time start;
  std::optional<absl::Time> end;  // unset while it is being made
  absl::Time expire;
  std::optional<absl::Time> hot_to_standard;
  int64_t size_bytes = 0;  // 0: not counted yet
  BackupState state = BackupState::kCreating;
  BackupType type = BackupType::kStandard;
};

}  // namespace sonde
