// Moves cells from the resting head into pages, and removes dropped cells from both.
//
// Settling goes along the resting head in steps.  A step is one WriteBatch: it adds new pages, deletes the
// old pages that they replace, and deletes the edits that went into them.  So a crash leaves a step done or
// not begun, and a reader's snapshot sees its cells once.  A step with a long entry is several batches.
// Until the last one deletes the edits, the edits lie over pages that have them already, which changes
// nothing unless they add.  Only this class changes pages and takes entries out of the resting head.
//
// Threads: all functions may be called at once.  One of them works at a time.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "base/large_room.h"
#include "cellblock/fragment.h"
#include "cellblock/page_writer.h"
#include "codec/strings.h"
#include "engine/rocks/scan/head_cursor.h"
#include "engine/rocks/settle/family_settling.h"
#include "engine/rocks/store/cell_store.h"
#include "engine/rocks/store/directory.h"
#include "engine/rocks/store/key.h"
#include "gc/gc_rule_evaluator.h"
#include "model/row_range.h"

namespace sonde {

// Sums since the engine was opened.
struct SettlingCounts {
  uint64_t steps = 0;
  uint64_t cells_in = 0;         // of edits
  uint64_t cells_old = 0;        // of pages that were made again
  uint64_t cells_forgotten = 0;  // by the rules of garbage collection
  uint64_t bytes_forgotten = 0;  // their qualifiers and values
  uint64_t pages = 0;            // made
  uint64_t page_bytes = 0;       // of the pages that were made
  uint64_t pages_expired = 0;    // deleted unread
  uint64_t cells_expired = 0;    // of pages_expired
  uint64_t bytes_expired = 0;    // of pages_expired, as they lay on the disk
};

// About all pages.  Dropped pages count until they are visited next.
struct PageTotals {
  int64_t pages = 0;
  int64_t cells = 0;
  int64_t bytes = 0;
};

class Settling {
 public:
  // Returns the rule that says what may be forgotten of a family now.  Called by any thread.
  using Rules = std::function<GcRuleEvaluator(TableId table, FamilyId family)>;

  struct Options {
    PageLimits page;
    // A step takes whole rows, until it has this much of the head.  It then goes on to where a page begins,
    // up to twice as far.
    size_t step_cells_max = size_t{512} << 10;
    size_t step_bytes_max = size_t{16} << 20;
    // Returns the present, for families that expire.
    std::function<int64_t()> now_micros;
  };

  // `store` must outlive this.
  Settling(CellStore* store, Rules rules, Options options)
      : store_(store), rules_(std::move(rules)), options_(std::move(options)) {}

  // Makes the next step.  Returns false if the resting head is empty.  After an error no cell has changed.
  // DATA_LOSS: a fragment or a page is damaged.  INTERNAL: a new page would not read as it was written.
  // Other errors: those of the disk.
  absl::StatusOr<bool> Step();

  // Empties the resting head, and lets the heads change roles.  Calls `after_step` (may be null) after each step; an error of it
  // ends the work with that status.
  absl::Status Switch(const std::function<absl::Status()>& after_step = nullptr);
  // Empties the resting head, and gives back its space.
  absl::Status Finish(const std::function<absl::Status()>& after_step = nullptr);

  // Deletes rows, in the heads and in pages.
  absl::Status DropRange(TableId table, const RowRange& range);
  // FreeFamily gives back the space of a family's pages; FreeTable that of all pages and edits of a table.
  absl::Status FreeFamily(TableId table, FamilyId family);
  absl::Status FreeTable(TableId table);

  // Takes in files that hold pages and their entries of the directory (engine/rocks/page_files.h), all or none.  The
  // store has no other pages of the table, or the same.  The files are gone if this succeeds.
  absl::Status TakeIn(const std::vector<std::string>& pages, const std::vector<std::string>& directory,
                      const PageTotals& totals);

  // How many times something was dropped.
  uint64_t drops() const { return drops_.load(std::memory_order_relaxed); }

  // Deletes RocksDB's tables that hold no page of the directory, as they are: all tables that lie between the
  // two pages next to [first, last].  Returns the keys between which it deleted.  Returns nothing if the
  // directory has a page from `first` to `last`, or if somebody may still read one.  Takes no room on the
  // disk.
  absl::StatusOr<std::optional<std::pair<std::string, std::string>>> FreeTables(const std::string& first,
                                                                                const std::string& last);

  // The place that a visit to all pages has reached.
  struct VisitPlace {
    std::string key;       // of the last page that was visited
    uint64_t visited = 0;  // pages
    PageTotals totals;     // of the pages that stay
  };
  // Visits the next `pages_max` pages, by their headers.  It deletes, unread, pages of which all may be
  // forgotten, and makes pages again of which much may be.  Returns false after the last page.
  absl::StatusOr<bool> Visit(size_t pages_max, VisitPlace* place);

  SettlingCounts counts() const;
  PageTotals page_totals() const;

 private:
  // The part of a table that a step takes.
  struct Taken {
    TableId table = 0;
    std::string first_key, last_key;
    std::map<FamilyId, std::vector<RowEdits>> families;
    std::deque<HeadLookup> long_entries;
    bool adds = false;
    std::vector<std::pair<std::string_view, std::string_view>> expiring;  // keys and fragments
    size_t cells = 0;
    size_t bytes = 0;
    bool reached_end = false;
  };

  // Takes the place for the next step, if the resting head may hold something large.  To be called before
  // mutex_ is taken, as others wait for it.
  LargeRoom::Place TakeLargeRoom() const;
  absl::StatusOr<bool> StepLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status Take(Taken* taken) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The views of `fragments` must hold as long as `taken`.
  absl::Status TakeEntry(FamilyId family, std::string_view row_key,
                         absl::Span<const std::string_view> fragments, Taken* taken)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status TakeLongEntry(FamilyId family, std::string_view row_key, Taken* taken)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::string_view Keep(std::string_view bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status SettleFamily(DirectoryCursor* directory, const Taken& taken, FamilyId family,
                            rocksdb::WriteBatch* batch) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Count(const FamilySettling::Counts& counts) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status DropRows(DirectoryCursor* directory, FamilyId family, const RowRange& range,
                        rocksdb::WriteBatch* batch) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status Free(const std::string& start, const std::string& end, CellStore::ColumnFamily first)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  CellStore* const store_;
  const Rules rules_;
  const Options options_;

  std::atomic<uint64_t> drops_ = 0;

  mutable absl::Mutex mutex_;
  // The resting head has no entry below it.
  std::string position_ ABSL_GUARDED_BY(mutex_);
  codec::ByteArena arena_ ABSL_GUARDED_BY(mutex_);
  Fragment scratch_ ABSL_GUARDED_BY(mutex_);

  // Held for moments, so that a call of counts() does not wait for a step.
  mutable absl::Mutex counts_mutex_ ABSL_ACQUIRED_AFTER(mutex_);
  SettlingCounts counts_ ABSL_GUARDED_BY(counts_mutex_);
  PageTotals totals_ ABSL_GUARDED_BY(counts_mutex_);
};

}  // namespace sonde
