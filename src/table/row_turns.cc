#include "table/row_turns.h"

#include <algorithm>

#include "absl/hash/hash.h"

namespace sonde {

RowTurn::RowTurn(RowTurns* turns, TableId table, absl::Span<const std::string_view> row_keys) {
  stripes_.reserve(row_keys.size());
  for (const std::string_view row_key : row_keys) {
    stripes_.push_back(&turns->stripes_[absl::HashOf(table, row_key) % RowTurns::kStripes]);
  }
  std::sort(stripes_.begin(), stripes_.end());
  stripes_.erase(std::unique(stripes_.begin(), stripes_.end()), stripes_.end());
  for (RowTurns::Stripe* stripe : stripes_) stripe->mutex.lock();
  now_micros_ = turns->clock_->NowMicros();
  for (const RowTurns::Stripe* stripe : stripes_) now_micros_ = std::max(now_micros_, stripe->last_micros);
  for (RowTurns::Stripe* stripe : stripes_) stripe->last_micros = now_micros_;
}

RowTurn::~RowTurn() {
  for (RowTurns::Stripe* stripe : stripes_) stripe->mutex.unlock();
}

}  // namespace sonde
