// Requests that wait for a thread, first come first served, and how long they may wait.  Waits are counted by
// the clock of the time in which the server could have served them (turn_clock.h).  Deadlines are times of
// day.
#pragma once

#include <deque>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "work/turn_clock.h"

namespace sonde {

struct WaitLimits {
  size_t waiting = 10'000;
  // A request that has waited longer is refused: its client has given up, or soon will.
  absl::Duration wait = absl::Milliseconds(500);
  // A queue that has not been empty for `wait` is no burst that will pass.  Then this is how long a request
  // may wait, so that admitted requests are answered soon, and as many of them as ever.
  absl::Duration wait_when_overloaded = absl::Milliseconds(100);
};

// The rules of waiting, apart from the waiting items.  `now` and `since` are times of a TurnClock.  Not for
// several threads.
class WaitRules {
 public:
  explicit WaitRules(WaitLimits limits) : limits_(limits) {}

  // UNAVAILABLE: `waiting` is at the limit.
  absl::Status CheckRoom(size_t waiting) const;
  // `first_since` is when the first item began to wait, if any waits.  UNAVAILABLE: it has waited for too
  // long, and so would a new one.
  absl::Status CheckWait(absl::Duration now, absl::Duration first_since) const;
  // Checks the first item, whose turn it is.  UNAVAILABLE: it has waited for too long.  DEADLINE_EXCEEDED:
  // its deadline has passed.
  absl::Status CheckTurn(absl::Duration now, absl::Duration since, absl::Time deadline) const;
  void NoteEmpty(absl::Duration now) { last_empty_ = now; }

 private:
  // How long a request may have waited at `now`.
  absl::Duration WaitMax(absl::Duration now) const;

  const WaitLimits limits_;
  absl::Duration last_empty_;  // when the line was empty last
};

// A line of items.  Not for several threads.
template <typename Item>
class WaitingLine {
 public:
  // `clock` must outlive it.
  WaitingLine(WaitLimits limits, const TurnClock* clock) : rules_(limits), clock_(clock) {}

  bool empty() const { return line_.empty(); }
  // UNAVAILABLE: too many wait, so that there is no room for one more.
  absl::Status CheckRoom() const { return rules_.CheckRoom(line_.size()); }
  // UNAVAILABLE: the first has waited for too long, and so would a new one.
  absl::Status CheckWait() const {
    return line_.empty() ? absl::OkStatus() : rules_.CheckWait(clock_->Now(), line_.front().since);
  }
  void Push(Item item, absl::Time deadline) {
    const absl::Duration now = clock_->Now();
    if (line_.empty()) rules_.NoteEmpty(now);
    line_.push_back({std::move(item), now, deadline});
  }
  // Removes and returns the first item; the line must not be empty.  *status is OK, or says why the item must
  // be refused.  UNAVAILABLE: it has waited for too long.  DEADLINE_EXCEEDED: its deadline has passed.
  Item Pop(absl::Status* status) {
    Waiting first = std::move(line_.front());
    *status = rules_.CheckTurn(clock_->Now(), first.since, first.deadline);
    line_.pop_front();
    return std::move(first.item);
  }

 private:
  struct Waiting {
    Item item;
    absl::Duration since;  // by clock_
    absl::Time deadline;
  };
  WaitRules rules_;
  const TurnClock* const clock_;
  std::deque<Waiting> line_;
};

}  // namespace sonde
