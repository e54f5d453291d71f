// The embedded engine: cells as fragments in RocksDB, one entry a (table, row, family).  Each write is a
// merge operand. Cells stay in these entries until they settle in pages (docs/formats/data-directory.md,
// docs/architecture.md "Storage").
//
// Two databases lie in the data directory: `records` (records.h) and `cells` (cell_store.h), with the change
// logs as a column family of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/large_room.h"
#include "cellblock/page_writer.h"
#include "engine/engine.h"
#include "engine/rocks/files/disk_guard.h"
#include "engine/rocks/files/inventory.h"
#include "engine/rocks/files/inventory_keeper.h"
#include "engine/rocks/files/open_files.h"
#include "engine/rocks/files/scrubber.h"
#include "engine/rocks/files/tell.h"
#include "engine/rocks/files/write_stop.h"
#include "engine/rocks/log/change_log.h"
#include "engine/rocks/rocks_snapshots.h"
#include "engine/rocks/row_locks.h"
#include "engine/rocks/settle/compaction_room.h"
#include "engine/rocks/settle/settling.h"
#include "engine/rocks/settle/settling_schedule.h"
#include "engine/rocks/store/cell_store.h"
#include "engine/rocks/store/fragment_merge.h"
#include "engine/rocks/store/records.h"
#include "gc/gc_rule_evaluator.h"
#include "model/gc_rule.h"

namespace rocksdb {
class Cache;
class ColumnFamilyHandle;
class Env;
class FileLock;
struct Options;
enum class WALRecoveryMode : char;
}  // namespace rocksdb

namespace sonde {

struct RocksOptions {
  std::string data_dir;
  // The memory budget of the whole server (docs/compatibility.md, "Overload").  Half of it is for blocks,
  // write buffers (an eighth), and opened pages that reads hold, as far as `large_room` leaves that.  Opened
  // pages may have a quarter at most; reads of more are UNAVAILABLE.  A sixteenth is for opened pages that
  // nobody holds.  The rest is the caller's, for requests that are under way.
  uint64_t memory_bytes = uint64_t{1} << 30;
  // Large work takes its place here: settling, compactions, rows that are changed.  Null: it takes memory
  // without a place. Must outlive the engine.
  LargeRoom* large_room = nullptr;
  // Whether a write is synced to the disk before it is acknowledged.  A write that is not survives the end of
  // this process, but not the loss of power.
  bool sync = true;
  // How often the inventory (inventory.h) is brought up to date while there are writes.  Losses of the log
  // since the last inventory may not be noticed.
  absl::Duration inventory_interval = absl::Seconds(1);
  // Told what an operator should know: what a crash left, what cannot be written.
  Tell tell;
  // How often live tables are read and compared with their checksums, and how fast at most (scrubber.h).
  absl::Duration scrub_interval = absl::Hours(24);
  uint64_t scrub_bytes_per_second_max = uint64_t{32} << 20;
  // Measures how much room the disk has; null: the file system is asked (disk_guard.h).
  std::function<absl::StatusOr<DiskSpace>(const std::string& directory)> measure_disk;
  // Files, clock and threads; null: the machine's.  Must outlive the engine.
  rocksdb::Env* env = nullptr;
  // Whether cells settle, and pages are visited, by themselves.
  bool settles = true;
  // Bytes in long fragments that a row may get until the heads change roles, if cells settle by themselves.
  uint64_t long_row_bytes_max = uint64_t{16} << 20;
  // When a page is full; how much of a head settles at a time (settling.h); how much of it is enough to
  // settle (settling_schedule.h).  Tests make these small.
  PageLimits page;
  size_t settling_step_cells_max = size_t{512} << 10;
  size_t settling_step_bytes_max = size_t{16} << 20;
  uint64_t settling_head_cells_min = uint64_t{1} << 20;
  absl::Duration visit_interval = absl::Minutes(5);
  // Fragments of an entry that are longer together are not combined (fragment_merge.h).  Tests make it small.
  size_t combined_bytes_max = kCombinedBytesMax;
};

class RocksEngine final : public Engine, private RowLog, private RangeSizes {
 public:
  // FAILED_PRECONDITION: the directory holds something else, was written by a newer version, or is in use by
  // another process.  DATA_LOSS: a file is damaged, or an acknowledged write is missing; the text names the
  // file (open_check.h). PERMISSION_DENIED, RESOURCE_EXHAUSTED: as named.
  static absl::StatusOr<std::unique_ptr<RocksEngine>> Open(const RocksOptions& options);
  ~RocksEngine() override;

