// The kinds of operations that make backups and restore tables, as functions of their records
// (wire/operations/operation_runner.h).
//
//   CreateBackup            makes the snapshot of a backup that is CREATING.  After a restart it ends with ABORTED.
//   CopyBackup              makes a copy READY.
//   RestoreTable            makes the table, and begins OptimizeRestoredTable if the target is SSD and the backup STANDARD.  After a
//                           restart it begins anew, unless the table is there.
//   OptimizeRestoredTable   settles and compacts the table.
#pragma once

#include <google/bigtable/admin/v2/bigtable_table_admin.pb.h>
#include <google/protobuf/timestamp.pb.h>

#include <map>
#include <string>

#include "absl/time/time.h"
#include "backup/store/backups.h"
#include "base/clock.h"
#include "wire/operations/operation_runner.h"
#include "wire/operations/operations.h"
#include "wire/resources/instance_store.h"

namespace sonde {

// Returns the kinds, by name.  `instances` may be null: all storage is SSD then.  All must outlive the runner.
std::map<std::string, OperationKind> BackupOperationKinds(Backups* backups, const InstanceStore* instances,
                                                          const Clock* clock);
// Holds the backups from which running operations restore tables, until these have ended.  To be called once, before a runner goes
// on with them.  Errors: those of the engine.
absl::Status HoldRestoredBackups(const Operations& operations, Backups* backups);

google::protobuf::Timestamp ToTimestamp(absl::Time time);
void BackupToProto(const Backup& backup, google::bigtable::admin::v2::Backup* out);
google::bigtable::admin::v2::BackupInfo InfoOf(const Backup& backup);

}  // namespace sonde
