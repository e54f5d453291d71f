// Requests that wait for a thread, and how long they may wait.  A request is served when none of a higher priority waits, but
// each priority has at least one in kLowerTurn of what is served.  Requests of one priority are served in the order in which they came.  Waits are counted by
// the clock of the time in which the server could have served them (turn_clock.h).  Deadlines are times of
// day.
#pragma once

#include <array>
#include <deque>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "work/priority.h"
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

// A line of items, which is one line for each priority.  Not for several threads.
template <typename Item>
class WaitingLine {
 public:
  // `clock` must outlive it.  The limits hold for each priority; those below the first may wait for `limits.wait` also while there is
  // too much to do.
  WaitingLine(WaitLimits limits, const TurnClock* clock)
      : clock_(clock), lines_{Line(limits), Line(Patient(limits)), Line(Patient(limits))} {}

  bool empty() const { return size_ == 0; }
  // UNAVAILABLE: too many wait, so that there is no room for one more.
  absl::Status CheckRoom(Priority priority = Priority::kHigh) const {
    const Line& line = lines_[static_cast<size_t>(priority)];
    return line.rules.CheckRoom(line.items.size());
  }
  // UNAVAILABLE: the first of this priority has waited for too long, and so would a new one.
  absl::Status CheckWait(Priority priority = Priority::kHigh) const {
    const Line& line = lines_[static_cast<size_t>(priority)];
    return line.items.empty() ? absl::OkStatus()
                              : line.rules.CheckWait(clock_->Now(), line.items.front().since);
  }
  void Push(Item item, absl::Time deadline, Priority priority = Priority::kHigh) {
    Line& line = lines_[static_cast<size_t>(priority)];
    const absl::Duration now = clock_->Now();
    if (line.items.empty()) line.rules.NoteEmpty(now);
    line.items.push_back({std::move(item), now, deadline});
    ++size_;
  }
  // Removes and returns the item whose turn it is; the line must not be empty.  *status is OK, or says why the item must
  // be refused.  UNAVAILABLE: it has waited for too long.  DEADLINE_EXCEEDED: its deadline has passed.
  Item Pop(absl::Status* status) {
    Line& line = *FindNext();
    Waiting first = std::move(line.items.front());
    *status = line.rules.CheckTurn(clock_->Now(), first.since, first.deadline);
    line.items.pop_front();
    --size_;
    if (status->ok()) CountTurn(&line);  // one that is refused has had no turn
    return std::move(first.item);
  }

 private:
  struct Waiting {
    Item item;
    absl::Duration since;  // by clock_
    absl::Time deadline;
  };
  struct Line {
    explicit Line(WaitLimits limits) : rules(limits) {}
    WaitRules rules;
    std::deque<Waiting> items;
    int passed_over = 0;  // how many of others were served since one of these, or since these wait
  };

  static WaitLimits Patient(WaitLimits limits) {
    limits.wait_when_overloaded = limits.wait;
    return limits;
  }
  Line* FindNext() {
    Line* next = nullptr;
    for (Line& line : lines_) {
      if (line.items.empty()) continue;
      if (line.passed_over >= kLowerTurn - 1) return &line;
      if (next == nullptr) next = &line;
    }
    return next;
  }
  void CountTurn(Line* served) {
    for (Line& line : lines_) line.passed_over = line.items.empty() ? 0 : line.passed_over + 1;
    served->passed_over = 0;
  }

  const TurnClock* const clock_;
  std::array<Line, kPriorities> lines_;  // by priority, the highest first
  size_t size_ = 0;
};

}  // namespace sonde
