#include "wire/admin/backup_operations.h"

#include <fmt/format.h>
#include <google/protobuf/empty.pb.h>
#include <google/protobuf/util/time_util.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "model/names.h"
#include "wire/admin/schemas.h"

namespace sonde {
namespace {

namespace admin = google::bigtable::admin::v2;
using google::protobuf::Timestamp;
using google::protobuf::util::TimeUtil;

struct BackupKindParts {
  Backups* backups;
  const InstanceStore* instances;
  const Clock* clock;

  Timestamp Now() const { return TimeUtil::MicrosecondsToTimestamp(clock->NowMicros()); }
};

// Ends an operation whose metadata have a progress.
template <typename Metadata>
OperationEnd EndWithProgress(const BackupKindParts& parts, absl::Status status, Metadata metadata) {
  admin::OperationProgress* const progress = metadata.mutable_progress();
  if (status.ok()) progress->set_progress_percent(100);
  *progress->mutable_end_time() = parts.Now();
  OperationEnd end{.status = std::move(status)};
  end.metadata.PackFrom(metadata);
  return end;
}

// Tells how much of an operation is done.  It never falls, also when the work begins anew after a restart, and is 100 only at the
// end.
template <typename Metadata>
Snapshots::RestoreOptions TellingProgress(RunningOperation* operation, Metadata* metadata) {
  constexpr double kPercentMax = 99;
  return {.on_progress = [operation, metadata](double done) -> absl::Status {
    admin::OperationProgress* const progress = metadata->mutable_progress();
    const int percent = std::max(progress->progress_percent(), static_cast<int>(done * kPercentMax));
    if (percent != progress->progress_percent()) {
      progress->set_progress_percent(percent);
      operation->Tell(*metadata);
    }
    return operation->GoesOn();
  }};
}

OperationEnd RunCreateBackup(const BackupKindParts& parts, RunningOperation* operation) {
  auto metadata = operation->Metadata<admin::CreateBackupMetadata>();
  absl::StatusOr<Backup> made;
  if (operation->is_resumed()) {
    // Open has removed what is half made, if the store has one server.
    made = parts.backups->Find(metadata.name());
    if (made.ok() && made->state != BackupState::kReady) {
      const absl::Status deleted = parts.backups->Delete(metadata.name());
      made = deleted.ok() ? absl::NotFoundError("") : deleted;
    }
    if (absl::IsNotFound(made.status())) {
      made = absl::AbortedError("The server was restarted.");
      if (absl::Status goes_on = operation->GoesOn(); !goes_on.ok()) made = goes_on;
    }
  } else {
    made = parts.backups->Make(metadata.name(), [operation] { return operation->GoesOn(); });
  }
  *metadata.mutable_end_time() = parts.Now();
  OperationEnd end{.status = made.status()};
  if (made.ok()) {
    spdlog::info("created backup {} of {}", made->name, made->source_table);
    *metadata.mutable_end_time() = ToTimestamp(*made->end);
    admin::Backup full;
    BackupToProto(*made, &full);
    end.response.PackFrom(full);
  }
  end.metadata.PackFrom(metadata);
  return end;
}

OperationEnd RunCopyBackup(const BackupKindParts& parts, RunningOperation* operation) {
  const auto metadata = operation->Metadata<admin::CopyBackupMetadata>();
  const absl::StatusOr<Backup> copy =
      parts.backups->FinishCopy(metadata.name(), [operation] { return operation->GoesOn(); });
  OperationEnd end = EndWithProgress(parts, copy.status(), metadata);
  if (!copy.ok()) return end;
  spdlog::info("copied backup {} to {}", copy->source_backup, copy->name);
  admin::Backup full;
  BackupToProto(*copy, &full);
  end.response.PackFrom(full);
  return end;
}

// Whether the tables of an instance lie on SSD.
bool HasSsd(const BackupKindParts& parts, std::string_view instance) {
  if (parts.instances == nullptr) return true;
  const auto clusters = parts.instances->ListClusters(instance);
  // An instance that nobody has created is as one that its first table makes.
  if (!clusters.ok() || clusters->empty()) return true;
  return std::ranges::any_of(
      *clusters, [](const admin::Cluster& cluster) { return cluster.default_storage_type() != admin::HDD; });
}

absl::StatusOr<TableSchemaRef> RestoredTable(const BackupKindParts& parts, RunningOperation* operation,
                                             const std::string& backup,
                                             admin::RestoreTableMetadata* metadata) {
  if (operation->is_resumed()) {
    // The table may have come before the end of the operation could be written.  Nobody else restores a table of this name while the
    // operation runs.
    absl::StatusOr<TableSchemaRef> there = parts.backups->FindRestored(metadata->name(), backup);
    if (!absl::IsNotFound(there.status())) return there;
  }
  return parts.backups->Restore(backup, metadata->name(), TellingProgress(operation, metadata));
}

OperationEnd RunRestoreTable(const BackupKindParts& parts, RunningOperation* operation) {
  auto metadata = operation->Metadata<admin::RestoreTableMetadata>();
  const std::string backup_name = metadata.backup_info().backup();
  const absl::StatusOr<Backup> backup = parts.backups->Find(backup_name);
  const absl::Status goes_on = operation->GoesOn();
  const absl::StatusOr<TableSchemaRef> table =
      goes_on.ok() ? RestoredTable(parts, operation, backup_name, &metadata) : goes_on;
  if (!table.ok() && operation->was_paused()) return {.status = table.status()};
  parts.backups->Release(backup_name);
  if (!table.ok()) return EndWithProgress(parts, table.status(), std::move(metadata));
  spdlog::info("restored table {} from {}", (*table)->name, backup_name);
  std::optional<NextOperation> next;
  // Hot backups are as fast as a table from the start.
  const bool is_standard = backup.ok() && backup->type == BackupType::kStandard;
  if (is_standard && HasSsd(parts, InstanceOfTable((*table)->name))) {
    next.emplace().name = operation->NewName((*table)->name);
    admin::OptimizeRestoredTableMetadata optimizing;
    optimizing.set_name((*table)->name);
    *optimizing.mutable_progress()->mutable_start_time() = parts.Now();
    next->metadata.PackFrom(optimizing);
    metadata.set_optimize_table_operation_name(next->name);
  }
  OperationEnd end = EndWithProgress(parts, absl::OkStatus(), std::move(metadata));
  admin::Table full;
  ToProto(**table, admin::Table::SCHEMA_VIEW, admin::Table::SCHEMA_VIEW, &full);
  end.response.PackFrom(full);
  end.next = std::move(next);
  return end;
}

OperationEnd RunOptimizeRestoredTable(const BackupKindParts& parts, RunningOperation* operation) {
  auto metadata = operation->Metadata<admin::OptimizeRestoredTableMetadata>();
  absl::Status status = parts.backups->Optimize(metadata.name(), TellingProgress(operation, &metadata));
  OperationEnd end = EndWithProgress(parts, std::move(status), std::move(metadata));
  end.response.PackFrom(google::protobuf::Empty());
  return end;
}

}  // namespace

std::map<std::string, OperationKind> BackupOperationKinds(Backups* backups, const InstanceStore* instances,
                                                          const Clock* clock) {
  const BackupKindParts parts{backups, instances, clock};
  std::map<std::string, OperationKind> kinds;
  kinds["CreateBackup"].run = [parts](RunningOperation* operation) {
    return RunCreateBackup(parts, operation);
  };
  kinds["CopyBackup"].run = [parts](RunningOperation* operation) { return RunCopyBackup(parts, operation); };
  kinds["RestoreTable"].run = [parts](RunningOperation* operation) {
    return RunRestoreTable(parts, operation);
  };
  kinds["OptimizeRestoredTable"] = {.is_cancellable = false, .run = [parts](RunningOperation* operation) {
                                      return RunOptimizeRestoredTable(parts, operation);
                                    }};
  return kinds;
}

absl::Status HoldRestoredBackups(const Operations& operations, Backups* backups) {
  for (const std::string& name : operations.Running()) {
    const std::optional<OperationRecord> record = operations.FindRecord(name);
    admin::RestoreTableMetadata metadata;
    if (!record.has_value() || !record->operation.metadata().UnpackTo(&metadata)) continue;
    absl::Status status = backups->Hold(metadata.backup_info().backup()).status();
    // The operation tells that the backup is gone.
    if (!status.ok() && !absl::IsNotFound(status)) return status;
  }
  return absl::OkStatus();
}

Timestamp ToTimestamp(absl::Time time) { return TimeUtil::MicrosecondsToTimestamp(absl::ToUnixMicros(time)); }

void BackupToProto(const Backup& backup, admin::Backup* out) {
  out->set_name(backup.name);
  out->set_source_table(backup.source_table);
  out->set_source_backup(backup.source_backup);
  *out->mutable_start_time() = ToTimestamp(backup.start);
  if (backup.end.has_value()) *out->mutable_end_time() = ToTimestamp(*backup.end);
  *out->mutable_expire_time() = ToTimestamp(backup.expire);
  if (backup.hot_to_standard.has_value()) {
    *out->mutable_hot_to_standard_time() = ToTimestamp(*backup.hot_to_standard);
  }
  out->set_size_bytes(backup.size_bytes);
  out->set_state(backup.state == BackupState::kReady ? admin::Backup::READY : admin::Backup::CREATING);
  out->set_backup_type(backup.type == BackupType::kHot ? admin::Backup::HOT : admin::Backup::STANDARD);
  out->mutable_encryption_info()->set_encryption_type(admin::EncryptionInfo::GOOGLE_DEFAULT_ENCRYPTION);
}

admin::BackupInfo InfoOf(const Backup& backup) {
  admin::BackupInfo info;
  InfoToProto({.backup = backup.name,
               .source_table = backup.source_table,
               .source_backup = backup.source_backup,
               .start_micros = absl::ToUnixMicros(backup.start),
               .end_micros = absl::ToUnixMicros(backup.end.value_or(backup.start))},
              &info);
  return info;
}

}  // namespace sonde
