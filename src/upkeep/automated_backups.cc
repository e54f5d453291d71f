#include "upkeep/automated_backups.h"

#include <fmt/format.h>

#include <utility>

#include "absl/time/clock.h"
#include "base/crc32c.h"
#include "model/names.h"

namespace sonde {
namespace {

// A backup's id may have 50 characters: "auto-", 28 of the table, "-", and 16 of the time.
constexpr size_t kTablePartMax = 28;
constexpr size_t kHashDigits = 8;
constexpr absl::Duration kLeaseCallMax = absl::Seconds(10);

}  // namespace

absl::Time DueTime(std::string_view table_name, absl::Time now) {
  const int64_t day_seconds = absl::ToInt64Seconds(kAutomatedBackupInterval);
  const int64_t offset = Crc32c(table_name) % day_seconds;
  const int64_t since = absl::ToUnixSeconds(now) - offset;
  const int64_t days = since >= 0 ? since / day_seconds : -((day_seconds - 1 - since) / day_seconds);
  return absl::FromUnixSeconds(days * day_seconds + offset);
}

std::string AutomatedBackupPrefix(std::string_view table_name) {
  const std::string_view id = IdOfTable(table_name);
  if (id.size() <= kTablePartMax) return fmt::format("auto-{}-", id);
  return fmt::format("auto-{}-{:08x}-", id.substr(0, kTablePartMax - kHashDigits - 1), Crc32c(table_name));
}

std::string AutomatedBackupId(std::string_view table_name, absl::Time now) {
  return AutomatedBackupPrefix(table_name) + absl::FormatTime("%Y%m%dT%H%M%SZ", now, absl::UTCTimeZone());
}

absl::Status AutomatedBackups::Run() {
  const absl::MutexLock lock(&running_);
  std::map<TableId, Known> known;
  absl::Status first;
  uint64_t failing = 0;
  for (const TableSchemaRef& table : catalog_->ListAll()) {
    if (!table->automated_backups.has_value()) continue;
    Known& one = known[table->id];
    if (const auto before = known_.find(table->id); before != known_.end()) one = before->second;
    first.Update(RunFor(*table, absl::FromUnixMicros(clock_->NowMicros()), &one));
    failing += one.failed ? 1 : 0;
  }
  known_ = std::move(known);  // without tables that are gone
  const absl::MutexLock counting(&mutex_);
  failing_ = failing;
  return first;
}

absl::StatusOr<bool> AutomatedBackups::HasTurn() {
  if (leases_ == nullptr) return true;
  const absl::StatusOr<absl::Duration> held = leases_->Hold("automated backups", absl::Now() + kLeaseCallMax);
  if (!held.ok()) return held.status();
  return *held > absl::ZeroDuration();
}

absl::Status AutomatedBackups::RunFor(const TableSchema& schema, absl::Time now, Known* known) {
  const absl::Time due = DueTime(schema.name, now);
  if (due <= known->done || now < known->retry) return absl::OkStatus();
  if (due < absl::FromUnixMicros(schema.automated_backups->since_micros)) return absl::OkStatus();
  const absl::StatusOr<bool> has_turn = HasTurn();
  if (has_turn.ok() && !*has_turn) return absl::OkStatus();  // later this server finds what another one made
  const absl::Status status = has_turn.ok() ? Make(schema, due, now) : has_turn.status();
  known->failed = !status.ok();
  if (status.ok()) {
    known->done = due;
    return status;
  }
  known->retry = now + kRetryAfter;
  {
    const absl::MutexLock lock(&mutex_);
    ++failures_;
  }
  return absl::Status(status.code(), fmt::format("Automated backup of table {}: {}", schema.name,
                                                 std::string(status.message())));
}

absl::Status AutomatedBackups::Make(const TableSchema& schema, absl::Time due, absl::Time now) {
  const absl::StatusOr<std::string> cluster = find_cluster_(InstanceOfTable(schema.name));
  if (!cluster.ok()) return cluster.status();
  const absl::StatusOr<std::vector<Backup>> before =
      backups_->List(fmt::format("{}/backups/{}", *cluster, AutomatedBackupPrefix(schema.name)));
  if (!before.ok()) return before.status();
  for (const Backup& backup : *before) {
    if (backup.source_table == schema.name && backup.start >= due) return absl::OkStatus();
  }
  const NewBackup wanted{.name = fmt::format("{}/backups/{}", *cluster, AutomatedBackupId(schema.name, now)),
                         .expire = now + absl::Microseconds(schema.automated_backups->retention_micros)};
  if (const absl::Status begun = backups_->Begin(wanted, schema.name).status(); !begun.ok()) return begun;
  const absl::Status made = backups_->Make(wanted.name).status();
  if (!made.ok()) return made;
  const absl::MutexLock lock(&mutex_);
  ++made_;
  return absl::OkStatus();
}

std::vector<Figure> AutomatedBackups::Figures() const {
  const absl::MutexLock lock(&mutex_);
  return {
      Figure::Counter("sonde_automated_backups_total", "Backups that were made by the policies of tables.")
          .Add(static_cast<double>(made_)),
      Figure::Counter("sonde_automated_backup_failures_total", "Tries to make such a backup that failed.")
          .Add(static_cast<double>(failures_)),
      Figure::Gauge("sonde_automated_backups_failing", "Tables whose last try to make such a backup failed.")
          .Add(static_cast<double>(failing_))};
}

}  // namespace sonde