  using RowStore::Apply;

  EngineTraits traits() const override { return {}; }
  RowLog* log() override { return this; }
  Snapshots* snapshots() override { return &snapshots_; }
  RangeSizes* range_sizes() override { return this; }

  absl::Status WriteRecords(const std::vector<RecordChange>& changes,
                            absl::Time deadline = absl::InfiniteFuture()) override;
  absl::StatusOr<std::vector<Record>> ReadRecords(std::string_view prefix, absl::Time deadline) override;
  absl::StatusOr<int64_t> RecordsVersion(absl::Time deadline) override;

  // The engine remembers what may be forgotten until it is closed; settling drops it.
  absl::Status CreateTable(const TableSpec& spec, absl::Time deadline = absl::InfiniteFuture()) override;
  absl::Status AlterTable(const TableSpec& spec, absl::Time deadline = absl::InfiniteFuture()) override;
  absl::Status DropTable(TableId table, absl::Time deadline = absl::InfiniteFuture()) override;
  absl::Status DropFamily(TableId table, FamilyId family,
                          absl::Time deadline = absl::InfiniteFuture()) override;

  absl::StatusOr<std::unique_ptr<RowStream>> Scan(TableId table, std::vector<RowRange> ranges,
                                                  ScanOptions options) override;
  // A part is one commit.  If no change may wait, all parts are one commit.
  absl::Status Apply(TableId table, RowSource* rows, const WriteOptions& options) override;
  absl::Status Update(TableId table, std::string_view row_key, const ReadHints& hints, const Decide& decide,
                      const WriteOptions& options = {}) override;
  absl::Status DropRange(TableId table, const RowRange& range,
                         absl::Time deadline = absl::InfiniteFuture()) override;
  absl::StatusOr<std::vector<RangeStats>> Ranges(TableId table,
                                                 absl::Time deadline = absl::InfiniteFuture()) override;

  double WritePressure() const override { return store_->WritePressure(); }
  std::vector<Figure> Figures() const override;
  absl::Status CheckWrites(absl::Time deadline = absl::InfiniteFuture()) override;

  // Copies all tables into `directory`, which must not exist.  The copy is a consistent prefix of the commit
  // order: all writes that were acknowledged before the call are in it, and a write that comes meanwhile is
  // in it only with all writes before it.  Files are hard links if the disk is the same.  Reads and writes go
  // on.  The copy can be opened as a data directory.  FAILED_PRECONDITION: the directory exists already, or
  // cannot be made.
  absl::Status Checkpoint(const std::string& directory);
  // Copies one table: makes a copy of all tables, and takes the other tables and the records out of it.
  // Files that belong wholly to these go.  A file that tables share stays, but nobody can read its entries of
  // other tables.  While the copy is made, `directory` has the suffix ".part".
  absl::Status Checkpoint(TableId table, const std::string& directory);
  // Opens a copy to read it, in little memory.
  absl::StatusOr<std::unique_ptr<RocksEngine>> OpenCopy(const std::string& directory) const;

  // Makes one step of settling.  Returns false if all of the resting head has settled.  Errors as
  // Settling::Step.
  absl::StatusOr<bool> SettleStep() { return settling_->Step(); }
  // Settles the resting head, and lets the open one rest.
  absl::Status SwitchHeads() { return settling_->Switch(); }
  // Settles all writes from before the call.  Calls `after_step` (may be null) after each step; an error of it ends the work.
  absl::Status SettleAll(const std::function<absl::Status()>& after_step = nullptr);
  // Visits all pages for what may be forgotten.
  absl::Status VisitPages();
  SettlingCounts settling_counts() const { return settling_->counts(); }
  PageTotals page_totals() const { return settling_->page_totals(); }
  SpaceCounts space_counts() const { return schedule_->space_counts(); }
  // Bytes of the pages that current reads hold.
  size_t open_pages_bytes() const { return store_->page_budget()->lent_bytes(); }
  HeadLoad open_head_load() const { return store_->OpenHeadLoad(); }

  // Sets how much blocks, write buffers and opened pages that reads hold may take from now on.
  void SetCacheBytes(uint64_t bytes);
  // How many of these bytes count as in the cache now.
  uint64_t cache_bytes() const;
  // Writes large writes from memory to files.
  void FlushLarge() { store_->FlushLarge(); }

  // Flushes and compacts everything; for tests and benchmarks.
  absl::Status CompactAll();

  // Reads all tables now.  DATA_LOSS: the text names the first file that is not as it was written.
  absl::Status Scrub() { return scrubber_->Pass(); }
  ScrubProgress scrub_progress() const { return scrubber_->progress(); }

