#include "engine/rocks/store/cell_store.h"

#include <fmt/format.h>

#include <algorithm>

#include "absl/time/clock.h"
#include "base/bytes.h"
#include "base/large_room.h"
#include "base/varint.h"
#include "engine/rocks/files/rocks_status.h"
#include "engine/rocks/store/rocks_settings.h"

namespace sonde {
namespace {

// For the estimate of what a head holds.
constexpr uint64_t kHeadBytesPerCell = 4;
constexpr uint64_t kCellsPerEntry = 10;

// A flush or a step of a compaction is often done by then.
constexpr absl::Duration kHeldPatience = absl::Milliseconds(250);
constexpr absl::Duration kHeldPause = absl::Milliseconds(10);

// Some ten thousand entries, which take a reader a millisecond to step over.
constexpr uint64_t kLargeHeadBytes = 1 << 20;

// Much is dropped if it is one part in this many of the open head.
constexpr uint64_t kMuchDroppedShare = 4;

// In the directory, below the keys of all tables, whose ids start at 1.
constexpr std::string_view kSwitchesKey{"\0\0\0\0switches", 12};

}  // namespace

const std::array<std::string, CellStore::kColumnFamilies>& CellStore::ColumnFamilyNames() {
  static const std::array<std::string, kColumnFamilies> names = {rocksdb::kDefaultColumnFamilyName,
                                                                 "second_head", "pages", "directory", "log"};
  return names;
}

CellStore::CellStore(const ShapeDictionary* shapes, Options options)
    : shapes_(shapes),
      options_(std::move(options)),
      page_budget_(options_.open_pages_bytes_max, options_.block_cache),
      page_cache_(options_.page_cache_bytes),
      directory_cache_(options_.directory_cache_bytes),
      long_rows_(options_.long_row_bytes_max) {}

CellStore::~CellStore() {
  for (rocksdb::ColumnFamilyHandle* handle : handles_) {
    db_->DestroyColumnFamilyHandle(handle).PermitUncheckedError();
  }
  if (db_ != nullptr) db_->Close().PermitUncheckedError();
}

absl::StatusOr<std::unique_ptr<CellStore>> CellStore::Open(
    const rocksdb::DBOptions& settings, const std::string& path,
    const std::vector<rocksdb::ColumnFamilyDescriptor>& column_families, const ShapeDictionary* shapes,
    Options options) {
  std::unique_ptr<CellStore> store(new CellStore(shapes, std::move(options)));
  // A store that is not opened in the end, as it is damaged, stays as it is.
  std::vector<rocksdb::ColumnFamilyDescriptor> at_rest = column_families;
  for (rocksdb::ColumnFamilyDescriptor& family : at_rest) family.options.disable_auto_compactions = true;
  rocksdb::Status status = rocksdb::DB::Open(settings, path, at_rest, &store->handles_, &store->db_);
  if (!status.ok()) return FromRocks(status, fmt::format("Opening {}", path));
  if (absl::Status loaded = store->LoadSwitches(); !loaded.ok()) return loaded;
  status = store->db_->EnableAutoCompaction(store->handles_);
  if (!status.ok()) return FromRocks(status, fmt::format("Opening {}", path));
  store->pressure_ = std::make_unique<PressureGauge>(store->db_.get(), store->handles_);
  store->EstimateLoad();
  return store;
}

// Estimates the load of the open head's existing entries.
void CellStore::EstimateLoad() {
  uint64_t files = 0, memory = 0;
  rocksdb::ColumnFamilyHandle* const open = head(OpenHeadIndex());
  db_->GetIntProperty(open, rocksdb::DB::Properties::kTotalSstFilesSize, &files);
  db_->GetIntProperty(open, rocksdb::DB::Properties::kNumEntriesActiveMemTable, &memory);
  if (files > 0 || memory > 0) {
    AddLoad({.cells = files / kHeadBytesPerCell + memory * kCellsPerEntry, .bytes = files + memory});
  }
}

void CellStore::AddLoad(const HeadLoad& load) {
  cells_.fetch_add(load.cells, std::memory_order_relaxed);
  deletes_.fetch_add(load.deletes, std::memory_order_relaxed);
  bytes_.fetch_add(load.bytes, std::memory_order_relaxed);
  if (since_micros_.load(std::memory_order_relaxed) == 0) {
    since_micros_.store(options_.now_micros(), std::memory_order_relaxed);
  }
}

HeadLoad CellStore::OpenHeadLoad() const {
  return {.cells = cells_.load(std::memory_order_relaxed),
          .deletes = deletes_.load(std::memory_order_relaxed),
          .bytes = bytes_.load(std::memory_order_relaxed),
          .long_bytes = long_rows_.bytes(),
          .has_full_row = long_rows_.AnyFull(),
          .has_much_dropped = has_much_dropped_.load(std::memory_order_relaxed),
          .since_micros = since_micros_.load(std::memory_order_relaxed),
          .longest_read_bytes = longest_read_bytes_.load(std::memory_order_relaxed)};
}

absl::Status CellStore::LoadSwitches() {
  std::string value;
  const rocksdb::Status status =
      db_->Get(rocksdb::ReadOptions(), column_family(kDirectory), rocksdb::Slice(kSwitchesKey), &value);
  if (status.IsNotFound()) return absl::OkStatus();
  if (!status.ok()) return FromRocks(status, "Reading which head is open");
  std::string_view in = value;
  uint64_t switches = 0;
  if (!GetFixed64(&in, &switches) || !in.empty()) {
    return absl::DataLossError("The record of which head is open is damaged");
  }
  switches_.store(switches, std::memory_order_release);
  return absl::OkStatus();
}

absl::Status CellStore::SwitchHeads() {
  if (absl::Status status = options_.check_writes(); !status.ok()) return status;
  const absl::WriterMutexLock lock(&heads_mutex_);
  const uint64_t switches = switches_.load(std::memory_order_relaxed) + 1;
  std::string value;
  PutFixed64(&value, switches);
  // Synced if the rest is: see SyncedWrite.
  rocksdb::WriteOptions write;
  write.sync = options_.sync;
  const rocksdb::Status status =
      db_->Put(write, column_family(kDirectory), rocksdb::Slice(kSwitchesKey), value);
  if (!status.ok()) return FromRocks(status, "Switching the heads");
  switches_.store(switches, std::memory_order_release);
  cells_ = deletes_ = bytes_ = longest_read_bytes_ = 0;
  long_rows_.Switch();
  since_micros_ = 0;
  has_much_dropped_ = false;
  return absl::OkStatus();
}

absl::Status CellStore::Write(rocksdb::WriteBatch* batch, std::string_view doing, WhenHeld when_held) {
  if (batch->Count() == 0) return absl::OkStatus();
  if (absl::Status status = options_.check_writes(); !status.ok()) return status;
  rocksdb::WriteOptions write;
  write.sync = options_.sync;
  write.protection_bytes_per_key = kProtectionBytes;
  write.no_slowdown = when_held == WhenHeld::kRefuse;
  const absl::Time give_up = absl::Now() + kHeldPatience;
  while (true) {
    const bool stopped = when_held == WhenHeld::kRefuseWhenStopped && pressure_->IsStopped();
    const rocksdb::Status status = stopped ? rocksdb::Status::Incomplete() : db_->Write(write, batch);
    if (when_held == WhenHeld::kWait || !status.IsIncomplete()) return FromRocksWrite(status, doing);
    if (absl::Now() >= give_up) break;
    absl::SleepFor(kHeldPause);
  }
  return absl::UnavailableError(
      fmt::format("{}: flushes and compactions are behind, and the write would have to wait for more than {} "
                  "ms; nothing was done, try again",
                  doing, absl::ToInt64Milliseconds(kHeldPatience)));
}

absl::Status CellStore::CheckWrites() {
  if (absl::Status status = options_.check_writes(); !status.ok()) return status;
  rocksdb::WriteBatch nothing;
  rocksdb::WriteOptions write;
  write.no_slowdown = true;
  const rocksdb::Status status = db_->Write(write, &nothing);
  if (status.IsIncomplete()) return absl::OkStatus();  // slow, for now
  return FromRocks(status, "Writes are refused for now, and go on by themselves");
}

absl::Status CellStore::AwaitLongRow(TableId table, std::string_view row_key) const {
  const absl::Time give_up = absl::Now() + kHeldPatience;
  while (long_rows_.IsFull(table, row_key)) {
    if (absl::Now() >= give_up) {
      return absl::UnavailableError(fmt::format(
          "Row '{}' got {} MiB or more that have not settled yet, and the write would have to wait for more "
          "than {} ms; nothing was done, try again",
          Printable(row_key), long_rows_.row_bytes_max() >> 20, absl::ToInt64Milliseconds(kHeldPatience)));
    }
    absl::SleepFor(kHeldPause);
  }
  return absl::OkStatus();
}

absl::Status CellStore::FlushRestingHead() {
  return FromRocks(db_->Flush(rocksdb::FlushOptions(), resting_head()), "Flushing what is to settle");
}

void CellStore::NoteDrop(const std::string& start, const std::string& end) {
  const std::string after_all(8, '\xff');
  const std::array<rocksdb::Range, 2> ranges = {rocksdb::Range(start, end), rocksdb::Range("", after_all)};
  std::array<uint64_t, 2> bytes = {0, 0};
  rocksdb::SizeApproximationOptions what;
  what.include_memtables = true;
  const rocksdb::Status status = db_->GetApproximateSizes(what, head(OpenHeadIndex()), ranges.data(),
                                                          static_cast<int>(ranges.size()), bytes.data());
  if (!status.ok()) return;  // nothing depends on it
  if (bytes[0] >= std::max(kLargeHeadBytes, bytes[1] / kMuchDroppedShare)) has_much_dropped_ = true;
}

void CellStore::FlushLargeHeads() {
  rocksdb::FlushOptions how;
  how.wait = false;
  how.allow_write_stall = true;
  for (rocksdb::ColumnFamilyHandle* const head : {handles_[kFirstHead], handles_[kSecondHead]}) {
    uint64_t bytes = 0;
    if (!db_->GetIntProperty(head, rocksdb::DB::Properties::kCurSizeActiveMemTable, &bytes)) continue;
    // Nothing depends on it.
    if (bytes >= kLargeHeadBytes) db_->Flush(how, head).PermitUncheckedError();
  }
}

void CellStore::FlushLarge() {
  rocksdb::FlushOptions how;
  how.allow_write_stall = true;
  for (rocksdb::ColumnFamilyHandle* const handle : handles_) {
    uint64_t bytes = 0;
    if (!db_->GetIntProperty(handle, rocksdb::DB::Properties::kCurSizeAllMemTables, &bytes)) continue;
    // Nothing depends on it.
    if (bytes >= static_cast<uint64_t>(kLargeBytes)) db_->Flush(how, handle).PermitUncheckedError();
  }
}

absl::Status CellStore::CompactRestingHead() {
  rocksdb::ColumnFamilyHandle* const head = resting_head();
  rocksdb::Status status = db_->Flush(rocksdb::FlushOptions(), head);
  rocksdb::CompactRangeOptions how;
  how.exclusive_manual_compaction = false;
  if (status.ok()) status = db_->CompactRange(how, head, nullptr, nullptr);
  if (status.IsCompactionTooLarge()) return absl::OkStatus();  // RocksDB does it when the disk has room
  return FromRocks(status, "Giving back the space of what has settled");
}

bool CellStore::HasHeads(const std::string& start, const std::string& end) const {
  rocksdb::ReadOptions how;
  const rocksdb::Slice until(end);
  how.iterate_upper_bound = &until;
  how.fill_cache = false;
  for (rocksdb::ColumnFamilyHandle* const head : {handles_[kFirstHead], handles_[kSecondHead]}) {
    const std::unique_ptr<rocksdb::Iterator> entries(db_->NewIterator(how, head));
    entries->Seek(start);
    if (entries->Valid()) return true;
  }
  return false;
}

absl::Status CellStore::CompactPages(
    const std::string& start, const std::string& end,
    const std::function<absl::Status(uint64_t bytes, double done)>& before_part) {
  // The files that the range meets, by their first keys; a part ends where a file begins.
  std::vector<std::pair<std::string, uint64_t>> files;
  rocksdb::ColumnFamilyMetaData about;
  db_->GetColumnFamilyMetaData(handles_[kPages], &about);
  uint64_t bytes = 0, done = 0;
  for (const rocksdb::LevelMetaData& level : about.levels) {
    for (const rocksdb::SstFileMetaData& file : level.files) {
      if (file.largestkey < start || file.smallestkey >= end) continue;
      files.emplace_back(std::max(file.smallestkey, start), file.size);
      bytes += file.size;
    }
  }
  std::sort(files.begin(), files.end());
  rocksdb::CompactRangeOptions how;
  how.exclusive_manual_compaction = false;
  std::string from = start;
  for (size_t i = 0; i < files.size();) {
    uint64_t part = 0;
    while (i < files.size() && part < kCompactedPartBytes) part += files[i++].second;
    const std::string to = i < files.size() ? files[i].first : end;
    const double share = static_cast<double>(done) / static_cast<double>(std::max<uint64_t>(bytes, 1));
    if (absl::Status status = before_part(part, share); !status.ok()) return status;
    const rocksdb::Slice first(from), last(to);
    const rocksdb::Status status = db_->CompactRange(how, handles_[kPages], &first, &last);
    if (!status.ok() && !status.IsCompactionTooLarge()) return FromRocks(status, "Compacting pages");
    done += part;
    from = to;
  }
  if (absl::Status status = before_part(0, 1); !status.ok()) return status;
  const rocksdb::Slice first(start), last(end);
  const rocksdb::Status status = db_->CompactRange(how, handles_[kDirectory], &first, &last);
  if (status.IsCompactionTooLarge()) return absl::OkStatus();  // RocksDB does it when the disk has room
  return FromRocks(status, "Compacting the directory of pages");
}

absl::Status CellStore::CompactAll() {
  rocksdb::Status status = Flush(rocksdb::FlushOptions());
  for (rocksdb::ColumnFamilyHandle* handle : handles_) {
    if (status.ok()) status = db_->CompactRange(rocksdb::CompactRangeOptions(), handle, nullptr, nullptr);
  }
  return FromRocks(status, "Compacting");
}

bool CellStore::HasSnapshotBefore(uint64_t sequence_number) const {
  uint64_t oldest = 0;  // there is none
  db_->GetIntProperty(rocksdb::DB::Properties::kOldestSnapshotSequence, &oldest);
  return oldest != 0 && oldest < sequence_number;
}

// Were the heads to change roles between the two, the snapshot would be read with the wrong ones.
CellStore::Moment::Moment(const CellStore* store) : store_(store) {
  const uint64_t pages_version = store->pages_version_;
  while (true) {
    const uint64_t switches = store->switches_.load(std::memory_order_acquire);
    snapshot_ = store->db_->GetSnapshot();
    if (store->switches_.load(std::memory_order_acquire) == switches) {
      open_head_ = switches % 2;
      if (pages_version % 2 == 0 && store->pages_version_ == pages_version) pages_version_ = pages_version;
      return;
    }
    store->db_->ReleaseSnapshot(snapshot_);
  }
}

CellStore::Moment::~Moment() { store_->db_->ReleaseSnapshot(snapshot_); }

}  // namespace sonde
