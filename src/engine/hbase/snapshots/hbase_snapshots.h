// Snapshots of tables as HBase makes them: names of files, which HBase keeps until nobody names them any more.  No cell is copied.
//
// HBase's name of a snapshot is NAMESPACE.NAME, as HBase's names are those of the cluster.  A restore drops the table, and makes it anew
// of the snapshot: HBase restores no snapshot into a table whose source is in use.  The family of the change log goes then.
//
// A region's part of a snapshot has all that was acknowledged before, and each row as one commit left it; regions have theirs at
// different moments (engine/snapshots.h).  HBase does not say how many bytes a snapshot takes: Facts::bytes is what the table takes now,
// in whole MiB, at least one; 0 when the table is gone.
//
// Threads: all functions may be called at once.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "engine/snapshots.h"
#include "hbase/client.h"
#include "model/cell.h"

namespace sonde {

class HBaseSnapshots final : public Snapshots {
 public:
  // What snapshots need to know of the store's tables.
  struct Store {
    std::string space;
    std::function<hbase::TableName(TableId table)> name_of;
    std::function<std::optional<TableId>(const hbase::TableName& table)>
        id_of;  // nullopt: it is no table of cells
    std::function<absl::StatusOr<uint64_t>(TableId table, absl::Time deadline)> bytes_of;
    std::function<void(TableId table)> on_replaced;  // the table is another one
  };

  // `client` must outlive this.
  HBaseSnapshots(hbase::Client* client, Store store) : client_(client), store_(std::move(store)) {}

  // A try that failed is repeated, as regions may move meanwhile.  After kMakeTimeMax the call ends.
  static constexpr absl::Duration kMakeTimeMax = absl::Minutes(10);
  absl::Status Make(std::string_view name, TableId table, absl::Time deadline) override;
  absl::StatusOr<std::vector<Facts>> List(absl::Time deadline) override;
  // Ends early only before the table is dropped.
  absl::Status Restore(std::string_view name, TableId into, const RestoreOptions& options) override;
  // Has HBase write the table's files anew, where they are served.  When it ends early, HBase goes on.
  absl::Status Optimize(TableId table, const RestoreOptions& options) override;
  absl::Status Drop(std::string_view name, absl::Time deadline) override;

 private:
  std::string NameIn(std::string_view name) const;
  // Without bytes.  nullopt: there is none.
  absl::StatusOr<std::optional<Facts>> Find(std::string_view name, absl::Time deadline);
  absl::StatusOr<std::vector<Facts>> ListNames(absl::Time deadline);
  absl::Status CheckIsThere(TableId table, absl::Time deadline);
  absl::Status Replace(std::string_view name, TableId into, absl::Time deadline);

  hbase::Client* const client_;
  const Store store_;
  absl::Mutex mutex_;
  std::set<TableId> half_restored_ ABSL_GUARDED_BY(mutex_);  // dropped, and perhaps not made anew
};

}  // namespace sonde