 private:
  explicit RocksEngine(const RocksOptions& options);
  absl::Status LockAndCheckDirectory();
  absl::Status OpenRecords();
  absl::Status OpenCells();
  absl::Status StartKeeping();
  static absl::StatusOr<std::unique_ptr<RocksEngine>> OpenOnce(const RocksOptions& options);
  // Adds the cells of the copy of a table to another table, by files in the directory `work`.
  absl::Status RestoreCopy(const std::string& directory, TableId table, TableId into, const std::string& work,
                           const Snapshots::RestoreOptions& options);
  // Settles the heads, if the table has cells there, and compacts its pages.
  absl::Status OptimizeTable(TableId table, const Snapshots::RestoreOptions& options);
  // Takes all but one table out of a copy, which must not be open.
  absl::Status ReduceCopy(const std::string& directory, TableId table) const;
  absl::Status KeepOnly(TableId table);
  void SetCompactionRoom(const std::string& cells_path);
  // Checks both databases before either is opened.  It refuses damage.
  absl::Status CheckDatabases();
  // Adds to a database's settings the check's findings, and listeners to its files and errors.
  void Guard(const std::string& name, rocksdb::Options* settings) const;
  void TellOf(TellLevel level, const std::string& text) const;

  GcRuleEvaluator GcRuleOf(TableId table, FamilyId family) const;

  // -- RowLog --
  absl::StatusOr<End> FindEnd(TableId table, const RowRange& partition, int64_t frontier_min,
                              absl::Time deadline) override;
  absl::Status Read(TableId table, const RowRange& partition, int64_t start, uint32_t start_index,
                    int64_t through, const std::function<bool(const Piece&)>& visit,
                    absl::Time deadline) override;
  absl::Status Trim(TableId table, int64_t position, absl::Time deadline) override;
  // -- RangeSizes --
  absl::StatusOr<std::vector<uint64_t>> Measure(TableId table, const std::vector<std::string>& starts,
                                                const std::string& end, absl::Time deadline) override;
  absl::StatusOr<DividedRanges> Divide(TableId table, FamilyId family,
                                       const std::vector<RowRange>& ranges) override;

  // Checks before each call that the table exists and the deadline has not passed.
  absl::Status CheckCall(TableId table, absl::Time deadline) const;
  // Applies a part of Apply whose changes may wait.  Its error is the status of all changes that were not
  // refused.
  absl::Status ApplyPart(TableId table, absl::Span<const RowChange> changes,
                         const std::function<void(size_t index, const absl::Status& why)>& refuse);
  absl::Status ApplyTogether(TableId table, RowSource* rows);
  absl::StatusOr<bool> HasWhatGuardForbids(TableId table, const RowChange& change) const;

  const RocksOptions options_;
  OpenFilesEnv own_env_;
  rocksdb::Env* const env_;
  const std::function<absl::StatusOr<DiskSpace>(const std::string& directory)> measure_disk_;
  uint64_t disk_reserve_bytes_min_ = 0;
  rocksdb::FileLock* lock_ = nullptr;
  int format_ = 0;       // the directory's format when it was opened
  Inventory inventory_;  // when the directory was opened
  std::map<std::string, rocksdb::WALRecoveryMode> recovery_modes_;  // by database
  bool opens_tables_later_ = false;                                 // a table of the cells is damaged
  // Before the databases, as it knows their files and errors.
  InventoryKeeper inventory_keeper_;
  WriteStop write_stop_;
  CompactionRoom compaction_room_;  // for the cells' database
  // Before store_: its merge function uses the shapes until the last compaction has ended.
  Records records_;

  using GcRules = absl::flat_hash_map<FamilyId, GcRule>;
  mutable absl::Mutex gc_rules_mutex_;
  absl::flat_hash_map<TableId, GcRules> gc_rules_ ABSL_GUARDED_BY(gc_rules_mutex_);

  // A writer takes the open head first, then locks of rows, so that a thread that waits for the heads to
  // switch holds no row.
  RowLocks row_locks_;
  std::shared_ptr<rocksdb::Cache> cache_;
  std::unique_ptr<CellStore> store_;
  std::unique_ptr<ChangeLog> log_;
  std::unique_ptr<Settling> settling_;
  // After the databases, as these look into them.
  std::unique_ptr<DiskGuard> disk_guard_;
  std::unique_ptr<Scrubber> scrubber_;
  std::unique_ptr<SettlingSchedule> schedule_;
  RocksSnapshots snapshots_;
};

}  // namespace sonde
