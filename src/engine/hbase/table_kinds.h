// How each table of a store keeps its cells: as HBase's table says that it was made (store_layout.h).  A table stays so, so that each is
// asked for once.
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

  // Asks for all tables at once, so that a master that goes away later is not missed.
  absl::Status Load(absl::Time deadline) ABSL_LOCKS_EXCLUDED(mutex_);
  // Errors: those of hbase::Tables.
  absl::StatusOr<CellStorage> Of(TableId table, absl::Time deadline) ABSL_LOCKS_EXCLUDED(mutex_);
  void Forget(TableId table) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  hbase::Client* const client_;
  const std::string space_;
  absl::Mutex mutex_;
  std::map<TableId, CellStorage> known_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sonde
