// The backups of a store: records that name snapshots of tables.
//
// A backup begins as a record in the state CREATING.  Then the snapshot is made, and the record becomes READY in one step.  A
// copy is a record that names the same snapshot, which goes with the last of its records.  So a crash leaves a record of
// CREATING, or a snapshot without a record: Open removes both.  It leaves copies that are CREATING, as FinishCopy goes on with them.
//
// A restored table gets its rows first, and its name when they are all there (Catalog::Reserve).
//
// Threads: all functions may be called at once.  Make and Restore take as long as the engine needs for them.
// Errors of all functions: those of the engine; DATA_LOSS: a record is damaged.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "backup/backup.h"
#include "backup/store/backup_record.h"
#include "base/clock.h"
#include "catalog/catalog.h"
#include "engine/engine.h"

namespace sonde {

struct BackupsOptions {
  size_t per_table_max = 150;  // in a cluster
  // The records of other parts of the server that end with a backup.  Null: there are none.  Must outlive the backups.
  Companions* companions = nullptr;
};

// The part of a new backup that its caller chooses.
struct NewBackup {
  std::string name;  // projects/P/instances/I/clusters/C/backups/B, checked
  absl::Time expire;
  BackupType type = BackupType::kStandard;
  std::optional<absl::Time> hot_to_standard = std::nullopt;
  std::optional<absl::Time> start = std::nullopt;  // nullopt: now
};

class Backups {
 public:
  // So long no server takes to make a backup.
  static constexpr absl::Duration kAbandonedAfter = absl::Hours(1);

  using Options = BackupsOptions;

  // Removes what a crash has left.  In a store that several servers share that is left to Sweep, as another server may be about to make it.
  // All must outlive this.
  static absl::StatusOr<std::unique_ptr<Backups>> Open(Engine* engine, Catalog* catalog, const Clock* clock,
                                                       const Options& options = {});

  // NOT_FOUND: there is no such backup.
  absl::StatusOr<Backup> Find(std::string_view name) const;
  // Returns the backups whose names begin with `prefix`, by name.
  absl::StatusOr<std::vector<Backup>> List(std::string_view prefix) const;

  // Asked whether to go on; an error of it ends the work with that status.  Null: the work goes on.
  using GoesOn = std::function<absl::Status()>;

  // Writes the record of a backup that is to be made of a table, in one step with the changes `also`.  NOT_FOUND: there is no such table.  ALREADY_EXISTS: the name
  // is in use.  RESOURCE_EXHAUSTED: the table has as many backups in the cluster as it may.  UNIMPLEMENTED: the engine has no
  // snapshots.
  absl::StatusOr<Backup> Begin(const NewBackup& wanted, std::string_view source_table,
                               std::vector<RecordChange> also = {});
  // Makes the snapshot of a backup that was begun, and returns the backup, which is READY.  After an error there is no such
  // backup.  CANCELLED: it was deleted since it began.
  absl::StatusOr<Backup> Make(std::string_view name, const GoesOn& goes_on = nullptr);

  // Writes the record of a copy of a backup, in one step with the changes `also`.  NOT_FOUND: there is no such backup.
  // FAILED_PRECONDITION: it is not READY, or expires within 24 hours.  INVALID_ARGUMENT: it is a copy.  ALREADY_EXISTS,
  // RESOURCE_EXHAUSTED: as Begin.
  absl::StatusOr<Backup> BeginCopy(std::string_view source, const NewBackup& wanted,
                                   std::vector<RecordChange> also = {});
  // Finishes a copy that was begun, and returns it, READY.  Returns one that was finished before as it is.  After CANCELLED there
  // is no such backup; after another error the copy is still CREATING.  CANCELLED: it was deleted since it began, or `goes_on` says so.
  absl::StatusOr<Backup> FinishCopy(std::string_view name, const GoesOn& goes_on = nullptr);

  // `change` gets a copy of a READY backup, and may change the times and the type; an error of it is the answer.
  // FAILED_PRECONDITION: the backup is not READY.
  absl::StatusOr<Backup> Update(std::string_view name,
                                const std::function<absl::Status(Backup* backup)>& change);

  // FAILED_PRECONDITION: a table is being restored from it, or it is being copied.
  absl::Status Delete(std::string_view name);

