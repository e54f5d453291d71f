// The positions of one server's records, and its slot (slot.h), which says up to where they are complete.
//
// The server writes its slot again and again, and reads those of all others with it, from the first use on, by a thread of its own.  A
// position is given while the server is sure that everybody still counts it: for kSendTime after the last writing of the slot began,
// by this server's own watch.  A change with a position may be sent for as long, and is carried out within the time of a call, or never,
// as HBase drops calls whose time is over.  The lease is longer than both, so that nothing of a server that is gone appears below the
// frontier that the others have come to by then.
//
// Threads: all functions may be called at once.
// Errors: UNAVAILABLE: the cluster does not answer, or all slots are taken; no position was given.  DATA_LOSS: the board is damaged.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/random.h"
#include "base/steady_cond_var.h"
#include "engine/hbase/log/board.h"
#include "engine/hbase/log/slot.h"

namespace sonde {

struct LogPositionsOptions {
  absl::Duration beat = absl::Milliseconds(500);  // between two writings of the slot
  // For how long after the beginning of a writing positions are given, and changes are sent.
  absl::Duration send_time = absl::Seconds(5);
  // How long a call may take, at most (hbase/rows.h); more for large changes.
  absl::Duration call_time = absl::Seconds(5);
  double bytes_a_second_min = 8 << 20;
  const Clock* clock = nullptr;  // of positions; null: the system's
};

class LogPositions {
 public:
  // `client` must outlive it.
  LogPositions(hbase::Client* client, hbase::TableName catalog, LogPositionsOptions options);
  // Gives the slot back.
  ~LogPositions();
  LogPositions(const LogPositions&) = delete;
  LogPositions& operator=(const LogPositions&) = delete;

  // Gives a record of `bytes` a position above the newest one of its row, at least `position_min`.  It is under way until End.
  absl::StatusOr<int64_t> Begin(int64_t newest_of_row, int64_t position_min, size_t bytes,
                                absl::Time deadline) ABSL_LOCKS_EXCLUDED(mutex_);
  // Its change was made, or never will be.  `is_known` false: nobody knows; it is under way for as long as its call may be.
  void End(int64_t position, bool is_known) ABSL_LOCKS_EXCLUDED(mutex_);
  // For how long from now the change with a position may be sent; not positive: it must not be.
  absl::Duration TimeToSend(int64_t position) const ABSL_LOCKS_EXCLUDED(mutex_);

  // Whether others may have counted this server for gone since the position was given, so that they may be past it.
  bool MayBePassed(int64_t position) const ABSL_LOCKS_EXCLUDED(mutex_);

  // No record of any server will appear at or below it.  Waits only if this server has not looked yet, or is cut off.
  absl::StatusOr<int64_t> Frontier(absl::Time deadline) ABSL_LOCKS_EXCLUDED(mutex_);

  // How often a server that was gone was found, and its slot given back.
  uint64_t ended_slots() const { return ended_slots_; }
  // What a test does in the place of kill -9: the slot is left as it is.
  void AbandonForTest() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  using SteadyClock = std::chrono::steady_clock;
  struct UnderWay {
    absl::Duration lease;                              // that its change needs
    std::optional<SteadyClock::time_point> ends = {};  // nobody knows what became of it, until then
  };
  struct Held {
    int number = 0;
    Slot slot;           // as it was written last
    std::string unsure;  // nobody knows whether this value is there by now; empty: it is as above
    SteadyClock::time_point written;  // when that writing began
  };

  void StartThread() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Run() ABSL_LOCKS_EXCLUDED(mutex_);
  // Writes the slot and reads all.
  absl::Status Beat() ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status WriteSlot() ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status ReadSlots() ABSL_LOCKS_EXCLUDED(mutex_);
  // Learns what is there, when the end of the last writing is not known.
  absl::Status MakeSure() ABSL_LOCKS_EXCLUDED(mutex_);
  // Takes a slot that nobody has.
  absl::Status TakeSlot() ABSL_LOCKS_EXCLUDED(mutex_);
  // Gives slots back whose servers are gone, so that nobody else has to wait to know that.
  void EndOthers(const Board::Entries& entries) ABSL_LOCKS_EXCLUDED(mutex_);
  void GiveSlotBack() ABSL_LOCKS_EXCLUDED(mutex_);
  // Others may have passed it: what is under way must not be sent any more.
  void LoseSlot() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  int64_t NowMicros() const { return options_.clock->NowMicros(); }
  absl::Time CallEnd() const;
  absl::Duration LeaseFor(size_t bytes) const;
  absl::Duration LeaseWanted() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Duration TimeLeft() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Whether positions may be given to records that need this lease.
  bool MayGive(absl::Duration lease) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // No record of this server that is under way, or comes later, is at or below it.
  int64_t NewLow() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  LogPositionsOptions options_;
  const SystemClock system_clock_;
  Board board_;
  const std::string owner_;
  std::atomic<uint64_t> ended_slots_ = 0;

  mutable absl::Mutex mutex_;
  SteadyCondVar changed_;
  bool is_ending_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_abandoned_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_wanted_now_ ABSL_GUARDED_BY(mutex_) = false;  // a beat, before its time
  absl::Status last_beat_ ABSL_GUARDED_BY(mutex_);
  std::optional<Held> held_ ABSL_GUARDED_BY(mutex_);  // written by the thread only
  int64_t floor_ ABSL_GUARDED_BY(mutex_) = 0;         // positions are above it
  int64_t last_ ABSL_GUARDED_BY(mutex_) = 0;          // the last position that was given
  std::map<int64_t, UnderWay> under_way_ ABSL_GUARDED_BY(mutex_);
  std::multiset<absl::Duration> leases_wanted_ ABSL_GUARDED_BY(mutex_);  // by those who wait
  std::optional<int64_t> frontier_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sonde
