// Decides when cells settle and when pages are visited.  A thread of its own does this work.
//
// The heads change roles when the open one has enough cells: an eighth (kHeadShare) of the cells of pages
// that settling has to make again, and at least Options::head_cells_min or head_bytes_min.  With less than
// that they change roles when the open head is old or holds many deletes.  Settling is assumed to make as
// many cells again as it did the last two times; at the start, all cells.  So a cell that arrives anywhere is
// rewritten about kHeadShare times in its life at worst.  Series that grow at their ends make few pages
// again, and do not wait for an eighth of all cells of other tables.  While many cells come in
// (kBusyCellsPerSecond), the heads wait for kBusyFactor times head_cells_min, so that incoming cells have the
// processors, and fewer cells are rewritten.
//
// A head of long fragments changes roles when it has as many bytes as are combined (fragment_merge.h).  Its
// cells fill pages of their own, so waiting for more saves nothing, and readers would have to go through all
// of them.  It changes roles at once when one row has so many long fragments that writers wait for it
// (long_rows.h).
//
// The heads also change roles when much of the open head was dropped, so that its space is given back.
//
// They change roles early when a read has met a long entry in the open head (kLongEntryBytes).  The read had
// to look through all of it, while a page would show the newest cell at once.  The next early change comes
// only after kEarlyRest times the time that this one took, so that early changes stay a small part of the
// work.
//
// The space of deleted pages is given back (page_space.h) after each visit, and soon after something was
// dropped, with such rests, too.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "engine/rocks/files/tell.h"
#include "engine/rocks/settle/page_space.h"
#include "engine/rocks/settle/settling.h"
#include "engine/rocks/store/cell_store.h"

namespace sonde {

class SettlingSchedule {
 public:
  struct Options {
    uint64_t head_cells_min = uint64_t{1} << 20;
    uint64_t head_bytes_min = uint64_t{64} << 20;
    // Time between two visits to all pages, which look by the pages' headers for what may be forgotten.
    absl::Duration visit_interval = absl::Minutes(5);
    // Whether the disk has room for a step.  Without room nothing settles.  May be null.
    std::function<bool()> has_room;
    Tell tell;  // told when settling fails and when it works again
  };

  // Both must outlive this.
  SettlingSchedule(CellStore* store, Settling* settling, Options options)
      : store_(store), settling_(settling), options_(std::move(options)), space_(store, settling) {}
  ~SettlingSchedule() { Stop(); }

  void Start();
  // Ends after the current step.
  void Stop();

  // When the last visit to all pages ended, in seconds since 1970; 0: none has.
  int64_t last_visit_seconds() const { return last_visit_seconds_.load(std::memory_order_relaxed); }
  // The number of pages that the current or last visit has visited.
  uint64_t visited_pages() const { return visited_pages_.load(std::memory_order_relaxed); }
  SpaceCounts space_counts() const { return space_.counts(); }

  // Whether the heads should change roles, judged by the open head's load and by how many cells of pages may
  // have to be made again.  `busy`: many cells come in.
  static bool IsDue(const HeadLoad& open_head, uint64_t page_cells, int64_t now_micros, bool busy,
                    const Options& options);
  // Whether the heads should change roles early.  The caller decides whether it is too soon.
  static bool IsDueEarly(const HeadLoad& open_head);

 private:
  void Run();
  absl::Status Work();
  // Settles the resting head.  Compacts it then, if something settled or if `switched`.
  absl::Status SettleResting(bool switched = false);
  // How many cells of pages may have to be made again when the open head settles.
  uint64_t CellsToRewrite() const;
  // Switches the heads, settles the one that was open, and notes how many cells it made again.
  absl::Status Settle(const HeadLoad& load);
  absl::Status Visit();
  void FreeSpace();
  // Whether many cells have come since the last call.
  bool IsBusy(const HeadLoad& open_head, absl::Time now);
  bool IsStopping() const;
  // Whether it is not stopping and there is room.
  bool MayGoOn() const;
  void Report(const absl::Status& status);

  CellStore* const store_;
  Settling* const settling_;
  const Options options_;
  PageSpace space_;

  absl::Time last_visit_ = absl::InfinitePast();
  absl::Time early_from_ = absl::InfinitePast();
  // Cells of pages that were made again the last two times that a head with much in it settled.
  std::array<uint64_t, 2> rewritten_ = {UINT64_MAX, UINT64_MAX};
  // The open head's state at the last look.
  uint64_t last_cells_ = 0;
  absl::Time last_look_ = absl::InfinitePast();
  std::atomic<int64_t> last_visit_seconds_ = 0;
  std::atomic<uint64_t> visited_pages_ = 0;
  // Passes of space_.
  bool space_due_ = false;
  std::optional<absl::Time> space_since_;         // when the current one began
  absl::Time space_from_ = absl::InfinitePast();  // when the next one after a drop may begin
  uint64_t drops_known_ = 0;                      // drops when the current pass began
  bool space_fails_ = false;
  bool failing_ = false;

  mutable absl::Mutex mutex_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace sonde
