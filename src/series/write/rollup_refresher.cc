#include "series/write/rollup_refresher.h"

#include <utility>

#include "series/known/rollup_marks.h"

namespace sonde::series {

bool RollupRefresher::Take(const SeriesSchema& schema, RollupKeeper* keeper) {
  const absl::MutexLock lock(&mutex_);
  if (pieces_waiting_ >= pieces_waiting_max_) return false;
  RollupKeeper::Marked marked = keeper->TakeMarked();
  if (marked.count == 0) return true;
  const auto [entry, is_new] = waiting_.try_emplace({schema.name, schema.text});
  if (is_new) entry->second.schema = schema;
  pieces_waiting_ += marked.count;
  entry->second.marked.push_back(std::move(marked));
  return true;
}

absl::Status RollupRefresher::Refresh() {
  decltype(waiting_) taken;
  {
    const absl::MutexLock lock(&mutex_);
    taken.swap(waiting_);
    pieces_waiting_ = 0;
  }
  absl::Status result;
  for (const auto& [name, waiting] : taken) {
    RollupKeeper keeper(waiting.schema, tables_, clock_);
    result.Update(keeper.RefreshTaken(waiting.marked));
  }
  return result;
}

absl::Status RollupRefresher::Recover(const SeriesSchema& schema) {
  if (schema.rollups.empty()) return absl::OkStatus();
  if (absl::Status status = EnsureMarksTable(tables_); !status.ok()) return status;
  return RollupKeeper(schema, tables_, clock_).RefreshStale();
}

size_t RollupRefresher::pieces_waiting() const {
  const absl::MutexLock lock(&mutex_);
  return pieces_waiting_;
}

}  // namespace sonde::series
