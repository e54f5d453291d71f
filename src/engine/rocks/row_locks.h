// Locks on rows.  Blind writes share them; read-modify-writes, and writes whose order the change log tells,
// have them alone.  Locks are striped, so two rows may share one.  So nobody may take a second lock while
// holding one; only BatchRowLocks takes several, all at once and in order.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <shared_mutex>
#include <string_view>
#include <vector>

#include "absl/hash/hash.h"
#include "model/cell.h"

namespace sonde {

class RowLocks {
 public:
  static constexpr size_t kStripes = 1024;

  size_t StripeOf(TableId table, std::string_view row_key) const {
    return absl::HashOf(table, row_key) % kStripes;
  }
  std::shared_mutex& stripe(size_t index) { return stripes_[index]; }

 private:
  std::array<std::shared_mutex, kStripes> stripes_;
};

// Remembers which stripes a writer would have to wait for, as each was when it was asked about first.
//
// Belongs to one thread.
class TakenStripes {
 public:
  // `locks` must outlive this.
  explicit TakenStripes(RowLocks* locks) : locks_(locks) {}

  // Whether somebody has the stripe alone.  Cheap from the second time on.
  bool IsTaken(size_t stripe) {
    State& state = states_[stripe];
    if (state == State::kUnknown) {
      const std::shared_lock lock(locks_->stripe(stripe), std::try_to_lock);
      state = lock.owns_lock() ? State::kFree : State::kTaken;
    }
    return state == State::kTaken;
  }

 private:
  enum class State : uint8_t { kUnknown, kFree, kTaken };

  RowLocks* const locks_;
  std::array<State, RowLocks::kStripes> states_{};
};

// Holds the locks of many rows, shared or alone.  `stripes` may come in any order, and may repeat.
class BatchRowLocks {
 public:
  using Stripes = std::vector<size_t>;

  BatchRowLocks(RowLocks* locks, Stripes stripes, bool alone)
      : locks_(locks), stripes_(std::move(stripes)), alone_(alone) {
    std::sort(stripes_.begin(), stripes_.end());
    stripes_.erase(std::unique(stripes_.begin(), stripes_.end()), stripes_.end());
    for (const size_t stripe : stripes_) {
      alone_ ? locks_->stripe(stripe).lock() : locks_->stripe(stripe).lock_shared();
    }
  }
  ~BatchRowLocks() {
    for (const size_t stripe : stripes_) {
      alone_ ? locks_->stripe(stripe).unlock() : locks_->stripe(stripe).unlock_shared();
    }
  }
  BatchRowLocks(const BatchRowLocks&) = delete;
  BatchRowLocks& operator=(const BatchRowLocks&) = delete;

 private:
  RowLocks* locks_;
  Stripes stripes_;
  const bool alone_;
};

}  // namespace sonde
