// Makes the backups that tables have a policy for (model/table_schema.h): one a table in 24 hours.
//
// Each table has its own second of the day, by its name, so that a server with many tables makes their backups spread over the
// day.  A backup is due when that second has passed and no automated backup of the table was begun since; however many days
// the server was away, one is made.  The first is due at the table's first such second behind the policy's beginning.  An automated backup is called
// auto-TABLE-YYYYMMDDThhmmssZ; a TABLE that is too long is cut, and a hash of it follows.  It is an ordinary backup: it counts
// as one of its table, expires by the policy, and may be updated and deleted.
//
// Source: google.bigtable.admin.v2.Table.AutomatedBackupPolicy.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "backup/store/backups.h"
#include "base/clock.h"
#include "catalog/catalog.h"
#include "metrics/figure.h"

namespace sonde {

constexpr absl::Duration kAutomatedBackupInterval = absl::Hours(24);

// The last time at or before `now` at which a backup of this table came due.
absl::Time DueTime(std::string_view table_name, absl::Time now);
// The beginning of the ids of a table's automated backups: "auto-TABLE-".
std::string AutomatedBackupPrefix(std::string_view table_name);
// "auto-TABLE-20261125T133311Z"
std::string AutomatedBackupId(std::string_view table_name, absl::Time now);

// Threads: all functions may be called at once; backups are made one by one.
class AutomatedBackups {
 public:
  // After an error the next try is this much later.
  static constexpr absl::Duration kRetryAfter = absl::Minutes(10);

  // The name of the cluster that is to have the backups of an instance.
  using FindCluster = std::function<absl::StatusOr<std::string>(std::string_view instance)>;

  // All must outlive this.  `leases`: by which one of several servers of the store makes the backups; null: there is one server.
  AutomatedBackups(Catalog* catalog, Backups* backups, const Clock* clock, FindCluster find_cluster,
                   Leases* leases = nullptr)
      : catalog_(catalog),
        backups_(backups),
        clock_(clock),
        find_cluster_(std::move(find_cluster)),
        leases_(leases) {}

  // Makes the backups that are due.  To be called now and then.  Goes on after an error, and returns the first, with the
  // table's name.  Errors: those of Backups::Begin and Make, and of FindCluster.
  absl::Status Run();

  // Backups that were made, tries that failed, and tables whose last try has failed.
  std::vector<Figure> Figures() const;

 private:
  // What is known of a table, so that records are read once a day and table.
  struct Known {
    absl::Time done = absl::InfinitePast();   // nothing is due that came due at or before this time
    absl::Time retry = absl::InfinitePast();  // not to be tried before
    bool failed = false;
  };

  // Whether this server may make backups now.  It says so for some seconds; a backup that was begun then keeps others from the next.
  absl::StatusOr<bool> HasTurn();
  absl::Status RunFor(const TableSchema& schema, absl::Time now, Known* known);
  // OK: the backup has been made, or was there.
  absl::Status Make(const TableSchema& schema, absl::Time due, absl::Time now);

  Catalog* const catalog_;
  Backups* const backups_;
  const Clock* const clock_;
  const FindCluster find_cluster_;
  Leases* const leases_;

  absl::Mutex running_;
  std::map<TableId, Known> known_ ABSL_GUARDED_BY(running_);
  mutable absl::Mutex mutex_ ABSL_ACQUIRED_AFTER(running_);
  uint64_t made_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t failures_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t failing_ ABSL_GUARDED_BY(mutex_) = 0;  // tables
};

}  // namespace sonde
