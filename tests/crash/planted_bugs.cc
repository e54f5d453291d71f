#include "planted_bugs.h"

#include <chrono>
#include <deque>
#include <filesystem>
#include <map>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "base/varint.h"
#include "engine/forwarding_engine.h"
#include "engine/rocks/files/log_scan.h"
#include "reference_workload.h"
#include "rocksdb/env.h"

namespace sonde {
namespace {

void Pause() { std::this_thread::sleep_for(std::chrono::microseconds(200)); }

// A change that owns its bytes.
class OwnedChanges {
 public:
  explicit OwnedChanges(absl::Span<const RowChange> changes) {
    for (const RowChange& change : changes) Add(change.row_key, change.delta);
  }
  void Add(std::string_view row_key, const RowDelta& delta) {
    RowChange& copy = changes_.emplace_back();
    copy.row_key = Own(row_key);
    copy.delta = delta;
    for (FamilyDelta& family : copy.delta.families) {
      for (auto& column : family.deletes) column.qualifier = Own(column.qualifier);
      for (CellView& put : family.puts) put = {Own(put.qualifier), put.timestamp_micros, Own(put.value)};
      for (auto& add : family.adds) add.qualifier = Own(add.qualifier);
    }
    if (!copy.delta.log.pieces.empty()) {
      pieces_.emplace_back(copy.delta.log.pieces.begin(), copy.delta.log.pieces.end());
      copy.delta.log.pieces = pieces_.back();
    }
  }
  absl::Span<const RowChange> changes() const { return changes_; }

 private:
  std::string_view Own(std::string_view bytes) { return bytes_.emplace_back(bytes); }

  std::deque<std::string> bytes_;
  std::deque<std::vector<std::string>> pieces_;
  std::vector<RowChange> changes_;
};

// The row as `decide` of Update gets it.
struct ReadRow {
  std::deque<std::string> bytes;
  std::vector<RowFamily> families;
};

absl::StatusOr<std::unique_ptr<ReadRow>> Read(Engine* engine, TableId table, std::string_view row_key) {
  auto result = std::make_unique<ReadRow>();
  auto stream = engine->Scan(table, {RowRange::Single(row_key)}, {});
  if (!stream.ok()) return stream.status();
  RowPiece piece;
  while (true) {
    const absl::StatusOr<bool> more = (*stream)->Next(&piece);
    if (!more.ok()) return more.status();
    if (!*more) return result;
    RowFamily& family = result->families.emplace_back();
    family.family = piece.family;
    for (const CellView& cell : piece.cells) {
      family.cells.push_back({result->bytes.emplace_back(cell.qualifier), cell.timestamp_micros,
                              result->bytes.emplace_back(cell.value)});
    }
  }
}

class BuggyEngine final : public ForwardingEngine {
 public:
  BuggyEngine(PlantedBug bug, RocksEngine* engine, const std::string& scratch_dir)
      : ForwardingEngine(engine), rocks_(engine), bug_(bug), scratch_dir_(scratch_dir) {}
  ~BuggyEngine() override {
    for (std::thread& thread : late_) thread.join();
  }

  absl::Status DropTable(TableId table, absl::Time deadline) override {
    if (bug_ == PlantedBug::kDroppedTableStays) return absl::OkStatus();
    return engine_->DropTable(table, deadline);
  }
  absl::Status Apply(TableId table, RowSource* rows, const WriteOptions& options) override {
    if (!options.may_wait) return engine_->Apply(table, rows, options);
    absl::Status status;
    while (const std::optional<absl::Span<const RowChange>> changes = rows->Next())
      status.Update(ApplyPart(table, *changes));
    return status;
  }

  absl::Status ApplyPart(TableId table, absl::Span<const RowChange> changes) {
    const uint64_t call = ++calls_;
    switch (bug_) {
      case PlantedBug::kAckBeforeWrite: {
        auto owned = std::make_shared<OwnedChanges>(changes);
        const absl::MutexLock lock(&mutex_);
        late_.emplace_back([this, table, owned] {
          Pause();
          engine_->Apply(table, owned->changes()).IgnoreError();
        });
        return absl::OkStatus();
      }
      case PlantedBug::kAppliedTwice: {
        absl::Status status = engine_->Apply(table, changes);
        return status.ok() && call % 5 == 0 ? engine_->Apply(table, changes) : status;
      }
      case PlantedBug::kBatchLostInTheMiddle:
        return call == 9 ? absl::OkStatus() : engine_->Apply(table, changes);
      case PlantedBug::kTornRow:
        return ApplyInParts(table, changes);
      case PlantedBug::kTornLog:
        return ApplyLogApart(table, changes);
      case PlantedBug::kAddReadsAndPuts:
        return ApplyAddsByReading(table, changes);
      case PlantedBug::kDeletedComesBack:
        Remember(table, changes);
        return engine_->Apply(table, changes);
      case PlantedBug::kRestartReusesTimestamp:
        return table == kVersionsTable ? ApplyAtTimesSinceTheStart(changes) : engine_->Apply(table, changes);
      default:
        return engine_->Apply(table, changes);
    }
  }

