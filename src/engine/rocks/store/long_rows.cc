#include "engine/rocks/store/long_rows.h"

#include <algorithm>
#include <utility>

#include "absl/hash/hash.h"

namespace sonde {
namespace {

uint64_t HashOf(TableId table, std::string_view row_key) { return absl::HashOf(table, row_key); }

}  // namespace

void LongRows::Add(TableId table, std::string_view row_key, uint64_t bytes) {
  bytes_.fetch_add(bytes, std::memory_order_relaxed);
  NoteEntry(bytes);
  const absl::MutexLock lock(&mutex_);
  uint64_t& of_row = rows_[HashOf(table, row_key)];
  of_row += bytes;
  if (of_row >= row_bytes_max_) any_full_.store(true, std::memory_order_relaxed);
  if (of_row > MostOfRow()) most_of_row_.store(of_row, std::memory_order_relaxed);
}

uint64_t LongRows::BytesOf(TableId table, std::string_view row_key) const {
  if (MostOfRow() == 0) return 0;
  const uint64_t hash = HashOf(table, row_key);
  const absl::MutexLock lock(&mutex_);
  const auto open = rows_.find(hash);
  const auto resting = resting_rows_.find(hash);
  return (open != rows_.end() ? open->second : 0) + (resting != resting_rows_.end() ? resting->second : 0);
}

bool LongRows::IsFull(TableId table, std::string_view row_key) const {
  if (!AnyFull()) return false;
  const absl::MutexLock lock(&mutex_);
  const auto row = rows_.find(HashOf(table, row_key));
  return row != rows_.end() && row->second >= row_bytes_max_;
}

void LongRows::Switch() {
  const absl::MutexLock lock(&mutex_);
  resting_rows_ = std::exchange(rows_, {});
  uint64_t most = 0;
  for (const auto& [_, bytes] : resting_rows_) most = std::max(most, bytes);
  most_of_row_ = most;
  any_full_ = false;
  bytes_ = 0;
}

}  // namespace sonde
