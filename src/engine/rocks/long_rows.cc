#include "engine/rocks/long_rows.h"

#include "absl/hash/hash.h"

namespace sonde {
namespace {

uint64_t HashOf(TableId table, std::string_view row_key) { return absl::HashOf(table, row_key); }

}  // namespace

void LongRows::Add(TableId table, std::string_view row_key, uint64_t bytes) {
  bytes_.fetch_add(bytes, std::memory_order_relaxed);
  const absl::MutexLock lock(&mutex_);
  uint64_t& of_row = rows_[HashOf(table, row_key)];
  of_row += bytes;
  if (of_row >= row_bytes_max_) any_full_.store(true, std::memory_order_relaxed);
}

bool LongRows::IsFull(TableId table, std::string_view row_key) const {
  if (!AnyFull()) return false;
  const absl::MutexLock lock(&mutex_);
  const auto row = rows_.find(HashOf(table, row_key));
  return row != rows_.end() && row->second >= row_bytes_max_;
}

void LongRows::Clear() {
  const absl::MutexLock lock(&mutex_);
  rows_.clear();
  any_full_ = false;
  bytes_ = 0;
}

}  // namespace sonde
