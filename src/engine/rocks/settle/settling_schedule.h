// Decides when cells settle and when pages are visited, and has it done, by a thread of its own.
//
// The heads change roles when the open one holds an eighth (kHeadShare) of the cells of pages that settling
// has to make again, at least Options::head_cells_min or head_bytes_min; or, with less than that, when it is
// old or holds many deletes.  What it has to make again is taken to be what it had to the last two times; at
// the start, all there is.  So a cell that arrives anywhere is rewritten about kHeadShare times in its life
// at worst, and series that grow at their ends, which make few pages again, do not wait for an eighth of all
// that other tables have.  While many cells come in (kBusyCellsPerSecond), kBusyFactor times head_cells_min
// is waited for, so that the processors are theirs, and fewer cells are rewritten.
//
// A head of long fragments changes roles when it has as many bytes as are combined (fragment_merge.h): they
// fill pages of their own, so that waiting for more saves nothing, and readers would have to go through all
// of them; and at once when one row has so much of them that writers wait for it (long_rows.h).
//
// They change roles when much of the open head was dropped, too, so that its space is given back.
//
// They change roles early when a read has met a long entry in the open head (kLongEntryBytes), of which it
// had to look through all, where a page would show the newest cell at once.  So that this stays a small part
// of the work, the next early time comes when kEarlyRest times as long has passed as this one took.
//
// The space of deleted pages is given back (page_space.h) after each visit, and soon after something was
// dropped, likewise with rests.
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
    // How often pages are looked over for what may be forgotten, by their headers.
    absl::Duration visit_interval = absl::Minutes(5);
    // Whether the disk has room for a step: without, nothing settles.  May be null.
    std::function<bool()> has_room;
    Tell tell;  // when settling fails and when it works again
  };

  // Both must outlive it.
  SettlingSchedule(CellStore* store, Settling* settling, Options options)
      : store_(store), settling_(settling), options_(std::move(options)), space_(store, settling) {}
  ~SettlingSchedule() { Stop(); }

  void Start();
  // Ends after the step that is under way.
  void Stop();

  // When all pages had been visited the last time, since 1970; 0: not yet.
  int64_t last_visit_seconds() const { return last_visit_seconds_.load(std::memory_order_relaxed); }
  // Pages that were visited by the visit that is under way, or was last.
  uint64_t visited_pages() const { return visited_pages_.load(std::memory_order_relaxed); }
  SpaceCounts space_counts() const { return space_.counts(); }

  // Whether the heads should change roles, for what the open one holds and how many cells of pages may have
  // to be made again; busy: while many cells come in.
  static bool IsDue(const HeadLoad& open_head, uint64_t page_cells, int64_t now_micros, bool busy,
                    const Options& options);
  // Whether they should, if it is not too soon, though it is not due.
  static bool IsDueEarly(const HeadLoad& open_head);

 private:
  void Run();
  absl::Status Work();
  // Compacts it then if something settled, or if it was `switched`.
  absl::Status SettleResting(bool switched = false);
  // How many cells of pages may have to be made again when the open head settles.
  uint64_t CellsToRewrite() const;
  // Switches, settles what was open, and notes what that made again.
  absl::Status Settle(const HeadLoad& load);
  absl::Status Visit();
  void FreeSpace();
  // Whether many cells have come since it was asked last.
  bool IsBusy(const HeadLoad& open_head, absl::Time now);
  bool IsStopping() const;
  // Not stopping, and there is room.
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
  // Of the open head, when it was looked at last.
  uint64_t last_cells_ = 0;
  absl::Time last_look_ = absl::InfinitePast();
  std::atomic<int64_t> last_visit_seconds_ = 0;
  std::atomic<uint64_t> visited_pages_ = 0;
  // Of passes of space_.
  bool space_due_ = false;
  std::optional<absl::Time> space_since_;         // the one that is under way
  absl::Time space_from_ = absl::InfinitePast();  // the next one after a drop
  uint64_t drops_known_ = 0;                      // when it began
  bool space_fails_ = false;
  bool failing_ = false;

  mutable absl::Mutex mutex_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace sonde