  // Keeps a backup from being deleted until Release, which is to be called once for each Hold that succeeded, and has no effect on a
  // backup that nobody holds.  The process alone remembers it.  NOT_FOUND: there is no such backup.  FAILED_PRECONDITION: it is not READY.
  absl::StatusOr<Backup> Hold(std::string_view name);
  void Release(std::string_view name);

  // ALREADY_EXISTS: there is a table of the name.
  absl::Status CheckTableIsFree(std::string_view table_name) const;
  // Returns the table if it was restored from the backup.  NOT_FOUND: there is no such table.  ALREADY_EXISTS: it is another one.
  absl::StatusOr<TableSchemaRef> FindRestored(std::string_view table_name, std::string_view backup) const;
  // Makes a table of a backup's rows: with its families, without their rules of garbage collection.  ALREADY_EXISTS:
  // the table's name is in use.  FAILED_PRECONDITION: the backup is not READY.  DATA_LOSS: its snapshot is gone, or damaged.
  absl::StatusOr<TableSchemaRef> Restore(std::string_view name, std::string_view table_name,
                                         const Snapshots::RestoreOptions& options = {});

  // Puts the cells of a table that was restored where they are read fastest, while it is read and written.  It may be repeated.
  // NOT_FOUND: there is no such table.
  absl::Status Optimize(std::string_view table_name, const Snapshots::RestoreOptions& options = {});

  // Deletes the backups that have expired, makes hot ones STANDARD whose time has come, and counts the bytes of those
  // that were not counted.  In a store that several servers share, it removes backups that were begun kAbandonedAfter ago and are not READY, and, by
  // the next call, snapshots of such an age that no backup names.  To be called now and then.  Goes on after an error, and returns the first.
  absl::Status Sweep();

  // About the backups since the start of this object, as of the last Make or Sweep.
  struct Progress {
    int64_t ready = 0;               // backups that are READY
    std::optional<absl::Time> last;  // when the newest of these that is no copy was complete
    int64_t failures = 0;            // backups that could not be made, and sweeps that met an error
  };
  Progress progress() const;

 private:
  Backups(Engine* engine, Catalog* catalog, const Clock* clock, const Options& options)
      : engine_(engine), catalog_(catalog), clock_(clock), options_(options) {}

  struct Stored {
    BackupRecord record;
    int64_t version = 0;
  };

  absl::Time Now() const { return absl::FromUnixMicros(clock_->NowMicros()); }
  absl::Status RemoveUnfinished();
  absl::Status RemoveAbandoned() ABSL_LOCKS_EXCLUDED(mutex_);
  absl::StatusOr<std::vector<Stored>> Read(std::string_view prefix) const;
  absl::StatusOr<Stored> ReadOne(std::string_view name) const;
  // ALREADY_EXISTS, RESOURCE_EXHAUSTED: as Begin.
  absl::Status CheckIsFree(std::string_view name, std::string_view source_table) const;
  absl::Status Write(const BackupRecord& record, int64_t expected_version,
                     std::vector<RecordChange> also = {});
  // FAILED_PRECONDITION: the backup is in use.
  absl::Status CheckIsUnused(std::string_view name) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Makes a record READY.
  absl::StatusOr<Backup> WriteReady(Stored stored) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Deletes the record of a backup, and what others keep about it.
  absl::Status DeleteRecord(const Stored& stored) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  static bool IsNamed(const std::vector<Stored>& all, std::string_view snapshot);
  // Drops a snapshot that no record names.
  absl::Status DropIfUnnamed(const std::string& snapshot) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::StatusOr<TableSchemaRef> RestoreInto(TableId id, const Stored& stored, std::string_view table_name,
                                             const Snapshots::RestoreOptions& options);
  absl::Status SweepOne(Stored stored);
  void CountFailure();

  Engine* const engine_;
  Catalog* const catalog_;
  const Clock* const clock_;
  const Options options_;

  mutable absl::Mutex mutex_;  // held while records are changed
  mutable absl::Mutex progress_mutex_;
  Progress progress_ ABSL_GUARDED_BY(progress_mutex_);
  // How many hold a backup, by its name.
  std::map<std::string, int, std::less<>> held_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sonde
