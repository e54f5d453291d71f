// A backup's record: JSON, so that a person can read it (docs/formats/data-directory.md).
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "backup/backup.h"
#include "model/table_schema.h"

namespace sonde {

struct BackupRecord {
  Backup backup;
  std::string snapshot;  // its name (engine/snapshots.h); several records may name one snapshot
  TableSchema schema;    // of the source table when the backup began

  // The members that this version does not know, as JSON.  A newer version wrote them; they stay in the record.
  std::string unknown_members = {};
};

std::string EncodeBackupRecord(const BackupRecord& record);
// DATA_LOSS: the bytes are no record of a backup.
absl::StatusOr<BackupRecord> DecodeBackupRecord(std::string_view bytes);

}  // namespace sonde
