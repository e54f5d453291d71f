#include "engine/rocks/rocks_engine.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "base/bytes.h"
#include "base/check.h"
#include "engine/engine_errors.h"
#include "engine/rocks/checkpoint.h"
#include "engine/rocks/engine_figures.h"
#include "engine/rocks/files/data_directory.h"
#include "engine/rocks/files/open_check.h"
#include "engine/rocks/files/rocks_status.h"
#include "engine/rocks/files/sync_directory.h"
#include "engine/rocks/page_files.h"
#include "engine/rocks/scan/range_sizes.h"
#include "engine/rocks/scan/rocks_scan.h"
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

// The suffix of a copy that is not done.
constexpr char kPartSuffix[] = ".part";

absl::Status TellProgress(const Snapshots::RestoreOptions& options, double done) {
  absl::Status status = CheckDeadline(options.deadline);
  if (status.ok() && options.on_progress) status = options.on_progress(done);
  return status;
}

// To take the other tables out of it.
constexpr uint64_t kCopyMemoryBytes = uint64_t{32} << 20;

// The part of the memory for opened pages that nobody holds.
constexpr uint64_t kPageCacheShare = 8;
// The part of the memory for known entries of the directory of pages: some hundred bytes a page.
constexpr uint64_t kDirectoryCacheShare = 128;
// The part of the memory for opened pages that reads hold: half of the blocks' memory; blocks make room for
// them.
constexpr uint64_t kOpenPagesShare = 4;
// A server has at least 64 MiB; with less, as in tests, some dozens of reads may still hold one each.
constexpr uint64_t kOpenPagesBytesMin = uint64_t{16} << 20;

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
      records_(&write_stop_),
      snapshots_(
          options_.data_dir,
          {.make = [this](TableId table,
                          const std::string& directory) { return Checkpoint(table, directory); },
           .restore =
               [this](const std::string& directory, TableId table, TableId into, const std::string& work,
                      const Snapshots::RestoreOptions& restore) {
                 return RestoreCopy(directory, table, into, work, restore);
               },
           .optimize = [this](TableId table,
                              const Snapshots::RestoreOptions& how) { return OptimizeTable(table, how); }}) {}

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
  // The ballast was kept for this.
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
      // All tables of the records are needed.
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
  snapshots_.RemoveUnfinished();
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

// Sets how much compactions may write until the disk guard looks for the first time.
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
       // If nobody empties the heads, nobody should wait for that.
       .long_row_bytes_max =
           options_.settles ? options_.long_row_bytes_max : std::numeric_limits<uint64_t>::max(),
       .large_room = options_.large_room});
  if (!store.ok()) return store.status();
  store_ = *std::move(store);
  if (compactions != nullptr) compactions->Start(&store_->long_rows());
  cache_ = settings.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>()->block_cache;
  absl::StatusOr<std::unique_ptr<ChangeLog>> log =
      ChangeLog::Open(store_->db(), store_->column_family(CellStore::kLog), options_.sync);
  if (!log.ok()) return log.status();
  log_ = *std::move(log);
  // A step holds its cells in memory.
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
  const auto rules = gc_rules_.find(table);
  if (rules == gc_rules_.end()) return {};
  const auto rule = rules->second.find(family);
  if (rule == rules->second.end()) return {};
  return {rule->second, static_cast<int64_t>(env_->NowMicros())};
}

absl::Status RocksEngine::CheckCall(TableId table, absl::Time deadline) const {
  if (absl::Status status = CheckDeadline(deadline); !status.ok()) return status;
  return records_.CheckTable(table);
}

absl::Status RocksEngine::WriteRecords(const std::vector<RecordChange>& changes, absl::Time deadline) {
  if (absl::Status status = CheckDeadline(deadline); !status.ok()) return status;
  return records_.Write(changes);
}

absl::StatusOr<std::vector<Record>> RocksEngine::ReadRecords(std::string_view prefix, absl::Time deadline) {
  if (absl::Status status = CheckDeadline(deadline); !status.ok()) return status;
  return records_.Read(prefix);
}

absl::StatusOr<int64_t> RocksEngine::RecordsVersion(absl::Time deadline) {
  if (absl::Status status = CheckDeadline(deadline); !status.ok()) return status;
  return records_.Version();
}

