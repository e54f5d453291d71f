#include "backup/store/backups.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

namespace sonde {
namespace {

constexpr std::string_view kBackupPrefix = "backup/";  // + name
constexpr std::string_view kSnapshotPrefix = "backup-";
// A copy is not made of a backup that is about to expire.
constexpr absl::Duration kCopiedBeforeExpiry = absl::Hours(24);

std::string KeyOfBackup(std::string_view name) { return fmt::format("{}{}", kBackupPrefix, name); }

// The name up to its id: all backups of the cluster begin with it.
std::string_view ClusterPrefix(std::string_view name) { return name.substr(0, name.rfind('/') + 1); }

absl::Status NoBackup(std::string_view name) {
  return absl::NotFoundError(fmt::format("Backup not found: {}", name));
}

absl::Status NotReady(std::string_view name) {
  return absl::FailedPreconditionError(
      fmt::format("Backup {} is being created: try again when its state is READY", name));
}

absl::Status WasDeleted(std::string_view name) {
  return absl::CancelledError(fmt::format("Backup {} was deleted while it was being created", name));
}

std::string SnapshotName(TableId table, absl::Time now) {
  return fmt::format("{}{}-{}", kSnapshotPrefix, table, absl::ToUnixMicros(now));
}

// When the backup began that a snapshot was to be for; nullopt: it is for none.
std::optional<absl::Time> TimeOfSnapshot(std::string_view name) {
  if (!name.starts_with(kSnapshotPrefix)) return std::nullopt;
  name.remove_prefix(name.rfind('-') + 1);
  int64_t micros = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), micros);
  if (error != std::errc() || end == name.data()) return std::nullopt;
  return absl::FromUnixMicros(micros);
}

