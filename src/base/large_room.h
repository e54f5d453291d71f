// Room for what is large: requests, rows and entries of the engine of kLargeBytes or more.  Each takes its
// place before it takes memory, in turn; small requests take no notice.
//
// The room is all of the memory that there is.  It is shared with small requests under way, which are few
// bytes most of the time: what is large waits until they fit beside it.  Caches get what both leave.  A
// request has its place before it is taken in from the network.
//
// Threads: all functions may be called at once, but for the setters, which come before all else.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace sonde {

// A smaller request, row or entry counts with its kind (Admission), and waits for nobody.
constexpr int64_t kLargeBytes = int64_t{4} << 20;

// The memory that writing a value takes at most, in sizes of the request, until all of it is in a file: the
// write buffer and, while that is flushed, an operand, a block, and one twice as long when the block's end is
// appended; and one more, as freed memory is not given back at once.
constexpr int64_t kLargeWriteCopies = 6;

// The memory that reading an entry takes at most, in sizes of the entry, beside what its reader makes of it:
// a block, and the value that was found in it.
constexpr int64_t kLargeReadCopies = 2;

// How long work may wait that holds nothing meanwhile: a write of which only the length is known, and work in
// the background, which has its turn among writes.
constexpr absl::Duration kLargeWaitMax = absl::Seconds(30);

// Payload of an UNAVAILABLE status.  It asks the client to try again when some large work may have ended, so
// not at once (wire/call/grpc_status.h).
constexpr char kTryLaterPayload[] = "sonde/try-later";

class LargeRoom {
 public:
  struct Options {
    int64_t bytes_max = 0;      // of the room
    int64_t reserve_bytes = 0;  // that are left for what cannot give way; who is alone may take them
    absl::Duration wait_max = absl::Seconds(10);
    absl::Duration sure_wait_max = kLargeWaitMax;  // of TakeSurely
    size_t waiting_max = 32;
  };

  // Given back at its end.  The room must outlive it.
  class Place {
   public:
    Place() = default;
    Place(Place&& other) noexcept
        : room_(std::exchange(other.room_, nullptr)),
          bytes_(std::exchange(other.bytes_, 0)),
          writes_(other.writes_) {}
    Place& operator=(Place&& other) noexcept {
      std::swap(room_, other.room_);
      std::swap(bytes_, other.bytes_);
      std::swap(writes_, other.writes_);
      return *this;
    }
    ~Place() { Shrink(0); }
    // It is for a write: what that leaves in memory is to be gone when the place is given back.
    void MarkWrite() { writes_ = true; }

    int64_t bytes() const { return bytes_; }
    // Gives back what is more than this, and to the system what was freed of it.
    void Shrink(int64_t bytes);

   private:
    friend class LargeRoom;
    Place(LargeRoom* room, int64_t bytes) : room_(room), bytes_(bytes) {}
    LargeRoom* room_ = nullptr;
    int64_t bytes_ = 0;
    bool writes_ = false;
  };

  explicit LargeRoom(Options options) : options_(options) {}
  LargeRoom(const LargeRoom&) = delete;
  LargeRoom& operator=(const LargeRoom&) = delete;

  // `taken`: what small requests have of the room, now.  `set_left` is told what all leave of it.
  // `release` gives what was freed back to the system.  `after_write` takes what a write has left out of
  // memory, and may take long.  Each may be null, and is called by any thread.
  void set_taken_by_others(std::function<int64_t()> taken) { taken_by_others_ = std::move(taken); }
  void set_left(std::function<void(int64_t bytes)> left) { set_left_ = std::move(left); }
  void set_after_write(std::function<void()> after_write) { after_write_ = std::move(after_write); }
  void set_release(std::function<void()> release) { release_ = std::move(release); }

  // OK, or FAILED_PRECONDITION: so many bytes never fit; says what --memory they need.  `what`: "A request of
  // 5 bytes".
  absl::Status Check(std::string_view what, int64_t bytes) const;
  struct Wait {
    absl::Time deadline = absl::InfiniteFuture();
    std::optional<absl::Duration> wait_max = std::nullopt;  // instead of the room's
    std::function<bool()> gone;  // asked now and then, by the same thread: nobody wants it any more
  };
  // Waits for its turn.  Whoever waits has taken nothing of it yet.  UNAVAILABLE: for too long, too many
  // wait, or it is gone; FAILED_PRECONDITION as Check.
  absl::StatusOr<Place> Take(std::string_view what, int64_t bytes) { return Take(what, bytes, Wait()); }
  absl::StatusOr<Place> Take(std::string_view what, int64_t bytes, const Wait& wait);
  // The same without waiting.
  absl::StatusOr<Place> TryTake(std::string_view what, int64_t bytes);
  // For work that cannot be refused, as others wait for it: takes its place after `sure_wait_max` although it
  // does not fit.  Takes no more than there is.
  enum class Turn { kBeforeAll, kAfterAll };
  Place TakeSurely(int64_t bytes, Turn turn);

  // Gives what was freed back to the system: in the midst of something large.
  void Release() const {
    if (release_) release_();
  }
  // To be called now and then: `set_left` is told.
  void Adjust();

  int64_t bytes_max() const { return options_.bytes_max; }
  // Somebody waits for a place.
  bool IsAwaited() const { return is_awaited_.load(std::memory_order_relaxed); }
  int64_t taken_bytes() const;

 private:
  // Waits until `give_up`, or until nobody wants it.  False: there was no turn.
  bool AwaitTurn(std::list<int64_t>::iterator self, absl::Time give_up, const std::function<bool()>& gone)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool Fits(int64_t bytes) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  int64_t TakenByOthers() const { return taken_by_others_ ? taken_by_others_() : 0; }
  void SetTaken(int64_t bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void TellLeft() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Leave(int64_t bytes, bool writes);
  absl::Status Busy(std::string_view what, int64_t bytes) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Options options_;
  std::function<int64_t()> taken_by_others_;
  std::function<void(int64_t)> set_left_;
  std::function<void()> after_write_;
  std::function<void()> release_;

  mutable absl::Mutex mutex_;
  int64_t taken_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t left_bytes_ ABSL_GUARDED_BY(mutex_) = -1;     // that were told
  std::list<int64_t> waiting_ ABSL_GUARDED_BY(mutex_);  // bytes, in turn
  std::atomic<bool> is_awaited_ = false;
};

// The place of one reader of entries (Engine::ScanOptions::take_large), as large as its longest entry needs
// so far; given back with the last copy.  `room` must outlive them.
enum class WhenFull { kWait, kRefuse };
std::function<absl::Status(size_t entry_bytes)> TakeForEntries(LargeRoom* room, WhenFull when_full);

}  // namespace sonde
