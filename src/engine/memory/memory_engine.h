// The engine that keeps all data in maps, and forgets it when it ends.  It is the reference that the
// conformance suite (tests/engine) is written against, and the engine of fast tests of upper layers.
//
// Threads: all functions may be called at once.  One lock is for all: reads share it, a row at a time; Apply,
// Update and drops take it alone.  So `decide` must not call the engine, Apply is atomic over its rows (more
// than Engine promises), and a scan's deadline is checked between rows.  A scan goes on after its table was
// dropped, and then ends as if the table were empty.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "engine/engine.h"
#include "engine/engine_errors.h"
#include "engine/memory/memory_table.h"

namespace sonde {

struct MemoryEngineOptions {
  // false: scans return every cell of every row, as an engine may.  true: scans return no cell that the hints
  // leave out.
  bool honour_hints = true;
  // How many cells of a family come in one piece; at least 1.  Small numbers show whether a reader can join
  // pieces.
  size_t cells_per_piece_max = 1024;
};

class MemoryEngine final : public Engine, private RowLog, private RangeSizes, private Snapshots {
 public:
  static std::unique_ptr<MemoryEngine> Create(MemoryEngineOptions options = {});

  using RowStore::Apply;

  EngineTraits traits() const override { return {}; }
  RowLog* log() override { return this; }
  Snapshots* snapshots() override { return this; }
  RangeSizes* range_sizes() override { return this; }

  absl::Status WriteRecords(const std::vector<RecordChange>& changes, absl::Time deadline) override;
  absl::StatusOr<std::vector<Record>> ReadRecords(std::string_view prefix, absl::Time deadline) override;
  absl::StatusOr<int64_t> RecordsVersion(absl::Time deadline) override;

  absl::Status CreateTable(const TableSpec& spec, absl::Time deadline = absl::InfiniteFuture()) override;
  absl::Status AlterTable(const TableSpec& spec, absl::Time deadline = absl::InfiniteFuture()) override;
  absl::Status DropTable(TableId table, absl::Time deadline = absl::InfiniteFuture()) override;
  absl::Status DropFamily(TableId table, FamilyId family,
                          absl::Time deadline = absl::InfiniteFuture()) override;

  absl::StatusOr<std::unique_ptr<RowStream>> Scan(TableId table, std::vector<RowRange> ranges,
                                                  ScanOptions options) override;
  absl::Status Apply(TableId table, RowSource* rows, const WriteOptions& options) override;
  absl::Status Update(TableId table, std::string_view row_key, const ReadHints& hints, const Decide& decide,
                      const WriteOptions& options = {}) override;
  absl::Status DropRange(TableId table, const RowRange& range,
                         absl::Time deadline = absl::InfiniteFuture()) override;
  // One range: the whole table.
  absl::StatusOr<std::vector<RangeStats>> Ranges(TableId table,
                                                 absl::Time deadline = absl::InfiniteFuture()) override;

  double WritePressure() const override { return 0; }  // there is nothing to wait for
  // Figures: tables, rows, and pieces in the change logs.
  std::vector<Figure> Figures() const override;
  absl::Status CheckWrites(absl::Time deadline) override { return CheckDeadline(deadline); }

 private:
  class Stream;

  explicit MemoryEngine(MemoryEngineOptions options) : options_(options) {}

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
  // -- Snapshots --
  absl::Status Make(std::string_view name, TableId table, absl::Time deadline) override;
  absl::StatusOr<std::vector<Facts>> List(absl::Time deadline) override;
  absl::Status Restore(std::string_view name, TableId into, const RestoreOptions& options) override;
  absl::Status Optimize(TableId table, const RestoreOptions& options) override;
  absl::Status Drop(std::string_view name, absl::Time deadline) override;

  // Returns the hints that this engine follows.
  ReadHints Followed(const ReadHints& hints) const;
  // Returns null if there is no such table.
  MemoryTable* FindTable(TableId table) ABSL_SHARED_LOCKS_REQUIRED(lock_);

  const MemoryEngineOptions options_;
  mutable absl::Mutex lock_;
  std::map<TableId, MemoryTable> tables_ ABSL_GUARDED_BY(lock_);
  std::map<std::string, Record, std::less<>> records_ ABSL_GUARDED_BY(lock_);
  int64_t records_version_ ABSL_GUARDED_BY(lock_) = 1;
  struct Snapshot {
    TableId table = 0;
    MemoryTable copy;
  };
  std::map<std::string, Snapshot, std::less<>> snapshots_ ABSL_GUARDED_BY(lock_);
};

}  // namespace sonde
