// Snapshots of tables as directories beside the databases: snapshots/NAME@TABLE.  Each is a data directory of
// one table (RocksEngine::Checkpoint).  Its files are hard links, so it takes space only as the table moves
// on.
//
// Threads: all functions may be called at once; snapshots are made and dropped one by one.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "engine/row_store.h"
#include "engine/snapshots.h"

namespace sonde {

class RocksSnapshots final : public Snapshots {
 public:
  // The functions that snapshots need of the engine.
  struct Copies {
    std::function<absl::Status(TableId table, const std::string& directory)> make;
    std::function<absl::StatusOr<std::unique_ptr<RowStore>>(const std::string& directory)> open;
  };

  // `store`, into which snapshots are restored, must outlive this.
  RocksSnapshots(RowStore* store, const std::string& data_dir, Copies copies)
      : store_(store), directory_(data_dir + "/snapshots"), copies_(std::move(copies)) {}

  absl::Status Make(std::string_view name, TableId table, absl::Time deadline) override;
  absl::StatusOr<std::vector<Facts>> List(absl::Time deadline) override;
  absl::Status Restore(std::string_view name, TableId into, absl::Time deadline) override;
  absl::Status Drop(std::string_view name, absl::Time deadline) override;

  // Returns the directory of a snapshot; nullopt: there is no such snapshot.
  std::optional<std::string> Find(std::string_view name) const;

 private:
  absl::StatusOr<std::vector<Facts>> ListAll() const;
  std::string PathOf(const Facts& snapshot) const;

  RowStore* const store_;
  const std::string directory_;
  const Copies copies_;
  absl::Mutex mutex_;  // held while snapshots are made and dropped
};

}  // namespace sonde
