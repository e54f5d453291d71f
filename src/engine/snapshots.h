// Copies of tables as they were at one moment, kept by the store under names, for backups.
//
// A snapshot is a consistent prefix of the order of commits: a change that was acknowledged before Make is in
// it; a change that comes meanwhile is in it only together with all changes that were committed before.  A store in a cluster
// (EngineTraits::is_shared) promises the last only for changes of one region: each region has a moment of its own, within Make.
//
// Threads: all functions may be called at once.  Errors: those of row_store.h.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "model/cell.h"

namespace sonde {

class Snapshots {
 public:
  struct Facts {
    std::string name;
    TableId table = 0;
    uint64_t bytes = 0;  // about how many it takes

    bool operator==(const Facts&) const = default;
  };

  // Copies cells and change log of one table.  Reads and writes go on.  `name`: 1 to 128 letters, digits,
  // '-', '_'. ALREADY_EXISTS: the name is in use.  INVALID_ARGUMENT: it is no name.
  virtual absl::Status Make(std::string_view name, TableId table,
                            absl::Time deadline = absl::InfiniteFuture()) = 0;
  // Returns the snapshots by name, ascending.
  virtual absl::StatusOr<std::vector<Facts>> List(absl::Time deadline = absl::InfiniteFuture()) = 0;
  struct RestoreOptions {
    absl::Time deadline = absl::InfiniteFuture();
    // Told now and then how much is done, in [0, 1].  An error ends the restore with that status.  May be null.
    std::function<absl::Status(double done)> on_progress = nullptr;
  };
  // Adds the cells of the snapshot to a table, which the caller has made and nobody else writes or reads.  A table that is kept in
  // another way (CellStorage) becomes as the one of the snapshot.  Families keep their ids.  Nothing is logged.  It may be repeated after an error.  NOT_FOUND: there is no such
  // snapshot, or table.  DATA_LOSS: the snapshot is damaged; the table has none of its cells.
  virtual absl::Status Restore(std::string_view name, TableId into, const RestoreOptions& options) = 0;
  absl::Status Restore(std::string_view name, TableId into) { return Restore(name, into, {}); }
  // Puts the cells of a table where they are read fastest, after Restore.  Reads and writes go on.  It may be repeated after an
  // error.  NOT_FOUND: there is no such table.  RESOURCE_EXHAUSTED: it would leave too little room on the disk.
  virtual absl::Status Optimize(TableId table, const RestoreOptions& options) = 0;
  // Drops a snapshot.  It is no error if there is none.  A restore of the snapshot that is under way may fail.
  virtual absl::Status Drop(std::string_view name, absl::Time deadline = absl::InfiniteFuture()) = 0;

 protected:
  ~Snapshots() = default;
};

}  // namespace sonde
