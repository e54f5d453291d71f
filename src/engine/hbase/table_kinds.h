// How each table of a store keeps its cells: as HBase's table says that it was made (store_layout.h).  A table stays so from when readers may
// know of it, so that each is asked for once.
//
// Threads: all functions may be called at once.
#pragma once

#include <map>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "engine/row_store.h"
#include "hbase/client.h"
#include "model/cell.h"

namespace sonde {

class TableKinds {
 public:
  // `client` must outlive it.
  TableKinds(hbase::Client* client, std::string space);

  // Asks for all tables at once, so that a master that goes away later is not missed.  A table that is being restored may become another one
  // after that (engine/snapshots.h); so each is asked for once more when it is used first, and what was loaded stands while the master is away.
  absl::Status Load(absl::Time deadline) ABSL_LOCKS_EXCLUDED(mutex_);
  // Errors: those of hbase::Tables.
  absl::StatusOr<CellStorage> Of(TableId table, absl::Time deadline) ABSL_LOCKS_EXCLUDED(mutex_);
  void Forget(TableId table) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  hbase::Client* const client_;
  const std::string space_;
  absl::Mutex mutex_;
  struct Known {
    CellStorage storage = CellStorage::kPacked;
    absl::Time good_until = absl::InfiniteFuture();
  };
  std::map<TableId, Known> known_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sonde
