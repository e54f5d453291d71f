// Counts the long fragments that rows got since the open head was opened.
//
// Settling, compactions and reads hold a long entry whole (fragment_merge.h), so a row's bytes in the open
// head are bounded.  A writer to a full row waits until the heads have changed roles.  The counts of the
// resting head are kept, too, so that a reader knows beforehand how much memory a row takes
// (base/large_room.h).
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
  // A row is full from `row_bytes_max` on.
  explicit LongRows(uint64_t row_bytes_max) : row_bytes_max_(row_bytes_max) {}

  // Counts a long fragment.  Short ones are ignored.
  void Add(TableId table, std::string_view row_key, uint64_t bytes);
  bool IsFull(TableId table, std::string_view row_key) const;
  // Quick, as mostly no row is full.
  bool AnyFull() const { return any_full_.load(std::memory_order_relaxed); }
  // About how many bytes the row got in both heads.  Bytes from before a restart are not known.
  uint64_t BytesOf(TableId table, std::string_view row_key) const;
  // The bytes of the row that got the most, in both heads.
  uint64_t MostOfRow() const { return most_of_row_.load(std::memory_order_relaxed); }
  // The longest fragment, or page, that was written or read since the engine was opened.
  uint64_t longest() const { return longest_.load(std::memory_order_relaxed); }
  void NoteEntry(uint64_t bytes) {
    if (bytes > longest()) longest_.store(bytes, std::memory_order_relaxed);
  }
  // Bytes of all rows together.
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
  // By a hash of table and row.  Rows with the same hash wait for each other.  A fragment that
  // counts has at least 64 KiB, so there are few entries.
  absl::flat_hash_map<uint64_t, uint64_t> rows_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<uint64_t, uint64_t> resting_rows_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sonde
