// What rows got in long fragments since the open head was opened.
//
// A long entry is held whole by who settles, compacts or reads it (fragment_merge.h), so what one row may
// have in the open head is bounded; who adds to it waits until the heads have changed roles.  Of the resting
// head it is known, too, so that who reads a row knows beforehand what that takes (base/large_room.h).
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
  // What the row got in both heads, about: nothing is known of what a restart has left there.
  uint64_t BytesOf(TableId table, std::string_view row_key) const;
  // Of the row that got the most, in both heads.
  uint64_t MostOfRow() const { return most_of_row_.load(std::memory_order_relaxed); }
  // The longest fragment, or page, that was written or read since the engine was opened.
  uint64_t longest() const { return longest_.load(std::memory_order_relaxed); }
  void NoteEntry(uint64_t bytes) {
    if (bytes > longest()) longest_.store(bytes, std::memory_order_relaxed);
  }
  // Of all rows together.
  uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
  uint64_t row_bytes_max() const { return row_bytes_max_; }
  // The open head rests from now on, and the other one, which is empty, is open.
  void Switch();

 private:
  const uint64_t row_bytes_max_;
  std::atomic<uint64_t> bytes_ = 0;
  std::atomic<bool> any_full_ = false;
  std::atomic<uint64_t> most_of_row_ = 0;
  std::atomic<uint64_t> longest_ = 0;
  mutable absl::Mutex mutex_;
  // By a hash of table and row: of two with the same, each waits for the other.  A fragment that counts has
  // 64 KiB, so that these are few.
  absl::flat_hash_map<uint64_t, uint64_t> rows_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<uint64_t, uint64_t> resting_rows_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sonde