absl::Status RocksEngine::CreateTable(const TableSpec& spec, absl::Time deadline) {
  if (absl::Status status = CheckDeadline(deadline); !status.ok()) return status;
  if (absl::Status status = records_.CreateTable(spec.id); !status.ok()) return status;
  return AlterTable(spec, absl::InfiniteFuture());
}

absl::Status RocksEngine::AlterTable(const TableSpec& spec, absl::Time deadline) {
  if (absl::Status status = CheckDeadline(deadline); !status.ok()) return status;
  if (absl::Status status = records_.CheckTable(spec.id); !status.ok()) return status;
  GcRules rules;
  for (const TableSpec::Family& family : spec.families) {
    if (!family.may_be_forgotten.KeepsEverything()) rules[family.id] = family.may_be_forgotten;
  }
  const absl::WriterMutexLock lock(&gc_rules_mutex_);
  gc_rules_[spec.id] = std::move(rules);
  return absl::OkStatus();
}

absl::Status RocksEngine::DropTable(TableId table, absl::Time deadline) {
  if (absl::Status status = CheckDeadline(deadline); !status.ok()) return status;
  if (absl::Status status = records_.DropTable(table); !status.ok()) return status;
  {
    const absl::WriterMutexLock lock(&gc_rules_mutex_);
    gc_rules_.erase(table);
  }
  // From here on nobody reads it; what follows gives the space back.
  if (absl::Status status = settling_->FreeTable(table); !status.ok()) return status;
  return log_->Drop(table);
}

absl::Status RocksEngine::DropFamily(TableId table, FamilyId family, absl::Time deadline) {
  if (absl::Status status = CheckDeadline(deadline); !status.ok()) return status;
  if (absl::Status status = records_.CheckTable(table); !status.ok()) return status;
  if (absl::Status status = records_.DropFamily(table, family); !status.ok()) return status;
  return settling_->FreeFamily(table, family);
}

absl::StatusOr<std::unique_ptr<RowStream>> RocksEngine::Scan(TableId table, std::vector<RowRange> ranges,
                                                             ScanOptions options) {
  DCHECK(AreNormal(ranges));
  if (absl::Status status = records_.CheckTable(table); !status.ok()) return status;
  return std::make_unique<RocksScan>(store_.get(), table, std::move(ranges), std::move(options));
}

absl::Status RocksEngine::DropRange(TableId table, const RowRange& range, absl::Time deadline) {
  if (absl::Status status = CheckCall(table, deadline); !status.ok()) return status;
  if (range.IsEmpty()) return absl::OkStatus();
  return settling_->DropRange(table, range);
}

absl::StatusOr<std::vector<RangeStats>> RocksEngine::Ranges(TableId table, absl::Time deadline) {
  if (absl::Status status = CheckCall(table, deadline); !status.ok()) return status;
  return MeasureRanges(*store_, table);
}

absl::StatusOr<std::vector<uint64_t>> RocksEngine::Measure(TableId table,
                                                           const std::vector<std::string>& starts,
                                                           const std::string& end, absl::Time deadline) {
  if (absl::Status status = CheckCall(table, deadline); !status.ok()) return status;
  return MeasureRowRanges(*store_, table, starts, end);
}

absl::StatusOr<DividedRanges> RocksEngine::Divide(TableId table, FamilyId family,
                                                  const std::vector<RowRange>& ranges) {
  if (absl::Status status = CheckCall(table, absl::InfiniteFuture()); !status.ok()) return status;
  return DivideRowRanges(*store_, table, family, ranges);
}

// One log a table: what holds for all of it holds for each partition.
absl::StatusOr<RowLog::End> RocksEngine::FindEnd(TableId table, const RowRange& /*partition*/,
                                                 int64_t frontier_min, absl::Time deadline) {
  if (absl::Status status = CheckCall(table, deadline); !status.ok()) return status;
  return log_->FindEnd(table, frontier_min);
}

absl::Status RocksEngine::Read(TableId table, const RowRange& /*partition*/, int64_t start,
                               uint32_t start_index, int64_t through,
                               const std::function<bool(const Piece&)>& visit, absl::Time deadline) {
  if (absl::Status status = CheckCall(table, deadline); !status.ok()) return status;
  return log_->Read(table, start, start_index, through, visit);
}

