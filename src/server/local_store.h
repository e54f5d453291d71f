// An engine with all that stands on it, opened as one.
//
// Threads: all functions may be called at once.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "access/policies/policy_store.h"
#include "base/clock.h"
#include "base/large_room.h"
#include "catalog/catalog.h"
#include "engine/hbase/hbase_engine.h"
#include "engine/hbase/settle/settler.h"
#include "engine/rocks/rocks_engine.h"
#include "keyviz/key_visualizer.h"
#include "server/state_directory.h"
#include "table/tables.h"

namespace sonde {

// A store in an HBase cluster.
struct ClusterStoreOptions {
  HBaseEngineOptions engine;
  std::optional<SettlerOptions> settler = std::nullopt;  // none: this server settles nothing
  std::function<CellStorage(std::string_view table_name)> storage_of = {};  // CatalogOptions
  std::function<void(const absl::Status& error)> tell_error = {};           // of the settler
};

class LocalStore {
 public:
  // `watch`: whether the key visualizer sees what is read and written; it keeps what it sees in the data
  // directory. Errors as RocksEngine::Open, PolicyStore::Open, Catalog::Open and KeyVisualizer::Open.
  static absl::StatusOr<std::unique_ptr<LocalStore>> Open(const RocksOptions& options, bool watch = false);

  // The same with the rows in an HBase cluster.  `directory` is this server's own, for what it keeps beside them.
  // Errors: as StateDirectory::Take, HBaseEngine::Open and above.
  static absl::StatusOr<std::unique_ptr<LocalStore>> OpenHBase(ClusterStoreOptions options,
                                                               const std::string& directory,
                                                               LargeRoom* large_room, bool watch = false);

  Tables& tables() { return *tables_; }
  PolicyStore& policies() { return *policies_; }
  Engine& engine() { return *engine_; }
  // The engine, if it is the embedded one; otherwise null.
  RocksEngine* rocks() { return rocks_; }
  // Null when the store is in no cluster, or this server settles nothing.
  const Settler* settler() const { return settler_.get(); }
  // Null when nobody watches.
  KeyVisualizer* key_visualizer() { return key_visualizer_.get(); }

 private:
  explicit LocalStore(LargeRoom* large_room) : large_room_(large_room) {}
  // Opens what stands on engine_.
  absl::Status OpenRest(const std::string& directory, bool watch, const CatalogOptions& catalog_options = {});
  absl::StatusOr<uint64_t> MeasureRow(TableId table, const std::string& row_key, uint64_t bytes_max);

  LargeRoom* const large_room_;  // null: nothing takes a place
  SystemClock clock_;
  std::unique_ptr<StateDirectory> directory_;  // null: the engine has it
  std::unique_ptr<Engine> engine_;
  RocksEngine* rocks_ = nullptr;
  std::unique_ptr<Settler> settler_;       // works on engine_'s cluster
  std::unique_ptr<PolicyStore> policies_;  // the catalog uses it
  std::unique_ptr<Catalog> catalog_;
  std::unique_ptr<KeyVisualizer> key_visualizer_;
  std::unique_ptr<Tables> tables_;
};

}  // namespace sonde
