// The cells' database, for readers, writers and settling: two heads that take turns, and pages below them
// (docs/decisions/0005-settling.md).
//
// All writes go to the open head.  The resting head only shrinks, as settling moves its cells into pages.  A
// row is its pages, then its fragment in the resting head, then its fragment in the open one: oldest first.
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

// The writes to a head since it was opened.  After a restart the numbers are approximate.
struct HeadLoad {
  uint64_t cells = 0;
  uint64_t deletes = 0;
  uint64_t bytes = 0;               // of edits and their keys
  uint64_t long_bytes = 0;          // of these, in fragments of kFragmentApartBytesMin or more
  bool has_full_row = false;        // writers to this row wait until the heads change roles (long_rows.h)
  bool has_much_dropped = false;    // NoteDrop sets it
  int64_t since_micros = 0;         // when the head got its first write; 0: nothing was written
  uint64_t longest_read_bytes = 0;  // the longest entry of the head that a read has met
};

class CellStore {
 public:
  struct Options {
    bool sync = true;
    // Asked before each write; an error is the write's status.
    std::function<absl::Status()> check_writes;
    std::function<int64_t()> now_micros;
    uint64_t page_cache_bytes = 0;
    uint64_t directory_cache_bytes = 0;
    // The memory that pages in the hands of readers may take, and the cache that makes room for it.
    uint64_t open_pages_bytes_max = 0;
    std::shared_ptr<rocksdb::Cache> block_cache;
    std::function<bool(TableId table, FamilyId family)> is_dropped;
    // Bytes in long fragments that a row may get until the heads change roles.
    uint64_t long_row_bytes_max = std::numeric_limits<uint64_t>::max();
    LargeRoom* large_room = nullptr;  // may be null; not owned
  };

  // `shapes` must outlive this.  Errors: those of rocksdb::DB::Open.
  static absl::StatusOr<std::unique_ptr<CellStore>> Open(
      const rocksdb::DBOptions& settings, const std::string& path,
      const std::vector<rocksdb::ColumnFamilyDescriptor>& column_families, const ShapeDictionary* shapes,
      Options options);
  ~CellStore();

  // The column families, in the order of the descriptors that Open gets.
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

  // Lives while pages are changed, and tells that all knowledge of them is outdated.  One at a time.
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

  // Whether somebody reads a state in which the write of that sequence number was not done yet.
  bool HasSnapshotBefore(uint64_t sequence_number) const;
  // Whether nobody reads a state before the last change of pages.  If so, and until the next change, no
  // reader knows a page that the directory does not know.
  bool ReadersSeePages() const { return !HasSnapshotBefore(pages_changed_at_); }

  // A state of the database: a snapshot, and which head was open at that time.
  class Moment {
   public:
    explicit Moment(const CellStore* store);
    ~Moment();
    Moment(const Moment&) = delete;
    Moment& operator=(const Moment&) = delete;

    const rocksdb::Snapshot* snapshot() const { return snapshot_; }
    // Equal numbers mean equal pages.  Nothing: pages were being changed.
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

  // The long fragments of a write (kFragmentApartBytesMin or more): row and size.
  using LongFragments = std::vector<std::pair<std::string_view, uint64_t>>;

  // Keeps the open head open for a writer.  It must end after the write.
  class OpenHead {
   public:
    explicit OpenHead(CellStore* store) : store_(store) { store_->heads_mutex_.ReaderLock(); }
    ~OpenHead() { store_->heads_mutex_.ReaderUnlock(); }
    OpenHead(const OpenHead&) = delete;
    OpenHead& operator=(const OpenHead&) = delete;

    rocksdb::ColumnFamilyHandle* get() const { return store_->head(store_->OpenHeadIndex()); }
    // Counts a write to the head.
    void Add(const HeadLoad& load, TableId table, const LongFragments& long_fragments) {
      store_->AddLoad(load);
      for (const auto& [row_key, bytes] : long_fragments) store_->long_rows_.Add(table, row_key, bytes);
    }

   private:
    CellStore* const store_;
  };

