// The administration of backups: checks requests and carries them out.
#pragma once

#include <google/bigtable/admin/v2/bigtable_table_admin.pb.h>
#include <google/longrunning/operations.pb.h>

#include "absl/status/status.h"
#include "backup/store/backups.h"
#include "base/clock.h"
#include "wire/operations/operation_runner.h"

namespace sonde {

// Nothing is owned.
struct BackupParts {
  Backups* backups;
  OperationRunner* runner;  // of BackupOperationKinds
  const Clock* clock;
};

// CreateBackup, CopyBackup and RestoreTable answer with an operation that runs; they refuse what can be known to be refused.
//
// Errors of these functions: those of the function of Backups of the same name.  INVALID_ARGUMENT: a bad name, a time that is not
// set or lies outside of its limits (backup/backup.h), an unknown type; of an update: an empty mask, or a path that cannot be
// updated; of a list: a bad filter, order or page token.
absl::Status CreateBackup(const BackupParts& parts,
                          const google::bigtable::admin::v2::CreateBackupRequest& request,
                          google::longrunning::Operation* response);
absl::Status CopyBackup(const BackupParts& parts,
                        const google::bigtable::admin::v2::CopyBackupRequest& request,
                        google::longrunning::Operation* response);
absl::Status GetBackup(const BackupParts& parts, const google::bigtable::admin::v2::GetBackupRequest& request,
                       google::bigtable::admin::v2::Backup* response);
absl::Status UpdateBackup(const BackupParts& parts,
                          const google::bigtable::admin::v2::UpdateBackupRequest& request,
                          google::bigtable::admin::v2::Backup* response);
absl::Status DeleteBackup(const BackupParts& parts,
                          const google::bigtable::admin::v2::DeleteBackupRequest& request);
absl::Status ListBackups(const BackupParts& parts,
                         const google::bigtable::admin::v2::ListBackupsRequest& request,
                         google::bigtable::admin::v2::ListBackupsResponse* response);
absl::Status RestoreTable(const BackupParts& parts,
                          const google::bigtable::admin::v2::RestoreTableRequest& request,
                          google::longrunning::Operation* response);

}  // namespace sonde
