// The engine whose rows are in an HBase cluster.  Any number of servers may use one store at once.
//
// HBase does what it is good at: rows in order, in regions that it splits, moves and recovers; the order of what is written to a row;
// copies.  The engine keeps nothing in memory but where regions are, so a server may be killed at any time.  stored_cells.h and
// store_layout.h say what is where; docs/decisions/0037-hbase-engine.md why.
//
// A change is one commit a row.  It is written blindly, in one call with others, if it only puts cells, or deletes columns without a
// start of time.  Otherwise its row is read first, and the change is guarded by the row's version (hbase/row_version.h).  Every change
// writes a new version.
//
// Change logs are in the rows (log/hbase_log.h); a logged change depends on its row, too.  In a table with packed cells
// (packed/packed_cells.h) all deletes are guarded.  engine/hbase/settle/ packs what is quiet.
//
// Snapshots are HBase's own (snapshots/hbase_snapshots.h).  The engine forgets nothing by itself of what may be (TableSpec);
// table/collect_garbage.h deletes it.  Its tables take cells of kCellBytesMax (store_layout.h); a change with a larger one is
// INVALID_ARGUMENT.
//
// Threads: all functions may be called at once.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/engine.h"
#include "engine/hbase/cluster_sizes.h"
#include "engine/hbase/guarded_commit.h"
#include "engine/hbase/log/hbase_leases.h"
#include "engine/hbase/log/hbase_log.h"
#include "engine/hbase/records.h"
#include "engine/hbase/row_edit.h"
#include "engine/hbase/snapshots/hbase_snapshots.h"
#include "engine/hbase/store_layout.h"
#include "engine/hbase/table_kinds.h"
#include "hbase/client.h"

namespace sonde {

struct HBaseEngineOptions {
  HBaseStoreAddress address;
  std::string user = "sonde";  // who HBase is told that it is
  bool sync = false;  // changes are answered when HBase's copies have them on their disks, and not in memory
  std::optional<hbase::TlsToServers> tls = {};  // nullopt: plain text
  absl::Duration open_timeout = absl::Seconds(30);
  LogPositionsOptions log = {};
};

class HBaseEngine final : public Engine {
 public:
  // Finds the store, or makes it.  Errors: those of PrepareStore and of hbase::Client::Create.
  static absl::StatusOr<std::unique_ptr<HBaseEngine>> Open(HBaseEngineOptions options);

  using RowStore::Apply;

  EngineTraits traits() const override {
    return {.waits_for_network = true, .commits_many_rows = true, .is_shared = true};
  }
  RowLog* log() override { return &log_; }
  Snapshots* snapshots() override { return &snapshots_; }
  RangeSizes* range_sizes() override { return &sizes_; }
  Leases* leases() override { return &leases_; }

  absl::Status WriteRecords(const std::vector<RecordChange>& changes, absl::Time deadline) override;
  absl::StatusOr<std::vector<Record>> ReadRecords(std::string_view prefix, absl::Time deadline) override;
  absl::StatusOr<int64_t> RecordsVersion(absl::Time deadline) override;
  absl::Status CreateTable(const TableSpec& spec, absl::Time deadline) override;
  absl::Status AlterTable(const TableSpec& spec, absl::Time deadline) override;
  absl::Status DropTable(TableId table, absl::Time deadline) override;
  // Reads the family's keys and deletes what it finds, before it returns.
  absl::Status DropFamily(TableId table, FamilyId family, absl::Time deadline) override;
  absl::StatusOr<std::unique_ptr<RowStream>> Scan(TableId table, std::vector<RowRange> ranges,
                                                  ScanOptions options) override;
  absl::Status Apply(TableId table, RowSource* rows, const WriteOptions& options) override;
  absl::Status Update(TableId table, std::string_view row_key, const ReadHints& hints, const Decide& decide,
                      const WriteOptions& options) override;
  // Truncates regions that lie in the range and have many rows; elsewhere, and where there may be a change log, deletes row by row.
  absl::Status DropRange(TableId table, const RowRange& range, absl::Time deadline) override;
  // A range a region (cluster_sizes.h).
  absl::StatusOr<std::vector<RangeStats>> Ranges(TableId table, absl::Time deadline) override;
  // By how much of what was written in the last seconds was answered that a server or a region is busy.
  double WritePressure() const override;
  std::vector<Figure> Figures() const override;
  absl::Status CheckWrites(absl::Time deadline) override;

  hbase::Client* client() { return client_.get(); }
  LogPositions* positions() { return log_.positions(); }
  hbase::TableName NameOf(TableId table) const { return CellsTable(options_.address.space, table); }

 private:
  class PartOfApply;

  HBaseEngine(HBaseEngineOptions options, std::unique_ptr<hbase::Client> client);

  HBaseSnapshots::Store StoreOfSnapshots();
  // How it keeps its cells.  NOT_FOUND: there is no such table.
  absl::StatusOr<CellStorage> FindTable(TableId table, absl::Time deadline);
  // CommitGuarded for a change whose edit may get a record by `logged`.
  absl::Status CommitLogged(const hbase::TableName& table, std::string_view row_key, const GuardedRead& read,
                            const GuardedMake& make, LoggedCommit* logged, absl::Time deadline);
  // Applies one change that needs to know its row.
  absl::Status ApplyGuarded(const hbase::TableName& table, const RowChange& change, EditNeeds needs,
                            absl::Time deadline);
  // Applies edits that need not, and empties the list.  Returns a status an edit.
  std::vector<absl::Status> ApplyBlind(const hbase::TableName& table, std::vector<RowEdit>* edits,
                                       absl::Time deadline);
  // The same for deletes: the first error.
  absl::Status DeleteAll(const hbase::TableName& table, std::vector<RowEdit>* edits, absl::Time deadline);
  // Deletes rows of a range one by one, at most `rows_max`; false: there may be more.
  absl::StatusOr<bool> DeleteRows(const hbase::TableName& table, CellStorage storage, const RowRange& range,
                                  size_t rows_max, absl::Time deadline);

  const HBaseEngineOptions options_;
  const std::unique_ptr<hbase::Client> client_;
  std::atomic<uint64_t> conflicts_ = 0;
  std::atomic<uint64_t> blind_changes_ = 0;
  std::atomic<uint64_t> guarded_changes_ = 0;
  std::atomic<uint64_t> packed_changes_ = 0;
  TableKinds kinds_;
  ClusterSizes sizes_;
  HBaseRecords records_;
  HBaseLog log_;
  HBaseLeases leases_;
  HBaseSnapshots snapshots_;
};

}  // namespace sonde
