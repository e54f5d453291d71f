// A backup of a table, as its record says: google.bigtable.admin.v2.Backup.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/time/time.h"

namespace sonde {

enum class BackupState : uint8_t { kCreating, kReady };
enum class BackupType : uint8_t { kStandard, kHot };

// A backup's times: how long it may be kept, and how long it stays hot.  Clients compute them before they call, so that
// those at the low end may be earlier by kBackupTimeSlack.
constexpr absl::Duration kBackupKeptMin = absl::Hours(6);
constexpr absl::Duration kBackupKeptMax = absl::Hours(24 * 90);
constexpr absl::Duration kBackupCopyKeptMax = absl::Hours(24 * 30);
constexpr absl::Duration kBackupHotMin = absl::Hours(24);
constexpr absl::Duration kBackupTimeSlack = absl::Seconds(60);

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