  absl::Status Update(TableId table, std::string_view row_key, const ReadHints& hints, const Decide& decide,
                      const WriteOptions& options) override {
    if (bug_ != PlantedBug::kUpdateOutsideTheRowLock && bug_ != PlantedBug::kStaleReadInUpdate) {
      return engine_->Update(table, row_key, hints, decide, options);
    }
    auto row = Read(engine_, table, row_key);
    if (!row.ok()) return row.status();
    Pause();
    if (bug_ == PlantedBug::kStaleReadInUpdate) {
      return engine_->Update(table, row_key, hints, [&](const auto&) { return decide((*row)->families); });
    }
    absl::StatusOr<std::optional<RowDelta>> delta = decide((*row)->families);
    if (!delta.ok() || !delta->has_value()) return delta.status();
    return engine_->Apply(table, {{row_key, **delta}});
  }

  absl::Status Checkpoint(TableId table, const std::string& directory) {
    if (early_copy_.empty()) return rocks_->Checkpoint(table, directory);
    std::filesystem::rename(std::exchange(early_copy_, ""), directory);
    return absl::OkStatus();
  }

  absl::Status Rest() {
    // What is in tables now is what a copy without the log would have.
    if (bug_ == PlantedBug::kCopyMissesTheLog) {
      for (int i = 0; early_copy_.empty() || std::filesystem::exists(early_copy_); ++i)
        early_copy_ = scratch_dir_ + "/early" + std::to_string(i);
      return rocks_->Checkpoint(kCrashTable, early_copy_);
    }
    if (bug_ == PlantedBug::kDeletedComesBack && deleted_ != nullptr) {
      return engine_->Apply(deleted_table_, deleted_->changes());
    }
    if (bug_ == PlantedBug::kCompactionDropsLiveRow) {
      const std::string row_key = "r7";
      RowDelta all;
      all.families.push_back({.family = 1, .delete_all = true});
      return engine_->Apply(3, {{row_key, all}});
    }
    return absl::OkStatus();
  }

 private:
  // Timestamps count up from the start of this engine: in the first life they are those that were asked for.
  absl::Status ApplyAtTimesSinceTheStart(absl::Span<const RowChange> changes) {
    std::vector<RowChange> timed(changes.begin(), changes.end());
    for (RowChange& change : timed) {
      change.delta.families.front().puts.front().timestamp_micros =
          1000 * ++given_[std::string(change.row_key)];
    }
    return engine_->Apply(kVersionsTable, timed);
  }

  absl::Status ApplyInParts(TableId table, absl::Span<const RowChange> changes) {
    for (const RowChange& change : changes) {
      for (const FamilyDelta& family : change.delta.families) {
        RowDelta part{.families = {family}};
        if (&family == &change.delta.families.back()) part.log = change.delta.log;
        if (absl::Status status = engine_->Apply(table, {{change.row_key, part}}); !status.ok())
          return status;
      }
    }
    return absl::OkStatus();
  }

  absl::Status ApplyLogApart(TableId table, absl::Span<const RowChange> changes) {
    for (const RowChange& change : changes) {
      RowDelta cells = change.delta;
      cells.log = {};
      if (absl::Status status = engine_->Apply(table, {{change.row_key, cells}}); !status.ok()) return status;
      if (change.delta.log.pieces.empty()) continue;
      RowDelta record{.families = {}, .log = change.delta.log};
      if (absl::Status status = engine_->Apply(table, {{change.row_key, record}}); !status.ok())
        return status;
    }
    return absl::OkStatus();
  }

  absl::Status ApplyAddsByReading(TableId table, absl::Span<const RowChange> changes) {
    const bool is_add = changes.size() == 1 && changes[0].delta.families.size() == 1 &&
                        changes[0].delta.families[0].adds.size() == 1 && changes[0].delta.log.pieces.empty();
    if (!is_add) return engine_->Apply(table, changes);
    const FamilyDelta& family = changes[0].delta.families[0];
    auto row = Read(engine_, table, changes[0].row_key);
    if (!row.ok()) return row.status();
    Pause();
    int64_t sum = family.adds[0].state;
    for (const RowFamily& read : (*row)->families) {
      uint64_t bits = 0;
      if (read.family != family.family || read.cells.empty()) continue;
      std::string_view bytes = read.cells[0].value;
      if (GetFixed64(&bytes, &bits)) sum += static_cast<int64_t>(bits);
    }
    RowDelta delta;
    FamilyDelta& replaced = delta.families.emplace_back(family);
    replaced.delete_all = true;
    replaced.adds[0].state = sum;
    return engine_->Apply(table, {{changes[0].row_key, delta}});
  }