  // To be called only while nothing can switch the heads.
  rocksdb::ColumnFamilyHandle* resting_head() const { return head(1 - OpenHeadIndex()); }
  size_t OpenHeadIndex() const { return switches_.load(std::memory_order_acquire) % 2; }
  // Opens the resting head, which must be empty, and lets the open one rest.  Waits for the writers.
  absl::Status SwitchHeads();

  HeadLoad OpenHeadLoad() const;
  // Notes that the open head's entries with these keys will be dropped.  If they are much, the head should
  // come to rest.
  void NoteDrop(const std::string& start, const std::string& end);
  // Notes that a read of `moment` has met an entry of the open head of this size.
  void NoteRead(const Moment& moment, uint64_t entry_bytes) const {
    if (moment.open_head_ != OpenHeadIndex()) return;  // it rests by now
    if (entry_bytes > longest_read_bytes_.load(std::memory_order_relaxed)) longest_read_bytes_ = entry_bytes;
  }

  // Writes the memory of the resting head to files.  A step of settling deletes its range of the head; a
  // reader jumps over the deleted range in files, but in memory it would step over each entry.
  absl::Status FlushRestingHead();
  // Writes the memory of both heads to files after drops, if it is worth a file.  Does not wait for it.
  void FlushLargeHeads();
  // Writes the memory to files, after something large was written.  So a writer that has room for it
  // (base/large_room.h) keeps that room until the data is out of memory.
  void FlushLarge();
  // Whether a head has an entry in [start, end).
  bool HasHeads(const std::string& start, const std::string& end) const;
  // Compacts the pages in [start, end) and their directory, a part of about kCompactedPartBytes after the other.  `before_part`
  // is told the part's bytes, and how much is done, in [0, 1]; an error of it ends the work with that status.
  static constexpr uint64_t kCompactedPartBytes = uint64_t{256} << 20;
  absl::Status CompactPages(const std::string& start, const std::string& end,
                            const std::function<absl::Status(uint64_t bytes, double done)>& before_part);
  // Gives back the space of entries that have settled.
  absl::Status CompactRestingHead();
  // Flushes all column families.
  rocksdb::Status Flush(const rocksdb::FlushOptions& how) { return db_->Flush(how, handles_); }
  // Flushes and compacts everything.
  absl::Status CompactAll();

  // How a write behaves if RocksDB would hold it back, because flushes or compactions are behind.
  enum class WhenHeld {
    kWait,               // waits as long as it takes: for work in the background
    kRefuseWhenStopped,  // goes on, slowly, while any write is taken: for deletes, which give space back
    kRefuse,             // waits for kHeldPatience at most: for all else
  };
  // Applies the batch as one step, synced if the store is.  UNAVAILABLE: it would have to wait for longer;
  // nothing was applied.
  absl::Status Write(rocksdb::WriteBatch* batch, std::string_view doing,
                     WhenHeld when_held = WhenHeld::kWait);
  // Whether a write would be taken now.  It writes an empty batch to find out.
  absl::Status CheckWrites();
  // Waits until the row is not full.  A writer that adds cells to a row calls it before it takes the open
  // head.  UNAVAILABLE: it takes longer than kHeldPatience.
  absl::Status AwaitLongRow(TableId table, std::string_view row_key) const;
  const LongRows& long_rows() const { return long_rows_; }
  // Notes that a page of this size was made or read.
  void NotePage(uint64_t bytes) const { long_rows_.NoteEntry(bytes); }
  // Null: large work needs no room.
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
  std::atomic<uint64_t> pages_changed_at_ = 0;  // the last sequence number after the change
  std::unique_ptr<rocksdb::DB> db_;
  std::vector<rocksdb::ColumnFamilyHandle*> handles_;
  std::unique_ptr<PressureGauge> pressure_;

  // Writers share it from choosing the head until their batch is in.
  absl::Mutex heads_mutex_;
  std::atomic<uint64_t> switches_ = 0;  // changed only while heads_mutex_ is held alone; odd: the second head
                                        // is open
  // About the open head.
  std::atomic<uint64_t> cells_ = 0, deletes_ = 0, bytes_ = 0;
  mutable LongRows long_rows_;
  std::atomic<int64_t> since_micros_ = 0;
  std::atomic<bool> has_much_dropped_ = false;
  mutable std::atomic<uint64_t> longest_read_bytes_ = 0;
};

}  // namespace sonde