absl::Status RocksEngine::Trim(TableId table, int64_t position, absl::Time deadline) {
  if (absl::Status status = CheckCall(table, deadline); !status.ok()) return status;
  return log_->Trim(table, position);
}

absl::Status RocksEngine::CheckWrites(absl::Time deadline) {
  if (absl::Status status = CheckDeadline(deadline); !status.ok()) return status;
  if (absl::Status status = disk_guard_->AdmitWrite(); !status.ok()) return status;
  return store_->CheckWrites();
}

std::vector<Figure> RocksEngine::Figures() const {
  std::vector<Figure> figures = FiguresOfDatabase(*store_);
  MergeFigures(FiguresOfSettling(*store_, *settling_, *schedule_), &figures);
  MergeFigures(FiguresOfScrubbing(scrubber_->progress()), &figures);
  figures.push_back(
      Figure::Gauge("sonde_disk_size_bytes", "Room that the disk of the data directory could ever have.")
          .Add(static_cast<double>(disk_guard_->size_bytes())));
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

// The entries of the open head rest after the first switch.  The second switch begins when they have settled.
absl::Status RocksEngine::SettleAll(const std::function<absl::Status()>& after_step) {
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

absl::StatusOr<std::unique_ptr<RocksEngine>> RocksEngine::OpenCopy(const std::string& directory) const {
  RocksOptions options = options_;
  options.data_dir = directory;
  options.memory_bytes = kCopyMemoryBytes;
  options.settles = false;
  return Open(options);
}

absl::Status RocksEngine::RestoreCopy(const std::string& directory, TableId table, TableId into,
                                      const std::string& work, const Snapshots::RestoreOptions& options) {
  if (absl::Status status = CheckCall(into, options.deadline); !status.ok()) return status;
  absl::StatusOr<std::unique_ptr<RocksEngine>> copy = OpenCopy(directory);
  if (!copy.ok()) return copy.status();
  const auto go_on = [&](double done) { return TellProgress(options, done); };
  // The copy settles what it has in heads, so that all of its cells are in pages, also when it is restored again.
  absl::Status settled = (*copy)->SettleAll([&] { return go_on(0); });
  if (settled.ok()) settled = go_on(0);
  if (!settled.ok()) return settled;
  const auto check_room = [&](uint64_t bytes) {
    if (disk_guard_->HasRoomForStep(bytes)) return absl::OkStatus();
    return absl::ResourceExhaustedError(fmt::format(
        "Restoring {} bytes of pages would leave too little room on the disk, of which {} bytes are free",
        bytes, disk_guard_->free_bytes()));
  };
  const absl::StatusOr<PageFiles> files =
      WritePageFiles(*(*copy)->store_, table, *store_, into,
                     {.directory = work, .check_room = check_room, .on_progress = go_on});
  if (!files.ok()) return files.status();
  if (absl::Status status = records_.CheckTable(into); !status.ok()) return status;
  return settling_->TakeIn(files->pages, files->directory, files->totals);
}

absl::Status RocksEngine::OptimizeTable(TableId table, const Snapshots::RestoreOptions& options) {
  if (absl::Status status = CheckCall(table, options.deadline); !status.ok()) return status;
  const std::string start = StartOfRange(table, RowRange::All()), end = EndOfRange(table, RowRange::All());
  if (store_->HasHeads(start, end)) {
    absl::Status settled = SettleAll([&] { return TellProgress(options, 0); });
    if (!settled.ok()) return settled;
  }
  return store_->CompactPages(start, end, [&](uint64_t bytes, double done) -> absl::Status {
    if (absl::Status status = TellProgress(options, done); !status.ok()) return status;
    if (disk_guard_->HasRoomForStep(bytes)) return absl::OkStatus();
    return absl::ResourceExhaustedError(fmt::format(
        "Compacting {} bytes of pages would leave too little room on the disk, of which {} bytes are free",
        bytes, disk_guard_->free_bytes()));
  });
}

absl::Status RocksEngine::ReduceCopy(const std::string& directory, TableId table) const {
  absl::StatusOr<std::unique_ptr<RocksEngine>> copy = OpenCopy(directory);
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
    if (absl::Status status = DropTable(other, absl::InfiniteFuture()); !status.ok()) return status;
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
