// Snapshots of tables as directories beside the databases: snapshots/NAME@TABLE.  Each is a data directory of
// one table (RocksEngine::Checkpoint).  Its files are hard links, so it takes space only as the table moves
// on.
//
// Threads: all functions may be called at once; snapshots are made and dropped one by one.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "base/steady_cond_var.h"
#include "engine/snapshots.h"
#include "model/cell.h"

namespace sonde {

class RocksSnapshots final : public Snapshots {
 public:
  // The functions that snapshots need of the engine.
  struct Copies {
    std::function<absl::Status(TableId table, const std::string& directory)> make;
    // Adds the cells of the copy of a table in `directory` to the table `into`.  `work` is a directory that exists, for
    // files until then.
    std::function<absl::Status(const std::string& directory, TableId table, TableId into,
                               const std::string& work, const RestoreOptions& options)>
        restore;
    std::function<absl::Status(TableId table, const RestoreOptions& options)> optimize;
  };

  RocksSnapshots(const std::string& data_dir, Copies copies)
      : directory_(data_dir + "/snapshots"), copies_(std::move(copies)) {}

  // Deletes the snapshots and the files of restores that were not done when the engine was closed.
  void RemoveUnfinished() const;

  absl::Status Make(std::string_view name, TableId table, absl::Time deadline) override;
  absl::StatusOr<std::vector<Facts>> List(absl::Time deadline) override;
  // One at a time of a snapshot; others of it wait until their deadlines, or until they are not to go on.
  absl::Status Restore(std::string_view name, TableId into, const RestoreOptions& options) override;
  absl::Status Optimize(TableId table, const RestoreOptions& options) override {
    return copies_.optimize(table, options);
  }
  absl::Status Drop(std::string_view name, absl::Time deadline) override;

  // Returns the directory of a snapshot; nullopt: there is no such snapshot.
  std::optional<std::string> Find(std::string_view name) const;

 private:
  // Waits until no other restore reads the snapshot.
  absl::Status TakeTurn(std::string_view name, const RestoreOptions& options);
  absl::Status RestoreAlone(std::string_view name, TableId into, const RestoreOptions& options);
  absl::StatusOr<std::vector<Facts>> ListAll() const;
  std::string PathOf(const Facts& snapshot) const;

  const std::string directory_;
  const Copies copies_;
  absl::Mutex mutex_;  // held while snapshots are made and dropped
  absl::Mutex restoring_mutex_;
  SteadyCondVar restored_;
  std::set<std::string, std::less<>> restoring_ ABSL_GUARDED_BY(restoring_mutex_);  // names of snapshots
};

}  // namespace sonde
