#include "engine/rocks/rocks_engine.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <shared_mutex>

#include "base/bytes.h"
#include "cellblock/fragment.h"
#include "engine/rocks/checkpoint.h"
#include "engine/rocks/engine_figures.h"
#include "engine/rocks/files/data_directory.h"
#include "engine/rocks/files/open_check.h"
#include "engine/rocks/files/rocks_status.h"
#include "engine/rocks/files/sync_directory.h"
#include "engine/rocks/scan/range_sizes.h"
#include "engine/rocks/scan/rocks_scan.h"
#include "engine/rocks/scan/whole_row.h"
#include "engine/rocks/settle/large_compactions.h"
#include "engine/rocks/store/fragment_merge.h"
#include "engine/rocks/store/key.h"
#include "engine/rocks/store/rocks_settings.h"
#include "model/expiring_family.h"
#include "model/limits.h"
#include "rocksdb/advanced_cache.h"
#include "rocksdb/convenience.h"
#include "rocksdb/db.h"
#include "rocksdb/env.h"
#include "rocksdb/table.h"

namespace sonde {
namespace {

// The two databases' directories.
constexpr char kRecords[] = "records";
constexpr char kCells[] = "cells";

// RocksDB recovers from a full disk by itself only while the size of a write buffer is free.
constexpr uint64_t kReserveWriteBuffers = 2;
// A step of settling takes up to twice its limit, which goes to the log and to tables.
constexpr uint64_t kDiskBytesPerStepByte = 4;

// Of a copy that is not done.
constexpr char kPartSuffix[] = ".part";
// To take the other tables out of it.
constexpr uint64_t kCopyMemoryBytes = uint64_t{32} << 20;

// Of the memory, for pages that are taken apart.
constexpr uint64_t kPageCacheShare = 16;
// Of the memory, for what is known of the directory of pages: some hundred bytes a page.
constexpr uint64_t kDirectoryCacheShare = 128;
// Of the memory, for those that reads hold; half of what the blocks have, which make room for them.
constexpr uint64_t kOpenPagesShare = 4;
// A server has at least 64 MiB; with less, as in tests, some dozens of reads may still hold one each.
constexpr uint64_t kOpenPagesBytesMin = uint64_t{16} << 20;

// What a thread keeps for its next write.  A value may have a hundred times as much, and there are many
// threads.
constexpr size_t kScratchBytesMax = 1 << 20;

// A string that grows by itself may take twice its size, and half of that while it moves.
void ReserveForLarge(const FamilyDelta& delta, std::string* value) {
  size_t bytes = 0;
  for (const auto& put : delta.puts) bytes += put.qualifier.size() + put.value.size();
  if (bytes >= kScratchBytesMax) value->reserve(bytes + bytes / 16);
}

// Counts the change, but for the bytes of all.
void AppendChange(TableId table, const RowChange& change, const ShapeSource& shapes,
                  rocksdb::ColumnFamilyHandle* head, rocksdb::WriteBatch* batch, HeadLoad* load,
                  CellStore::LongFragments* long_fragments) {
  static thread_local std::string key, value;  // scratch: this runs for every row of every write
  key.clear();
  AppendRowPrefix(table, change.row_key, &key);
  const size_t prefix_bytes = key.size();
  for (const FamilyDelta& delta : change.delta.families) {
    key.resize(prefix_bytes);
    AppendFamily(delta.family, &key);
    value.clear();
    ReserveForLarge(delta, &value);
    EncodeFragment(delta, shapes, &value);
    batch->Merge(head, key, value);
    load->cells += delta.puts.size() + delta.adds.size();
    load->deletes += delta.deletes.size() + (delta.delete_all ? 1 : 0);
    if (value.size() >= kFragmentApartBytesMin) long_fragments->emplace_back(change.row_key, value.size());
  }
  if (value.capacity() > kScratchBytesMax) std::string().swap(value);
}

bool AddsCells(const RowChange& change) {
  const std::vector<FamilyDelta>& families = change.delta.families;
  return std::any_of(families.begin(), families.end(),
                     [](const FamilyDelta& family) { return !family.puts.empty() || !family.adds.empty(); });
}

bool IsLogged(const RowChange& change) { return !change.delta.log.pieces.empty(); }

CellStore::WhenHeld WhenHeld(bool adds_cells) {
  return adds_cells ? CellStore::WhenHeld::kRefuse : CellStore::WhenHeld::kRefuseWhenStopped;
}

}  // namespace

RocksEngine::RocksEngine(const RocksOptions& options)
    : options_(options),
      own_env_(options.env != nullptr ? options.env : rocksdb::Env::Default()),
      env_(&own_env_),
      measure_disk_(options.measure_disk ? options.measure_disk : MeasureDisk),
      inventory_keeper_(env_, options_.data_dir, options_.sync, options_.inventory_interval,
                        [this](TellLevel level, const std::string& text) { TellOf(level, text); }),
      write_stop_(options_.tell),
      compaction_room_(env_),
      records_(&write_stop_) {}

RocksEngine::~RocksEngine() {
  schedule_.reset();
  scrubber_.reset();
  disk_guard_.reset();
  inventory_keeper_.Stop();
  settling_.reset();
  log_.reset();
  store_.reset();
  records_.Close();
  if (lock_ != nullptr) env_->UnlockFile(lock_).PermitUncheckedError();
}

absl::StatusOr<std::unique_ptr<RocksEngine>> RocksEngine::Open(const RocksOptions& options) {
  absl::StatusOr<std::unique_ptr<RocksEngine>> engine = OpenOnce(options);
  // What the ballast was kept for.
  if (absl::IsResourceExhausted(engine.status()) && DiskGuard::ReleaseBallast(options.data_dir)) {
    if (options.tell) {
      options.tell(TellLevel::kWarning,
                   std::string(engine.status().message()) + "; once more, without the ballast");
    }
    engine = OpenOnce(options);
  }
  return engine;
}

absl::StatusOr<std::unique_ptr<RocksEngine>> RocksEngine::OpenOnce(const RocksOptions& options) {
  std::unique_ptr<RocksEngine> engine(new RocksEngine(options));
  for (const auto step : {&RocksEngine::LockAndCheckDirectory, &RocksEngine::CheckDatabases,
                          &RocksEngine::OpenRecords, &RocksEngine::OpenCells, &RocksEngine::StartKeeping}) {
    if (absl::Status status = (engine.get()->*step)(); !status.ok()) return status;
  }
  if (options.settles) engine->schedule_->Start();
  return engine;
}

void RocksEngine::TellOf(TellLevel level, const std::string& text) const {
  if (options_.tell) options_.tell(level, text);
}

absl::Status RocksEngine::LockAndCheckDirectory() {
  const absl::StatusOr<int> format = PrepareDataDirectory(env_, options_.data_dir, &lock_);
  if (!format.ok()) return format.status();
  format_ = *format;
  std::string note;
  absl::StatusOr<std::optional<Inventory>> inventory = ReadInventory(env_, options_.data_dir, &note);
  if (!inventory.ok()) return inventory.status();
  if (!note.empty()) TellOf(TellLevel::kWarning, note);
  if (!inventory->has_value() && format_ >= kInventoryFormat) {
    return absl::DataLossError(fmt::format("{}/{} is missing: put it back from a copy of the directory",
                                           options_.data_dir, kInventoryFile));
  }
  inventory_ = (*std::move(inventory)).value_or(Inventory());
  return absl::OkStatus();
}

absl::Status RocksEngine::CheckDatabases() {
  for (const std::string name : {kRecords, kCells}) {
    const auto known = inventory_.databases.find(name);
    // Records are synced whatever the session was.
    absl::StatusOr<OpenPlan> plan =
        CheckBeforeOpen(env_, options_.data_dir, name,
                        known == inventory_.databases.end() ? std::nullopt : std::optional(known->second),
                        inventory_.synced || name == kRecords);
    if (!plan.ok()) return plan.status();
    for (const OpenPlan::Note& note : plan->notes) TellOf(note.level, note.text);
    if (plan->damaged_table.has_value()) {
      // Of the records, all are needed.
      if (name == kRecords) {
        return absl::DataLossError(
            fmt::format("Opening {}/{}: {}", options_.data_dir, name, *plan->damaged_table));
      }
      opens_tables_later_ = true;
      TellOf(TellLevel::kWarning,
             fmt::format(
                 "A table of {}/{} cannot be opened: what lies in it is DATA_LOSS, the rest is served. Put "
                 "the file back from a copy. {}",
                 options_.data_dir, name, *plan->damaged_table));
    }
    recovery_modes_[name] = plan->recovery_mode;
  }
  return absl::OkStatus();
}

void RocksEngine::Guard(const std::string& name, rocksdb::Options* settings) const {
  settings->wal_recovery_mode = recovery_modes_.at(name);
  settings->listeners.push_back(inventory_keeper_.MakeListener());
  settings->listeners.push_back(write_stop_.MakeListener(options_.data_dir + "/" + name));
}

absl::Status RocksEngine::OpenRecords() {
  rocksdb::Options settings = RecordsSettings(env_);
  Guard(kRecords, &settings);
  return records_.Open(settings, options_.data_dir + "/" + kRecords);
}

absl::Status RocksEngine::StartKeeping() {
  const auto tell = [this](TellLevel level, const std::string& text) { TellOf(level, text); };
  DiskGuard::Options disk{.data_dir = options_.data_dir,
                          .measure = measure_disk_,
                          .reserve_bytes_min = disk_reserve_bytes_min_,
                          .unflushed_bytes =
                              [this] {
                                uint64_t bytes = 0;
                                store_->db()->GetAggregatedIntProperty(
                                    rocksdb::DB::Properties::kSizeAllMemTables, &bytes);
                                return bytes;
                              },
                          .set_compaction_room = [this](uint64_t bytes) { compaction_room_.Set(bytes); },
                          .flush =
                              [this] {
                                rocksdb::FlushOptions flush;
                                flush.wait = false;
                                flush.allow_write_stall = true;
                                store_->Flush(flush).PermitUncheckedError();
                              },
                          .tell = tell};
  disk_guard_ = std::make_unique<DiskGuard>(std::move(disk));
  scrubber_ = std::make_unique<Scrubber>(
      env_,
      std::map<std::string, rocksdb::DB*>{{options_.data_dir + "/" + kRecords, records_.db()},
                                          {options_.data_dir + "/" + kCells, store_->db()}},
      Scrubber::Options{.interval = options_.scrub_interval,
                        .bytes_per_second_max = options_.scrub_bytes_per_second_max,
                        .tell = tell});
  absl::Status status = inventory_keeper_.Start({{kRecords, records_.db()}, {kCells, store_->db()}});
  // The one that is there stays true; a disk that is full is no reason not to start.
  if (absl::IsResourceExhausted(status) && format_ == kFormat) {
    TellOf(TellLevel::kWarning, std::string(status.message()));
    return absl::OkStatus();
  }
  if (status.ok() && format_ < kFormat) status = WriteFormat(env_, options_.data_dir);
  return status;
}

// What compactions may write until the disk guard looks for the first time.
void RocksEngine::SetCompactionRoom(const std::string& cells_path) {
  const absl::StatusOr<DiskSpace> space = measure_disk_(options_.data_dir);
  uint64_t room_bytes = UINT64_MAX / 2;  // the disk itself will tell
  if (space.ok()) {
    const uint64_t reserve_bytes = DiskGuard::ReserveBytes(*space, disk_reserve_bytes_min_);
    room_bytes = space->free_bytes - std::min(space->free_bytes, reserve_bytes);
  }
  compaction_room_.Set(room_bytes, BytesOfTables(env_, cells_path));
}

absl::Status RocksEngine::OpenCells() {
  const std::string path = options_.data_dir + "/" + kCells;
  rocksdb::Options settings = CellsSettings(
      env_, options_.memory_bytes, MakeFragmentMerge(records_.shapes(), options_.combined_bytes_max),
      [this](TableId table, FamilyId family) {
        return records_.IsDropped(table, family) ||
               (IsExpiringFamily(family) && IsExpired(family, static_cast<int64_t>(env_->NowMicros())));
      });
  Guard(kCells, &settings);
  if (opens_tables_later_) {
    OpenTablesLater(&settings);
    write_stop_.GoOnWithDamage();
  }
  std::shared_ptr<LargeCompactions> compactions;
  if (options_.large_room != nullptr) {
    compactions = std::make_shared<LargeCompactions>(options_.large_room);
    settings.listeners.push_back(compactions);
  }
  settings.sst_file_manager = compaction_room_.manager();
  disk_reserve_bytes_min_ = kReserveWriteBuffers * settings.write_buffer_size;
  SetCompactionRoom(path);
  // As CellStore::ColumnFamily.
  const rocksdb::ColumnFamilyOptions head = HeadSettings(settings);
  const rocksdb::ColumnFamilyOptions of_each[] = {
      head, head, PagesSettings(settings), DirectorySettings(settings),
      LogSettings(settings, [this](TableId table) { return records_.IsDropped(table, 0); })};
  std::vector<rocksdb::ColumnFamilyDescriptor> column_families;
  for (size_t i = 0; i < CellStore::kColumnFamilies; ++i) {
    column_families.emplace_back(CellStore::ColumnFamilyNames()[i], of_each[i]);
  }
  const auto now_micros = [this] { return static_cast<int64_t>(env_->NowMicros()); };
  absl::StatusOr<std::unique_ptr<CellStore>> store = CellStore::Open(
      settings, path, column_families, records_.shapes(),
      {.sync = options_.sync,
       .check_writes = [this] { return write_stop_.Check(); },
       .now_micros = now_micros,
       .page_cache_bytes = options_.memory_bytes / kPageCacheShare,
       .directory_cache_bytes = options_.memory_bytes / kDirectoryCacheShare,
       .open_pages_bytes_max = std::max(options_.memory_bytes / kOpenPagesShare, kOpenPagesBytesMin),
       .block_cache = settings.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>()->block_cache,
       .is_dropped = [this](TableId table, FamilyId family) { return records_.IsDropped(table, family); },
       // Of heads that nobody empties, nobody should wait for that.
       .long_row_bytes_max =
           options_.settles ? options_.long_row_bytes_max : std::numeric_limits<uint64_t>::max(),
       .large_room = options_.large_room});
  if (!store.ok()) return store.status();
  store_ = *std::move(store);
  if (compactions != nullptr) compactions->Start(&store_->long_rows());
  cache_ = settings.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>()->block_cache;
  log_ = std::make_unique<ChangeLog>(store_->db(), store_->column_family(CellStore::kLog));
  // What a step holds, it holds in memory.
  const size_t step_bytes_max = std::min(options_.settling_step_bytes_max, settings.write_buffer_size);
  settling_ = std::make_unique<Settling>(
      store_.get(), [this](TableId table, FamilyId family) { return GcRuleOf(table, family); },
      Settling::Options{.page = options_.page,
                        .step_cells_max = options_.settling_step_cells_max,
                        .step_bytes_max = step_bytes_max,
                        .now_micros = now_micros});
  schedule_ = std::make_unique<SettlingSchedule>(
      store_.get(), settling_.get(),
      SettlingSchedule::Options{
          .head_cells_min = options_.settling_head_cells_min,
          .visit_interval = options_.visit_interval,
          .has_room =
              [this, step_bytes_max] {
                return disk_guard_->HasRoomForStep(kDiskBytesPerStepByte * step_bytes_max);
              },
          .tell = [this](TellLevel level, const std::string& text) { TellOf(level, text); }});
  return SyncDirectory(env_, options_.data_dir);  // now both databases have their entries
}

void RocksEngine::SetCacheBytes(uint64_t bytes) {
  if (cache_->GetCapacity() != bytes) cache_->SetCapacity(bytes);
}

uint64_t RocksEngine::cache_bytes() const { return cache_->GetUsage(); }

GcRuleEvaluator RocksEngine::GcRuleOf(TableId table, FamilyId family) const {
  const absl::ReaderMutexLock lock(&gc_rules_mutex_);
  return gc_rules_ ? gc_rules_(table, family) : GcRuleEvaluator();
}

void RocksEngine::SetGcRules(Settling::Rules rules) {
  const absl::WriterMutexLock lock(&gc_rules_mutex_);
  gc_rules_ = std::move(rules);
}

absl::Status RocksEngine::DropTable(TableId table) {
  if (absl::Status status = records_.DropTable(table); !status.ok()) return status;
  // From here on nobody reads it; what follows gives the space back.
  if (absl::Status status = settling_->FreeTable(table); !status.ok()) return status;
  return log_->Drop(table);
}

absl::Status RocksEngine::DropFamily(TableId table, FamilyId family) {
  if (absl::Status status = records_.CheckTable(table); !status.ok()) return status;
  if (absl::Status status = records_.DropFamily(table, family); !status.ok()) return status;
  return settling_->FreeFamily(table, family);
}

absl::StatusOr<std::unique_ptr<RowStream>> RocksEngine::Scan(TableId table, std::vector<RowRange> ranges,
                                                             ScanOptions options) {
  if (absl::Status status = records_.CheckTable(table); !status.ok()) return status;
  return std::make_unique<RocksScan>(store_.get(), table, std::move(ranges), std::move(options));
}

bool RocksEngine::RowMustWait(TableId table, std::string_view row_key) {
  if (store_->long_rows().AnyFull() && store_->long_rows().IsFull(table, row_key)) return true;
  const std::shared_lock lock(row_locks_.stripe(row_locks_.StripeOf(table, row_key)), std::try_to_lock);
  return !lock.owns_lock();
}

absl::Status RocksEngine::Apply(TableId table, absl::Span<const RowChange> changes) {
  if (absl::Status status = records_.CheckTable(table); !status.ok()) return status;
  RowEdits edits;
  edits.adds_cells = std::any_of(changes.begin(), changes.end(), AddsCells);
  for (size_t i = 0; i < changes.size() && edits.adds_cells && store_->long_rows().AnyFull(); ++i) {
    if (absl::Status status = store_->AwaitLongRow(table, changes[i].row_key); !status.ok()) return status;
  }
  CellStore::OpenHead head(store_.get());
  // Twice, here and in Commit: before shapes are learned, and when it is known how much there is.
  if (absl::Status status = disk_guard_->AdmitWrite(); edits.adds_cells && !status.ok()) return status;
  Gather(table, changes, head, &edits);
  const bool logged = std::any_of(changes.begin(), changes.end(), IsLogged);
  return Commit(table, logged ? changes : absl::Span<const RowChange>(), &head, &edits);
}

absl::Status RocksEngine::ApplyParts(TableId table, const NextChanges& next) {
  if (absl::Status status = records_.CheckTable(table); !status.ok()) return status;
  RowEdits edits;
  CellStore::OpenHead head(store_.get());
  while (const std::optional<absl::Span<const RowChange>> changes = next()) {
    if (std::any_of(changes->begin(), changes->end(), AddsCells)) {
      // The heads do not change roles while this has one of them, so that it must not wait for a row.
      if (store_->long_rows().AnyFull()) return absl::AbortedError("A row must settle before it can grow");
      if (absl::Status status = disk_guard_->AdmitWrite(); !status.ok()) return status;
      edits.adds_cells = true;
    }
    Gather(table, *changes, head, &edits);
  }
  return Commit(table, {}, &head, &edits);
}

void RocksEngine::Gather(TableId table, absl::Span<const RowChange> changes, const CellStore::OpenHead& head,
                         RowEdits* edits) {
  const LearningTableShapes shapes(records_.shapes(), table);
  if (edits->stripes.empty()) edits->stripes.reserve(changes.size());
  for (const RowChange& change : changes) {
    AppendChange(table, change, shapes, head.get(), &edits->batch, &edits->load, &edits->long_fragments);
    edits->stripes.push_back(row_locks_.StripeOf(table, change.row_key));
  }
}

absl::Status RocksEngine::Commit(TableId table, absl::Span<const RowChange> logged, CellStore::OpenHead* head,
                                 RowEdits* edits) {
  edits->load.bytes = edits->batch.GetDataSize();
  if (edits->adds_cells) {
    if (absl::Status status = disk_guard_->AdmitWrite(edits->load.bytes); !status.ok()) return status;
  }
  head->Add(edits->load, table, edits->long_fragments);
  // The log tells in which order the changes of a row were applied, so they are applied one by one.
  const BatchRowLocks locks(&row_locks_, std::move(edits->stripes), /*alone=*/!logged.empty());
  const CellStore::WhenHeld when_held = WhenHeld(edits->adds_cells);
  if (logged.empty()) return store_->Write(&edits->batch, "Writing rows", when_held);
  ChangeLog::Commit commit(log_.get());
  if (absl::Status status = commit.Add(table, logged, &edits->batch); !status.ok()) return status;
  return store_->Write(&edits->batch, "Writing rows", when_held);
}

absl::Status RocksEngine::Update(TableId table, std::string_view row_key, const ReadHints& hints,
                                 const Decide& decide) {
  if (absl::Status status = records_.CheckTable(table); !status.ok()) return status;
  // What it decides is not known yet: if it only deletes, it need not have found room.
  const absl::Status row_has_room = store_->AwaitLongRow(table, row_key);
  CellStore::OpenHead head(store_.get());
  std::unique_lock lock(row_locks_.stripe(row_locks_.StripeOf(table, row_key)));

  WholeRow row(options_.large_room);
  if (absl::Status status = row.Read(store_.get(), table, row_key, hints); !status.ok()) return status;
  absl::StatusOr<std::optional<RowDelta>> delta = decide(row.families());
  if (!delta.ok()) return delta.status();
  if (!delta->has_value()) return absl::OkStatus();
  const RowChange change{row_key, *std::move(*delta)};
  const bool adds_cells = AddsCells(change);
  if (adds_cells && !row_has_room.ok()) return row_has_room;
  if (absl::Status status = disk_guard_->AdmitWrite(); adds_cells && !status.ok()) return status;
  rocksdb::WriteBatch batch;
  HeadLoad load;
  CellStore::LongFragments long_fragments;
  AppendChange(table, change, LearningTableShapes(records_.shapes(), table), head.get(), &batch, &load,
               &long_fragments);
  load.bytes = batch.GetDataSize();
  if (adds_cells) {
    if (absl::Status status = disk_guard_->AdmitWrite(load.bytes); !status.ok()) return status;
  }
  head.Add(load, table, long_fragments);
  ChangeLog::Commit commit(log_.get());
  if (IsLogged(change)) {
    if (absl::Status status = commit.Add(table, {&change, 1}, &batch); !status.ok()) return status;
  }
  return store_->Write(&batch, "Writing a row", WhenHeld(adds_cells));
}

absl::Status RocksEngine::DropRange(TableId table, const RowRange& range) {
  if (absl::Status status = records_.CheckTable(table); !status.ok()) return status;
  if (range.IsEmpty()) return absl::OkStatus();
  return settling_->DropRange(table, range);
}

absl::StatusOr<std::vector<RangeStats>> RocksEngine::Ranges(TableId table) {
  if (absl::Status status = records_.CheckTable(table); !status.ok()) return status;
  return MeasureRanges(*store_, table);
}

absl::StatusOr<std::vector<uint64_t>> RocksEngine::MeasureRows(TableId table,
                                                               const std::vector<std::string>& starts,
                                                               const std::string& end) {
  if (absl::Status status = records_.CheckTable(table); !status.ok()) return status;
  return MeasureRowRanges(*store_, table, starts, end);
}

absl::StatusOr<Engine::LogEnd> RocksEngine::FindLogEnd(TableId table, int64_t frontier_min) {
  if (absl::Status status = records_.CheckTable(table); !status.ok()) return status;
  return log_->FindEnd(table, frontier_min);
}

absl::Status RocksEngine::ReadLog(TableId table, int64_t start, uint32_t start_index, int64_t through,
                                  const std::function<bool(const LogPiece&)>& visit) {
  if (absl::Status status = records_.CheckTable(table); !status.ok()) return status;
  return log_->Read(table, start, start_index, through, visit);
}

absl::Status RocksEngine::TrimLog(TableId table, int64_t position) {
  if (absl::Status status = records_.CheckTable(table); !status.ok()) return status;
  return log_->Trim(table, position);
}

absl::Status RocksEngine::CheckWrites() {
  if (absl::Status status = disk_guard_->AdmitWrite(); !status.ok()) return status;
  return store_->CheckWrites();
}

std::vector<Figure> RocksEngine::Figures() const {
  std::vector<Figure> figures = FiguresOfDatabase(*store_);
  MergeFigures(FiguresOfSettling(*store_, *settling_, *schedule_), &figures);
  MergeFigures(FiguresOfScrubbing(scrubber_->progress()), &figures);
  figures.push_back(Figure::Gauge("sonde_disk_free_bytes", "Room on the disk of the data directory.")
                        .Add(static_cast<double>(disk_guard_->free_bytes())));
  figures.push_back(
      Figure::Gauge("sonde_disk_full", "Whether writes are refused because there is too little room: 0, 1.")
          .Add(disk_guard_->is_full() ? 1 : 0));
  figures.push_back(
      Figure::Gauge("sonde_writes_stopped",
                    "Whether writes are refused because a file could not be written or is damaged: 0, 1.")
          .Add(write_stop_.Check().ok() ? 0 : 1));
  return figures;
}

// What is in the open head now rests after the first switch; the second one begins when that has settled.
absl::Status RocksEngine::SettleAll(const std::function<void()>& after_step) {
  if (absl::Status status = settling_->Switch(after_step); !status.ok()) return status;
  return settling_->Finish(after_step);
}

absl::Status RocksEngine::Checkpoint(const std::string& directory) {
  // Records last: they may know more than the cells need, but not less.
  absl::Status status = CopyDatabases(env_, {{store_->db(), kCells}, {records_.db(), kRecords}}, directory);
  if (!status.ok()) return status;
  // The format last: a copy that was broken off is none.
  status = WriteInventory(env_, directory, Inventory{.synced = options_.sync});
  return status.ok() ? WriteFormat(env_, directory) : status;
}

absl::Status RocksEngine::Checkpoint(TableId table, const std::string& directory) {
  if (absl::Status status = records_.CheckTable(table); !status.ok()) return status;
  if (absl::Status status = CheckIsNew(env_, directory); !status.ok()) return status;
  // A copy of all, of which one table stays; it gets its name when it is done.
  const std::string part = directory + kPartSuffix;
  if (absl::Status status = CheckIsNew(env_, part); !status.ok()) return status;
  absl::Status status = Checkpoint(part);
  if (status.ok()) status = ReduceCopy(part, table);
  if (status.ok()) {
    status = FromRocks(env_->RenameFile(part, directory), fmt::format("Naming the copy {}", directory));
  }
  if (!status.ok()) {
    RemoveTree(env_, part);
    return status;
  }
  return SyncDirectory(
      env_, std::filesystem::absolute(directory + "/").lexically_normal().parent_path().parent_path());
}

absl::Status RocksEngine::ReduceCopy(const std::string& directory, TableId table) const {
  RocksOptions options = options_;
  options.data_dir = directory;
  options.memory_bytes = kCopyMemoryBytes;
  options.settles = false;
  absl::StatusOr<std::unique_ptr<RocksEngine>> copy = Open(options);
  if (!copy.ok()) return copy.status();
  const absl::Status status = (*copy)->KeepOnly(table);
  copy->reset();
  DiskGuard::ReleaseBallast(directory);
  return status;
}

absl::Status RocksEngine::KeepOnly(TableId table) {
  if (absl::Status status = records_.CheckTable(table); !status.ok()) return status;
  for (const TableId other : records_.tables()) {
    if (other == table) continue;
    if (absl::Status status = DropTable(other); !status.ok()) return status;
  }
  // The caller's go, too: it knows which are the table's.
  if (absl::Status status = records_.Clear(); !status.ok()) return status;
  return FromRocks(store_->Flush(rocksdb::FlushOptions()), "Leaving one table in a copy");
}

absl::Status RocksEngine::VisitPages() {
  Settling::VisitPlace place;
  while (true) {
    absl::StatusOr<bool> more = settling_->Visit(/*pages_max=*/1'000, &place);
    if (!more.ok() || !*more) return more.status();
  }
}

absl::Status RocksEngine::CompactAll() { return store_->CompactAll(); }

}  // namespace sonde
