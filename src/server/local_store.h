// An engine with all that stands on it, opened as one.
//
// Threads: all functions may be called at once.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "access/policies/policy_store.h"
#include "base/clock.h"
#include "base/large_room.h"
#include "catalog/catalog.h"
#include "engine/hbase/hbase_engine.h"
#include "engine/rocks/rocks_engine.h"
#include "keyviz/key_visualizer.h"
#include "server/state_directory.h"
#include "table/tables.h"

namespace sonde {

class LocalStore {
 public:
  // `watch`: whether the key visualizer sees what is read and written; it keeps what it sees in the data
  // directory. Errors as RocksEngine::Open, PolicyStore::Open, Catalog::Open and KeyVisualizer::Open.
  static absl::StatusOr<std::unique_ptr<LocalStore>> Open(const RocksOptions& options, bool watch = false);

  // The same with the rows in an HBase cluster.  `directory` is this server's own, for what it keeps beside them.
  // Errors: as StateDirectory::Take, HBaseEngine::Open and above.
  static absl::StatusOr<std::unique_ptr<LocalStore>> OpenHBase(HBaseEngineOptions options,
                                                               const std::string& directory,
                                                               LargeRoom* large_room, bool watch = false);

  Tables& tables() { return *tables_; }
  PolicyStore& policies() { return *policies_; }
  Engine& engine() { return *engine_; }
  // The engine, if it is the embedded one; otherwise null.
  RocksEngine* rocks() { return rocks_; }
  // Null when nobody watches.
  KeyVisualizer* key_visualizer() { return key_visualizer_.get(); }

 private:
  explicit LocalStore(LargeRoom* large_room) : large_room_(large_room) {}
  // Opens what stands on engine_.
  absl::Status OpenRest(const std::string& directory, bool watch);
  absl::StatusOr<uint64_t> MeasureRow(TableId table, const std::string& row_key, uint64_t bytes_max);

  LargeRoom* const large_room_;  // null: nothing takes a place
  SystemClock clock_;
  std::unique_ptr<StateDirectory> directory_;  // null: the engine has it
  std::unique_ptr<Engine> engine_;
  RocksEngine* rocks_ = nullptr;
  std::unique_ptr<PolicyStore> policies_;  // the catalog uses it
  std::unique_ptr<Catalog> catalog_;
  std::unique_ptr<KeyVisualizer> key_visualizer_;
  std::unique_ptr<Tables> tables_;
};

}  // namespace sonde
