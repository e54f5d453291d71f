// Locks on rows: blind writes share them, read-modify-writes have them alone.  Striped: two rows may share a
// lock, so nobody may take a second one while holding one, except all at once, in order, as SharedRowLocks
// does.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <shared_mutex>
#include <string_view>
#include <vector>

#include "absl/hash/hash.h"
#include "model/cell.h"

namespace sonde {

class RowLocks {
 public:
  size_t StripeOf(TableId table, std::string_view row_key) const {
    return absl::HashOf(table, row_key) % kStripes;
  }
  std::shared_mutex& stripe(size_t index) { return stripes_[index]; }

 private:
  static constexpr size_t kStripes = 1024;
  std::array<std::shared_mutex, kStripes> stripes_;
};

// Shares the locks of many rows; `stripes` in any order, repeated or not.
class SharedRowLocks {
 public:
  using Stripes = std::vector<size_t>;

  SharedRowLocks(RowLocks* locks, Stripes stripes) : locks_(locks), stripes_(std::move(stripes)) {
    std::sort(stripes_.begin(), stripes_.end());
    stripes_.erase(std::unique(stripes_.begin(), stripes_.end()), stripes_.end());
    for (const size_t stripe : stripes_) locks_->stripe(stripe).lock_shared();
  }
  ~SharedRowLocks() {
    for (const size_t stripe : stripes_) locks_->stripe(stripe).unlock_shared();
  }
  SharedRowLocks(const SharedRowLocks&) = delete;
  SharedRowLocks& operator=(const SharedRowLocks&) = delete;

 private:
  RowLocks* locks_;
  Stripes stripes_;
};

}  // namespace sonde
