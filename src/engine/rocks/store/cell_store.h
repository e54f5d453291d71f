// The cells' database as those see it who read, write and settle: two heads that take turns, and pages below
// them (docs/decisions/0005-settling.md).
//
// All writes go to the open head; the resting one only shrinks, as settling moves its cells into pages.  A
// row is its pages, then its fragment of the resting head, then that of the open one: oldest first.
//
// Threads: all functions may be called at once, unless said otherwise.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "base/large_room.h"
#include "engine/rocks/store/directory_cache.h"
#include "engine/rocks/store/long_rows.h"
#include "engine/rocks/store/page_cache.h"
#include "engine/rocks/store/pressure_gauge.h"
#include "engine/rocks/store/shape_dictionary.h"
#include "model/cell.h"
#include "rocksdb/db.h"
#include "rocksdb/options.h"
#include "rocksdb/write_batch.h"

namespace sonde {

// What was written to a head since it was opened; about, after a restart.
struct HeadLoad {
  uint64_t cells = 0;
  uint64_t deletes = 0;
  uint64_t bytes = 0;               // of edits and their keys
  uint64_t long_bytes = 0;          // of these, in fragments of kFragmentApartBytesMin or more
  bool has_full_row = false;        // who adds to it waits until the heads change roles (long_rows.h)
  bool has_much_dropped = false;    // by NoteDrop
  int64_t since_micros = 0;         // when it got the first of it; 0: nothing was written
  uint64_t longest_read_bytes = 0;  // the longest of its entries that a read has met
};

class CellStore {
 public:
  struct Options {
    bool sync = true;
    // Asked before each write; an error is its answer.
    std::function<absl::Status()> check_writes;
    std::function<int64_t()> now_micros;
    uint64_t page_cache_bytes = 0;
    uint64_t directory_cache_bytes = 0;
    // What pages in the hands of readers may take, and the cache that makes room for it.
    uint64_t open_pages_bytes_max = 0;
    std::shared_ptr<rocksdb::Cache> block_cache;
    std::function<bool(TableId table, FamilyId family)> is_dropped;
    // Of what a row may get in long fragments until the heads change roles.
    uint64_t long_row_bytes_max = std::numeric_limits<uint64_t>::max();
    LargeRoom* large_room = nullptr;  // may be null; not owned
  };

  // `shapes` must outlive it.  Errors: those of rocksdb::DB::Open.
  static absl::StatusOr<std::unique_ptr<CellStore>> Open(
      const rocksdb::DBOptions& settings, const std::string& path,
      const std::vector<rocksdb::ColumnFamilyDescriptor>& column_families, const ShapeDictionary* shapes,
      Options options);
  ~CellStore();

  // In the order of the descriptors that Open is given.
  enum ColumnFamily : size_t { kFirstHead, kSecondHead, kPages, kDirectory, kLog, kColumnFamilies };
  static const std::array<std::string, kColumnFamilies>& ColumnFamilyNames();

  rocksdb::DB* db() const { return db_.get(); }
  rocksdb::ColumnFamilyHandle* column_family(ColumnFamily which) const { return handles_[which]; }
  rocksdb::ColumnFamilyHandle* head(size_t index) const { return handles_[index]; }
  const ShapeDictionary* shapes() const { return shapes_; }
  PageCache* page_cache() const { return &page_cache_; }
  PageBudget* page_budget() const { return &page_budget_; }
  DirectoryCache* directory_cache() const { return &directory_cache_; }
  bool IsDropped(TableId table, FamilyId family) const { return options_.is_dropped(table, family); }

  // While pages are changed: what was known of them is no longer so.  One at a time.
  class PagesChange {
   public:
    explicit PagesChange(CellStore* store) : store_(store) { ++store_->pages_version_; }
    ~PagesChange() {
      store_->pages_changed_at_ = store_->db_->GetLatestSequenceNumber();
      ++store_->pages_version_;
    }
    PagesChange(const PagesChange&) = delete;
    PagesChange& operator=(const PagesChange&) = delete;

   private:
    CellStore* const store_;
  };

  // Whether somebody reads a state in which what that sequence number did was not done yet.
  bool HasSnapshotBefore(uint64_t sequence_number) const;
  // Whether nobody reads a state before the last change of pages.  While there is no other one, what the
  // directory does not know is known to nobody.
  bool ReadersSeePages() const { return !HasSnapshotBefore(pages_changed_at_); }

  // A state of the database: what a snapshot sees, and which head was open then.
  class Moment {
   public:
    explicit Moment(const CellStore* store);
    ~Moment();
    Moment(const Moment&) = delete;
    Moment& operator=(const Moment&) = delete;

    const rocksdb::Snapshot* snapshot() const { return snapshot_; }
    // The same number: the same pages.  Nothing: they were being changed.
    std::optional<uint64_t> pages_version() const { return pages_version_; }
    // Index 0 is the head with the older edits.
    rocksdb::ColumnFamilyHandle* head(size_t index) const {
      return store_->head((open_head_ + 1 + index) % 2);
    }

   private:
    friend class CellStore;
    const CellStore* const store_;
    const rocksdb::Snapshot* snapshot_ = nullptr;
    size_t open_head_ = 0;
    std::optional<uint64_t> pages_version_;
  };