// The schema of a restored table: production restores neither rules nor protection, streams, policies, or views.
TableSchema RestoredSchema(const BackupRecord& record, std::string_view table_name, TableId id) {
  TableSchema schema = record.schema;
  schema.name = std::string(table_name);
  schema.id = id;
  schema.deletion_protection = false;
  schema.StopLogging();
  schema.automated_backups.reset();
  schema.infrequent_access_micros.reset();
  for (FamilySchema& family : schema.families) family.gc_rule = GcRule();
  const Backup& backup = record.backup;
  schema.restored_from = {.backup = backup.name,
                          .source_table = backup.source_table,
                          .source_backup = backup.source_backup,
                          .start_micros = absl::ToUnixMicros(backup.start),
                          .end_micros = absl::ToUnixMicros(backup.end.value_or(backup.start))};
  return schema;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Backups>> Backups::Open(Engine* engine, Catalog* catalog, const Clock* clock,
                                                       const Options& options) {
  std::unique_ptr<Backups> backups(new Backups(engine, catalog, clock, options));
  if (absl::Status status = backups->RemoveUnfinished(); !status.ok()) return status;
  return backups;
}

absl::Status Backups::RemoveUnfinished() {
  if (engine_->snapshots() == nullptr || engine_->traits().is_shared) return absl::OkStatus();
  const absl::MutexLock lock(&mutex_);
  const absl::StatusOr<std::vector<Stored>> all = Read("");
  if (!all.ok()) return all.status();
  for (const Stored& stored : *all) {
    const Backup& backup = stored.record.backup;
    if (backup.state == BackupState::kReady || !backup.source_backup.empty()) continue;
    if (absl::Status status = DeleteRecord(stored); !status.ok()) return status;
  }
  const absl::StatusOr<std::vector<Snapshots::Facts>> snapshots = engine_->snapshots()->List();
  if (!snapshots.ok()) return snapshots.status();
  for (const Snapshots::Facts& snapshot : *snapshots) {
    if (!snapshot.name.starts_with(kSnapshotPrefix)) continue;
    if (absl::Status status = DropIfUnnamed(snapshot.name); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status Backups::RemoveAbandoned() {
  const absl::Time old = Now() - kAbandonedAfter;
  const absl::MutexLock lock(&mutex_);
  const absl::StatusOr<std::vector<Stored>> all = Read("");
  if (!all.ok()) return all.status();
  for (const Stored& stored : *all) {
    const Backup& backup = stored.record.backup;
    if (backup.state == BackupState::kReady || !backup.source_backup.empty() || backup.start > old) continue;
    const absl::Status status = DeleteRecord(stored);
    if (!status.ok() && !absl::IsAborted(status)) return status;  // another server has changed it
  }
  const absl::StatusOr<std::vector<Snapshots::Facts>> snapshots = engine_->snapshots()->List();
  if (!snapshots.ok()) return snapshots.status();
  for (const Snapshots::Facts& snapshot : *snapshots) {
    const std::optional<absl::Time> made = TimeOfSnapshot(snapshot.name);
    // Nobody names a snapshot later than its time.
    if (!made.has_value() || *made > old || IsNamed(*all, snapshot.name)) continue;
    if (absl::Status status = DropIfUnnamed(snapshot.name); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Backups::Stored>> Backups::Read(std::string_view prefix) const {
  const absl::StatusOr<std::vector<Record>> records = engine_->ReadRecords(KeyOfBackup(prefix));
  if (!records.ok()) return records.status();
  std::vector<Stored> all;
  for (const Record& record : *records) {
    absl::StatusOr<BackupRecord> decoded = DecodeBackupRecord(record.value);
    if (!decoded.ok()) return decoded.status();
    all.push_back({*std::move(decoded), record.version});
  }
  return all;
}

absl::StatusOr<Backups::Stored> Backups::ReadOne(std::string_view name) const {
  absl::StatusOr<std::vector<Stored>> found = Read(name);
  if (!found.ok()) return found.status();
  for (Stored& stored : *found) {  // other names may begin with this one
    if (stored.record.backup.name == name) return std::move(stored);
  }
  return NoBackup(name);
}

absl::StatusOr<Backup> Backups::Find(std::string_view name) const {
  absl::StatusOr<Stored> stored = ReadOne(name);
  if (!stored.ok()) return stored.status();
  return std::move(stored->record.backup);
}

absl::StatusOr<std::vector<Backup>> Backups::List(std::string_view prefix) const {
  absl::StatusOr<std::vector<Stored>> all = Read(prefix);
  if (!all.ok()) return all.status();
  std::vector<Backup> backups;
  for (Stored& stored : *all) backups.push_back(std::move(stored.record.backup));
  return backups;
}

absl::Status Backups::CheckIsFree(std::string_view name, std::string_view source_table) const {
  const absl::StatusOr<std::vector<Stored>> all = Read(ClusterPrefix(name));
  if (!all.ok()) return all.status();
  size_t of_table = 0;
  for (const Stored& stored : *all) {
    if (stored.record.backup.name == name) {
      return absl::AlreadyExistsError(fmt::format("Backup already exists: {}", name));
    }
    of_table += stored.record.backup.source_table == source_table ? 1 : 0;
  }
  if (of_table < options_.per_table_max) return absl::OkStatus();
  return absl::ResourceExhaustedError(fmt::format(
      "Too many backups of table {} in one cluster: the limit is {}", source_table, options_.per_table_max));
}

absl::Status Backups::Write(const BackupRecord& record, int64_t expected_version,
                            std::vector<RecordChange> also) {
  also.push_back({KeyOfBackup(record.backup.name), EncodeBackupRecord(record), expected_version});
  return engine_->WriteRecords(also);
}

absl::StatusOr<Backup> Backups::WriteReady(Stored stored) {
  Backup& backup = stored.record.backup;
  backup.state = BackupState::kReady;
  backup.end = std::max(Now(), backup.start);
  if (absl::Status status = Write(stored.record, stored.version); !status.ok()) return status;
  return std::move(backup);
}

absl::Status Backups::DeleteRecord(const Stored& stored) {
  const std::string& name = stored.record.backup.name;
  // Companions are asked while the catalog stands still, as they are for tables.
  return catalog_->WithoutChanges([&]() -> absl::Status {
    std::vector<RecordChange> changes = {{KeyOfBackup(name), std::nullopt, stored.version}};
    if (options_.companions != nullptr) {
      for (RecordChange& change : options_.companions->RecordsToDelete(name))
        changes.push_back(std::move(change));
    }
    absl::Status status = engine_->WriteRecords(changes);
    if (status.ok() && options_.companions != nullptr) options_.companions->OnDeleted(name);
    return status;
  });
}

absl::StatusOr<Backup> Backups::Begin(const NewBackup& wanted, std::string_view source_table,
                                      std::vector<RecordChange> also) {
  if (engine_->snapshots() == nullptr)
    return absl::UnimplementedError("This store has no snapshots, so no backups");
  const absl::StatusOr<TableSchemaRef> schema = catalog_->Find(source_table);
  if (!schema.ok()) return schema.status();
  const absl::MutexLock lock(&mutex_);
  if (absl::Status status = CheckIsFree(wanted.name, source_table); !status.ok()) return status;
  BackupRecord record{.backup = {.name = wanted.name,
                                 .source_table = std::string(source_table),
                                 .start = wanted.start.value_or(Now()),
                                 .expire = wanted.expire,
                                 .hot_to_standard = wanted.hot_to_standard,
                                 .type = wanted.type},
                      .schema = **schema};
  // The time makes it another one than that of an earlier backup of the same name, whose snapshot may be still there.
  record.snapshot = SnapshotName((*schema)->id, Now());
  const absl::StatusOr<std::vector<Snapshots::Facts>> snapshots = engine_->snapshots()->List();
  if (!snapshots.ok()) return snapshots.status();
  const auto is_taken = [&](const std::string& name) {
    return std::ranges::any_of(*snapshots,
                               [&](const Snapshots::Facts& snapshot) { return snapshot.name == name; });
  };
  while (is_taken(record.snapshot)) record.snapshot += "x";
  absl::Status status = Write(record, /*expected_version=*/0, std::move(also));
  if (!status.ok()) return status;
  return record.backup;
}

absl::StatusOr<Backup> Backups::Make(std::string_view name, const GoesOn& goes_on) {
  absl::StatusOr<Stored> begun = ReadOne(name);
  if (absl::IsNotFound(begun.status())) return WasDeleted(name);
  if (!begun.ok()) return begun.status();
  const std::string snapshot = begun->record.snapshot;
  absl::Status status = goes_on ? goes_on() : absl::OkStatus();
  if (status.ok()) status = engine_->snapshots()->Make(snapshot, begun->record.schema.id);
  if (status.ok() && goes_on) status = goes_on();
  const absl::MutexLock lock(&mutex_);
  const absl::StatusOr<Stored> stored = ReadOne(name);
  if (!stored.ok() || stored->record.snapshot != snapshot) {
    if (!stored.ok() && !absl::IsNotFound(stored.status())) return stored.status();
    if (absl::Status dropped = DropIfUnnamed(snapshot); !dropped.ok()) return dropped;
    return WasDeleted(name);
  }
  if (status.ok()) {
    absl::StatusOr<Backup> ready = WriteReady(*stored);
    if (ready.ok()) {
      const absl::MutexLock progress_lock(&progress_mutex_);
      ++progress_.ready;
      progress_.last = std::max(progress_.last.value_or(absl::InfinitePast()), *ready->end);
      return ready;
    }
    status = ready.status();
  }
  CountFailure();
  DeleteRecord(*stored).IgnoreError();  // otherwise the next start does
  DropIfUnnamed(snapshot).IgnoreError();
  return status;
}

absl::StatusOr<Backup> Backups::BeginCopy(std::string_view source, const NewBackup& wanted,
                                          std::vector<RecordChange> also) {
  const absl::MutexLock lock(&mutex_);
  const absl::StatusOr<Stored> stored = ReadOne(source);
  if (!stored.ok()) return stored.status();
  const Backup& from = stored->record.backup;
  if (from.state != BackupState::kReady) return NotReady(source);
  if (!from.source_backup.empty()) {
    return absl::InvalidArgumentError(
        fmt::format("Backup {} is a copy of {}: copy that one", source, from.source_backup));
  }
  const absl::Time now = Now();
  if (from.expire - now < kCopiedBeforeExpiry) {
    return absl::FailedPreconditionError(fmt::format(
        "Backup {} expires within {} hours, at {}: it cannot be copied", source,
        absl::ToInt64Hours(kCopiedBeforeExpiry), absl::FormatTime(from.expire, absl::UTCTimeZone())));
  }
  if (absl::Status status = CheckIsFree(wanted.name, from.source_table); !status.ok()) return status;
  BackupRecord copy = stored->record;
  copy.backup.name = wanted.name;
  copy.backup.source_backup = std::string(source);
  copy.backup.start = wanted.start.value_or(now);
  copy.backup.end.reset();
  copy.backup.state = BackupState::kCreating;
  copy.backup.expire = wanted.expire;
  copy.backup.type = BackupType::kStandard;
  copy.backup.hot_to_standard.reset();
  copy.backup.size_bytes = 0;
  if (engine_->traits().is_shared) {
    // Another server may delete the source, and with it the snapshot, unless the record is another one by then.
    also.push_back({KeyOfBackup(source), EncodeBackupRecord(stored->record), stored->version});
  }
  absl::Status status = Write(copy, /*expected_version=*/0, std::move(also));
  if (!status.ok()) return status;
  return copy.backup;
}

absl::StatusOr<Backup> Backups::FinishCopy(std::string_view name, const GoesOn& goes_on) {
  const absl::MutexLock lock(&mutex_);
  const absl::StatusOr<Stored> stored = ReadOne(name);
  if (absl::IsNotFound(stored.status())) return WasDeleted(name);
  if (!stored.ok()) return stored.status();
  if (stored->record.backup.state == BackupState::kReady) return stored->record.backup;
  const absl::Status status = goes_on ? goes_on() : absl::OkStatus();
  if (status.ok()) return WriteReady(*stored);
  if (absl::IsCancelled(status)) {
    if (absl::Status deleted = DeleteRecord(*stored); !deleted.ok()) return deleted;
    if (absl::Status dropped = DropIfUnnamed(stored->record.snapshot); !dropped.ok()) return dropped;
  }
  return status;
}

absl::StatusOr<Backup> Backups::Update(std::string_view name,
                                       const std::function<absl::Status(Backup* backup)>& change) {
  const absl::MutexLock lock(&mutex_);
  absl::StatusOr<Stored> stored = ReadOne(name);
  if (!stored.ok()) return stored.status();
  Backup& backup = stored->record.backup;
  if (backup.state != BackupState::kReady) return NotReady(name);
  if (absl::Status status = change(&backup); !status.ok()) return status;
  if (absl::Status status = Write(stored->record, stored->version); !status.ok()) return status;
  return std::move(backup);
}

bool Backups::IsNamed(const std::vector<Stored>& all, std::string_view snapshot) {
  return std::ranges::any_of(all, [&](const Stored& stored) { return stored.record.snapshot == snapshot; });
}

absl::Status Backups::DropIfUnnamed(const std::string& snapshot) {
  const absl::StatusOr<std::vector<Stored>> all = Read("");
  if (!all.ok()) return all.status();
  return IsNamed(*all, snapshot) ? absl::OkStatus() : engine_->snapshots()->Drop(snapshot);
}

absl::Status Backups::CheckIsUnused(std::string_view name) const {
  if (held_.contains(name)) {
    return absl::FailedPreconditionError(
        fmt::format("A table is being restored from backup {}: delete it when that is done", name));
  }
  const absl::StatusOr<std::vector<Stored>> all = Read("");
  if (!all.ok()) return all.status();
  for (const Stored& stored : *all) {
    const Backup& backup = stored.record.backup;
    if (backup.source_backup != name || backup.state == BackupState::kReady) continue;
    return absl::FailedPreconditionError(
        fmt::format("Backup {} is being copied to {}: delete it when that is done", name, backup.name));
  }
  return absl::OkStatus();
}

absl::StatusOr<Backup> Backups::Hold(std::string_view name) {
  const absl::MutexLock lock(&mutex_);
  absl::StatusOr<Stored> stored = ReadOne(name);
  if (!stored.ok()) return stored.status();
  if (stored->record.backup.state != BackupState::kReady) return NotReady(name);
  ++held_[std::string(name)];
  return std::move(stored->record.backup);
}

void Backups::Release(std::string_view name) {
  const absl::MutexLock lock(&mutex_);
  const auto holders = held_.find(name);
  if (holders != held_.end() && --holders->second == 0) held_.erase(holders);
}

absl::Status Backups::Delete(std::string_view name) {
  const absl::MutexLock lock(&mutex_);
  const absl::StatusOr<Stored> stored = ReadOne(name);
  if (!stored.ok()) return stored.status();
  if (absl::Status status = CheckIsUnused(name); !status.ok()) return status;
  if (absl::Status status = DeleteRecord(*stored); !status.ok()) return status;
  // Make drops it if it is being made.
  if (stored->record.backup.state != BackupState::kReady) return absl::OkStatus();
  return DropIfUnnamed(stored->record.snapshot);
}

absl::Status Backups::CheckTableIsFree(std::string_view table_name) const {
  const absl::Status found = catalog_->Find(table_name).status();
  if (absl::IsNotFound(found)) return absl::OkStatus();
  return found.ok() ? absl::AlreadyExistsError(fmt::format("Table already exists: {}", table_name)) : found;
}

absl::StatusOr<TableSchemaRef> Backups::FindRestored(std::string_view table_name,
                                                     std::string_view backup) const {
  absl::StatusOr<TableSchemaRef> found = catalog_->Find(table_name);
  if (!found.ok()) return found;
  const auto& from = (*found)->restored_from;
  if (from.has_value() && from->backup == backup) return found;
  return absl::AlreadyExistsError(fmt::format("Table already exists: {}", table_name));
}

absl::StatusOr<TableSchemaRef> Backups::Restore(std::string_view name, std::string_view table_name,
                                                const Snapshots::RestoreOptions& options) {
  if (absl::Status status = CheckTableIsFree(table_name); !status.ok()) return status;
  if (absl::Status status = Hold(name).status(); !status.ok()) return status;
  absl::StatusOr<TableSchemaRef> restored;
  const absl::StatusOr<Stored> stored = ReadOne(name);
  const absl::StatusOr<TableId> id = stored.ok() ? catalog_->Reserve() : stored.status();
  if (id.ok()) {
    restored = RestoreInto(*id, *stored, table_name, options);
    if (!restored.ok()) catalog_->Abandon(*id).IgnoreError();  // otherwise the next start does
  } else {
    restored = id.status();
  }
  Release(name);
  return restored;
}

absl::StatusOr<TableSchemaRef> Backups::RestoreInto(TableId id, const Stored& stored,
                                                    std::string_view table_name,
                                                    const Snapshots::RestoreOptions& options) {
  const absl::Status status = engine_->snapshots()->Restore(stored.record.snapshot, id, options);
  if (absl::IsNotFound(status)) {
    return absl::DataLossError(fmt::format("The data of backup {} is gone", stored.record.backup.name));
  }
  if (!status.ok()) return status;
  if (options.on_progress) {
    if (absl::Status goes_on = options.on_progress(1); !goes_on.ok()) return goes_on;
  }
  return catalog_->CreateReserved(RestoredSchema(stored.record, table_name, id));
}

absl::Status Backups::Optimize(std::string_view table_name, const Snapshots::RestoreOptions& options) {
  const absl::StatusOr<TableSchemaRef> schema = catalog_->Find(table_name);
  if (!schema.ok()) return schema.status();
  if (engine_->snapshots() == nullptr) return absl::OkStatus();
  return engine_->snapshots()->Optimize((*schema)->id, options);
}

absl::Status Backups::Sweep() {
  absl::StatusOr<std::vector<Stored>> all = Read("");
  if (!all.ok()) {
    CountFailure();
    return all.status();
  }
  Progress found;
  for (const Stored& stored : *all) {
    const Backup& backup = stored.record.backup;
    if (backup.state != BackupState::kReady || backup.expire <= Now()) continue;
    ++found.ready;
    if (backup.source_backup.empty() && backup.end.has_value())
      found.last = std::max(found.last.value_or(absl::InfinitePast()), *backup.end);
  }
  const bool may_be_abandoned = engine_->traits().is_shared && engine_->snapshots() != nullptr;
  absl::Status first = may_be_abandoned ? RemoveAbandoned() : absl::OkStatus();
  for (Stored& stored : *all) first.Update(SweepOne(std::move(stored)));
  const absl::MutexLock lock(&progress_mutex_);
  found.failures = progress_.failures + (first.ok() ? 0 : 1);
  progress_ = found;
  return first;
}

void Backups::CountFailure() {
  const absl::MutexLock lock(&progress_mutex_);
  ++progress_.failures;
}

Backups::Progress Backups::progress() const {
  const absl::MutexLock lock(&progress_mutex_);
  return progress_;
}

absl::Status Backups::SweepOne(Stored stored) {
  Backup& backup = stored.record.backup;
  if (backup.state != BackupState::kReady) return absl::OkStatus();
  const absl::Time now = Now();
  if (backup.expire <= now) {
    absl::Status status = Delete(backup.name);
    // Somebody restores or copies it, so that it goes later; or it is gone.
    return absl::IsFailedPrecondition(status) || absl::IsNotFound(status) ? absl::OkStatus() : status;
  }
  const bool cools =
      backup.type == BackupType::kHot && backup.hot_to_standard.has_value() && *backup.hot_to_standard <= now;
  if (!cools && backup.size_bytes != 0) return absl::OkStatus();
  if (cools) backup.type = BackupType::kStandard;
  const int64_t counted_bytes = backup.size_bytes;
  const absl::StatusOr<std::vector<Snapshots::Facts>> snapshots = engine_->snapshots()->List();
  if (!snapshots.ok()) return snapshots.status();
  for (const Snapshots::Facts& snapshot : *snapshots) {
    if (snapshot.name == stored.record.snapshot) backup.size_bytes = static_cast<int64_t>(snapshot.bytes);
  }
  if (!cools && backup.size_bytes == counted_bytes) return absl::OkStatus();  // its snapshot is gone
  const absl::MutexLock lock(&mutex_);
  const absl::Status status = Write(stored.record, stored.version);
  return absl::IsAborted(status) ? absl::OkStatus() : status;  // it was changed meanwhile: the next time
}

}  // namespace sonde