  // What the first row that is deleted held.
  void Remember(TableId table, absl::Span<const RowChange> changes) {
    const bool is_delete = changes.size() == 1 && changes[0].delta.families.size() == 1 &&
                           changes[0].delta.families[0].delete_all &&
                           changes[0].delta.families[0].puts.empty();
    if (!is_delete || deleted_ != nullptr) return;
    auto row = Read(engine_, table, changes[0].row_key);
    if (!row.ok()) return;
    RowDelta delta;
    for (const RowFamily& family : (*row)->families) {
      delta.families.push_back({.family = family.family, .puts = family.cells});
    }
    deleted_ = std::make_unique<OwnedChanges>(absl::Span<const RowChange>());
    deleted_->Add(changes[0].row_key, delta);
    deleted_table_ = table;
  }

  RocksEngine* const rocks_;
  const PlantedBug bug_;
  const std::string scratch_dir_;
  std::string early_copy_;
  std::map<std::string, int64_t> given_;  // timestamps, by row key
  std::atomic<uint64_t> calls_ = 0;
  absl::Mutex mutex_;
  std::vector<std::thread> late_ ABSL_GUARDED_BY(mutex_);
  TableId deleted_table_ = 0;
  std::unique_ptr<OwnedChanges> deleted_;
};

}  // namespace

const std::vector<PlantedBugName>& PlantedBugNames() {
  static const std::vector<PlantedBugName> names = {
      {PlantedBug::kAckBeforeSync, "ack_before_sync"},
      {PlantedBug::kAckBeforeWrite, "ack_before_write"},
      {PlantedBug::kForgottenDirectorySync, "forgotten_directory_sync"},
      {PlantedBug::kFailedSyncTakenForDone, "failed_sync_taken_for_done"},
      {PlantedBug::kUpdateOutsideTheRowLock, "update_outside_the_row_lock"},
      {PlantedBug::kStaleReadInUpdate, "stale_read_in_update"},
      {PlantedBug::kAddReadsAndPuts, "add_reads_and_puts"},
      {PlantedBug::kAppliedTwice, "applied_twice"},
      {PlantedBug::kTornRow, "torn_row"},
      {PlantedBug::kTornLog, "torn_log"},
      {PlantedBug::kDeletedComesBack, "deleted_comes_back"},
      {PlantedBug::kCompactionDropsLiveRow, "compaction_drops_live_row"},
      {PlantedBug::kGcDropsLiveVersion, "gc_drops_live_version"},
      {PlantedBug::kRestartReusesTimestamp, "restart_reuses_timestamp"},
      {PlantedBug::kCopyMissesTheLog, "copy_misses_the_log"},
      {PlantedBug::kDroppedTableStays, "dropped_table_stays"},
      {PlantedBug::kLastRecordCutOff, "last_record_cut_off"},
      {PlantedBug::kBatchLostInTheMiddle, "batch_lost_in_the_middle"},
  };
  return names;
}

std::optional<PlantedBug> PlantedBugOf(std::string_view name) {
  for (const PlantedBugName& bug : PlantedBugNames()) {
    if (bug.name == name) return bug.bug;
  }
  return std::nullopt;
}

std::unique_ptr<Engine> PlantAbove(PlantedBug bug, RocksEngine* engine, const std::string& scratch_dir) {
  return std::make_unique<BuggyEngine>(bug, engine, scratch_dir);
}

absl::Status CheckpointWithBug(Engine* buggy, TableId table, const std::string& directory) {
  return dynamic_cast<BuggyEngine&>(*buggy).Checkpoint(table, directory);
}

int PlantInRule(std::optional<PlantedBug> bug, int versions_kept) {
  return bug == PlantedBug::kGcDropsLiveVersion ? versions_kept - 1 : versions_kept;
}

absl::Status PlantInRest(PlantedBug, Engine* buggy) { return dynamic_cast<BuggyEngine&>(*buggy).Rest(); }

void PlantBeforeOpen(PlantedBug bug, const std::string& data_dir) {
  if (bug != PlantedBug::kLastRecordCutOff) return;
  std::filesystem::path last_log;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(data_dir + "/cells", error)) {
    if (entry.path().extension() == ".log" && entry.path() > last_log) last_log = entry.path();
  }
  if (last_log.empty()) return;
  uint64_t last_record = 0;
  const auto scan = ScanLog(
      rocksdb::Env::Default(), last_log, [&](std::string_view, uint64_t offset) { last_record = offset; },
      nullptr);
  if (scan.ok() && scan->records_count > 0) std::filesystem::resize_file(last_log, last_record);
}

LossyFileSystem::Lies LiesOf(std::optional<PlantedBug> bug) {
  return {.about_syncs = bug == PlantedBug::kAckBeforeSync,
          .about_directory_syncs = bug == PlantedBug::kForgottenDirectorySync,
          .about_failed_syncs = bug == PlantedBug::kFailedSyncTakenForDone};
}

}  // namespace sonde