  // Of a write: rows and sizes of its fragments of kFragmentApartBytesMin or more.
  using LongFragments = std::vector<std::pair<std::string_view, uint64_t>>;

  // The open head, for a writer: it stays open until this ends, which must be after the write.
  class OpenHead {
   public:
    explicit OpenHead(CellStore* store) : store_(store) { store_->heads_mutex_.ReaderLock(); }
    ~OpenHead() { store_->heads_mutex_.ReaderUnlock(); }
    OpenHead(const OpenHead&) = delete;
    OpenHead& operator=(const OpenHead&) = delete;

    rocksdb::ColumnFamilyHandle* get() const { return store_->head(store_->OpenHeadIndex()); }
    // Counts what goes to it.
    void Add(const HeadLoad& load, TableId table, const LongFragments& long_fragments) {
      store_->AddLoad(load);
      for (const auto& [row_key, bytes] : long_fragments) store_->long_rows_.Add(table, row_key, bytes);
    }

   private:
    CellStore* const store_;
  };

  // Only while nothing can switch them.
  rocksdb::ColumnFamilyHandle* resting_head() const { return head(1 - OpenHeadIndex()); }
  size_t OpenHeadIndex() const { return switches_.load(std::memory_order_acquire) % 2; }
  // The resting head, which must be empty, opens, and the open one rests.  Waits for the writers.
  absl::Status SwitchHeads();

  HeadLoad OpenHeadLoad() const;
  // What the open head holds of these keys will be dropped: if that is much, it should come to rest.
  void NoteDrop(const std::string& start, const std::string& end);
  // A read of that moment has met an entry of the open head that is so long.
  void NoteRead(const Moment& moment, uint64_t entry_bytes) const {
    if (moment.open_head_ != OpenHeadIndex()) return;  // it rests by now
    if (entry_bytes > longest_read_bytes_.load(std::memory_order_relaxed)) longest_read_bytes_ = entry_bytes;
  }

  // Writes the memory of the resting head to files.  A step of settling takes its range away: what that
  // covers in files is jumped over, but in memory a reader would step over each entry of it.
  absl::Status FlushRestingHead();
  // The same of both heads for what was dropped, where it is worth a file; does not wait for it.
  void FlushLargeHeads();
  // After something large was written: writes it to files, so that who has room for it (base/large_room.h)
  // keeps that until it is no longer in memory.
  void FlushLarge();
  // Gives back the space of what has settled.
  absl::Status CompactRestingHead();
  // Of all column families.
  rocksdb::Status Flush(const rocksdb::FlushOptions& how) { return db_->Flush(how, handles_); }
  // Flushes and compacts everything.
  absl::Status CompactAll();

  // What a write does when RocksDB would hold it, because flushes or compactions are behind.
  enum class WhenHeld {
    kWait,               // as long as it takes: work in the background
    kRefuseWhenStopped,  // goes on, slowly, while any write is taken: deletes, which give space back
    kRefuse,             // waits for kHeldPatience at most: all else
  };
  // One step, synced if the store is.  UNAVAILABLE: it would have to wait for longer; nothing was applied.
  absl::Status Write(rocksdb::WriteBatch* batch, std::string_view doing,
                     WhenHeld when_held = WhenHeld::kWait);
  // Whether a write would be taken now: a write of nothing tells.
  absl::Status CheckWrites();
  // For what adds cells to a row, before it has the open head: waits until the row is not full.
  // UNAVAILABLE: that takes longer than kHeldPatience.
  absl::Status AwaitLongRow(TableId table, std::string_view row_key) const;
  const LongRows& long_rows() const { return long_rows_; }
  // A page of so many bytes is made, or read.
  void NotePage(uint64_t bytes) const { long_rows_.NoteEntry(bytes); }
  // Null: nobody has to take room for what is large.
  LargeRoom* large_room() const { return options_.large_room; }
  double WritePressure() const { return pressure_->Get(); }

 private:
  CellStore(const ShapeDictionary* shapes, Options options);
  absl::Status LoadSwitches();
  void EstimateLoad();
  void AddLoad(const HeadLoad& load);

  const ShapeDictionary* const shapes_;
  const Options options_;
  mutable PageBudget page_budget_;
  mutable PageCache page_cache_;
  mutable DirectoryCache directory_cache_;
  std::atomic<uint64_t> pages_version_ = 0;     // odd: they are being changed
  std::atomic<uint64_t> pages_changed_at_ = 0;  // the last sequence number after that
  std::unique_ptr<rocksdb::DB> db_;
  std::vector<rocksdb::ColumnFamilyHandle*> handles_;
  std::unique_ptr<PressureGauge> pressure_;

  // Shared by writers, from choosing the head until their batch is in.
  absl::Mutex heads_mutex_;
  std::atomic<uint64_t> switches_ = 0;  // changed with heads_mutex_ alone; odd: the second head is open
  // Of the open head.
  std::atomic<uint64_t> cells_ = 0, deletes_ = 0, bytes_ = 0;
  mutable LongRows long_rows_;
  std::atomic<int64_t> since_micros_ = 0;
  std::atomic<bool> has_much_dropped_ = false;
  mutable std::atomic<uint64_t> longest_read_bytes_ = 0;
};

}  // namespace sonde
