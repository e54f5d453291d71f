// Many deadlines that are seldom reached.  To add or remove one takes a few instructions, whatever their
// number.
//
// A deadline comes up at the end of its tick.  Not for several threads.
#pragma once

#include <algorithm>
#include <array>
#include <bitset>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace sonde::rpc {

// Base of objects that have a deadline.  A timer is in one wheel at a time, at one place.
class Timer {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  Timer() = default;
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;
  ~Timer() { Unlink(); }

  bool IsSet() const { return next_ != nullptr; }
  TimePoint due() const { return due_; }

 private:
  friend class TimerWheel;

  void Unlink() {
    if (next_ == nullptr) return;
    next_->previous_ = previous_;
    previous_->next_ = next_;
    next_ = previous_ = nullptr;
  }
  void TakeOver(Timer* head) {
    next_ = previous_ = this;
    if (head->next_ == head) return;
    next_ = head->next_;
    previous_ = head->previous_;
    next_->previous_ = previous_->next_ = this;
    head->next_ = head->previous_ = head;
  }
  void LinkBehind(Timer* head) {
    previous_ = head;
    next_ = head->next_;
    next_->previous_ = this;
    head->next_ = this;
  }

  Timer* next_ = nullptr;
  Timer* previous_ = nullptr;
  TimePoint due_;
};

class TimerWheel {
 public:
  using TimePoint = Timer::TimePoint;
  static constexpr std::chrono::milliseconds kTick{2};
  static constexpr size_t kTicks = 1024;

  explicit TimerWheel(TimePoint now) : tick_(TickOf(now)) {
    for (Timer& head : heads_) head.next_ = head.previous_ = &head;
  }
  // No timer may be set.
  ~TimerWheel() {
    for (Timer& head : heads_) head.next_ = nullptr;
  }

  // Sets a timer, which may be set already.
  void Set(Timer* timer, TimePoint due) {
    Remove(timer);
    timer->due_ = due;
    const size_t slot = SlotOf(std::max(TickOf(due), tick_));
    timer->LinkBehind(&heads_[slot]);
    is_used_[slot] = true;
    ++count_;
  }
  void Remove(Timer* timer) {
    if (!timer->IsSet()) return;
    timer->Unlink();
    --count_;
  }

  size_t count() const { return count_; }

  // Calls `reached(Timer*)` for each due timer, which is removed before.  `reached` may set and remove
  // timers.
  template <typename Reached>
  void Advance(TimePoint now, const Reached& reached) {
    const int64_t last = TickOf(now);  // the tick that is not over yet
    if (last - tick_ > static_cast<int64_t>(kTicks)) tick_ = last - static_cast<int64_t>(kTicks);
    while (tick_ < last) {
      const int64_t tick = tick_++;
      const size_t slot = SlotOf(tick);
      if (!is_used_[slot]) continue;
      is_used_[slot] = false;
      Timer round;  // timers of this tick, and of the same slot in later rounds
      round.TakeOver(&heads_[slot]);
      while (round.next_ != &round) {
        Timer* const timer = round.next_;
        timer->Unlink();
        if (TickOf(timer->due_) > tick) {
          timer->LinkBehind(&heads_[slot]);
          is_used_[slot] = true;
        } else {
          --count_;
          reached(timer);
        }
      }
      round.next_ = nullptr;
    }
  }

  // The time from which on a call of Advance may find a due timer.
  std::optional<TimePoint> NextLook() const {
    if (count_ == 0) return std::nullopt;
    int64_t tick = tick_;
    while (!is_used_[SlotOf(tick)] && tick < tick_ + static_cast<int64_t>(kTicks)) ++tick;
    return TimePoint(std::chrono::duration_cast<TimePoint::duration>(kTick * (tick + 1)));
  }

 private:
  static int64_t TickOf(TimePoint time) { return time.time_since_epoch() / kTick; }
  static size_t SlotOf(int64_t tick) { return static_cast<size_t>(tick) % kTicks; }

  int64_t tick_;  // the first tick that is not over
  size_t count_ = 0;
  std::array<Timer, kTicks> heads_;
  std::bitset<kTicks> is_used_;  // by slot; false: the slot has no timer
};

}  // namespace sonde::rpc
