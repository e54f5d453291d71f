#include "table/row_turns.h"

#include <algorithm>

#include "absl/hash/hash.h"

namespace sonde {

RowTurns::Turn* RowTurns::Take(uint64_t row_hash) {
  Shard& shard = ShardOf(row_hash);
  Turn* turn = nullptr;
  {
    const absl::MutexLock lock(&shard.mutex);
    std::unique_ptr<Turn>& place = shard.turns[row_hash];
    if (place == nullptr) {
      place = std::make_unique<Turn>();
      place->last_micros = shard.last_micros;
    }
    turn = place.get();
    ++turn->takers;
  }
  turn->mutex.Lock();
  return turn;
}

RowTurns::Turn* RowTurns::TryTake(uint64_t row_hash, int64_t now_micros) {
  Shard& shard = ShardOf(row_hash);
  const absl::MutexLock lock(&shard.mutex);
  if (shard.last_micros > now_micros) return nullptr;
  const auto [place, is_new] = shard.turns.try_emplace(row_hash);
  if (!is_new) return nullptr;
  place->second = std::make_unique<Turn>();
  Turn* const turn = place->second.get();
  turn->takers = 1;
  // The turn is new, so nobody has it. Lock would have Abseil look at the order of all turns that are held; there is none.
  (void)turn->mutex.TryLock();
  return turn;
}

void RowTurns::GiveBack(uint64_t row_hash, Turn* turn, int64_t now_micros) {
  turn->last_micros = now_micros;
  turn->mutex.Unlock();
  Shard& shard = ShardOf(row_hash);
  const absl::MutexLock lock(&shard.mutex);
  shard.last_micros = std::max(shard.last_micros, now_micros);
  if (--turn->takers == 0) shard.turns.erase(row_hash);
}

RowTurn::RowTurn(RowTurns* turns, TableId table, absl::Span<const std::string_view> row_keys)
    : turns_(turns) {
  rows_.reserve(row_keys.size());
  for (const std::string_view row_key : row_keys) rows_.push_back({absl::HashOf(table, row_key), nullptr});
  std::sort(rows_.begin(), rows_.end(), [](const Row& a, const Row& b) { return a.hash < b.hash; });
  rows_.erase(
      std::unique(rows_.begin(), rows_.end(), [](const Row& a, const Row& b) { return a.hash == b.hash; }),
      rows_.end());
  int64_t last_micros = 0;
  for (Row& row : rows_) {
    row.turn = turns->Take(row.hash);
    last_micros = std::max(last_micros, row.turn->last_micros);
  }
  now_micros_ = std::max(turns->clock_->NowMicros(), last_micros);
}

RowTurn::~RowTurn() {
  for (const Row& row : rows_) turns_->GiveBack(row.hash, row.turn, now_micros_);
}

bool RowTurnsNow::Take(std::string_view row_key) {
  const uint64_t row_hash = absl::HashOf(table_, row_key);
  if (rows_.contains(row_hash)) return true;
  RowTurns::Turn* const turn = turns_->TryTake(row_hash, now_micros_);
  if (turn == nullptr) return false;
  rows_.emplace(row_hash, turn);
  return true;
}

RowTurnsNow::~RowTurnsNow() {
  for (const auto& [row_hash, turn] : rows_) turns_->GiveBack(row_hash, turn, now_micros_);
}

}  // namespace sonde
