// What rows got in long fragments since the open head was opened.
//
// A long entry is held whole by who settles, compacts or reads it (fragment_merge.h), so what one row may
// have in the open head is bounded; who adds to it waits until the heads have changed roles.
//
// Threads: all functions may be called at once.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "model/cell.h"

namespace sonde {

class LongRows {
 public:
  // Of a row, from which on it is full.
  explicit LongRows(uint64_t row_bytes_max) : row_bytes_max_(row_bytes_max) {}

  // Counts a long fragment; short ones are no matter.
  void Add(TableId table, std::string_view row_key, uint64_t bytes);
  bool IsFull(TableId table, std::string_view row_key) const;
  // Quick: most of the time there is none.
  bool AnyFull() const { return any_full_.load(std::memory_order_relaxed); }
  // Of all rows together.
  uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
  uint64_t row_bytes_max() const { return row_bytes_max_; }
  // Another head is open.
  void Clear();

 private:
  const uint64_t row_bytes_max_;
  std::atomic<uint64_t> bytes_ = 0;
  std::atomic<bool> any_full_ = false;
  mutable absl::Mutex mutex_;
  // By a hash of table and row: of two with the same, each waits for the other.  A fragment that counts has
  // 64 KiB, so that these are few.
  absl::flat_hash_map<uint64_t, uint64_t> rows_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sonde
