#include "series/index/write/index_upkeep.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "base/random.h"
#include "series/index/index_table.h"
#include "series/index/write/seal_and_fold.h"
#include "series/schema/calendar.h"
#include "series/schema/time_range.h"

namespace sonde::series {
namespace {

// Tails are sealed when they have so many entities, and a share of their block.
constexpr size_t kSealEntities = 4'096;
constexpr size_t kSealShare = 3;
// Or so many rows, and one more for each so many entities.
constexpr size_t kSealRows = 64;
constexpr size_t kSealEntitiesOfRow = 64;
// Or when nothing new has come for so long: soon where they are a share of their block, since that is written again.
constexpr int64_t kQuietMicros = 10 * kMicrosPerSecond;
constexpr size_t kQuietShare = 16;
constexpr int64_t kLongQuietMicros = 10 * kMicrosPerMinute;
constexpr int kFoldCells = 16;
constexpr size_t kSetsCountedMax = 100'000;

}  // namespace

IndexUpkeep::IndexUpkeep(TableAccess* tables, const Clock* clock, bool is_shared)
    : tables_(tables),
      clock_(clock),
      is_shared_(is_shared),
      writer_(fmt::format("{:016x}", SystemRandom().Next())) {}

bool IndexUpkeep::Tails::IsDue(int64_t now_micros) const {
  if (counts.entities >= kSealEntities && counts.entities * kSealShare >= open_end) return true;
  if (counts.rows >= kSealRows + entities / kSealEntitiesOfRow) return true;
  const int64_t quiet_micros = now_micros - last_micros;
  return quiet_micros >= kLongQuietMicros ||
         (quiet_micros >= kQuietMicros && counts.entities * kQuietShare >= open_end);
}

void IndexUpkeep::NoteTails(const KnownSeriesRef& series, TailCounts more, size_t open_end, size_t entities) {
  if (more.rows == 0) return;
  const int64_t now_micros = clock_->NowMicros();
  const absl::MutexLock lock(&mutex_);
  Tails& tails = tails_[series->schema.name];
  tails.series = series;
  tails.counts.rows += more.rows;
  tails.counts.entities += more.entities;
  tails.open_end = open_end;
  tails.entities = entities;
  tails.last_micros = now_micros;
}

void IndexUpkeep::NoteOwnBlock(const std::string& block) {
  const absl::MutexLock lock(&mutex_);
  own_blocks_.insert(block);
}

void IndexUpkeep::NoteSetCell(const std::string& row_key) {
  const absl::MutexLock lock(&mutex_);
  if (cells_of_set_.size() >= kSetsCountedMax) cells_of_set_.clear();
  int& cells = cells_of_set_[row_key];
  if (++cells < kFoldCells) return;
  cells = 0;
  if (to_fold_.size() < kSetsCountedMax) to_fold_.insert(row_key);
}

void IndexUpkeep::NoteSetRow(const std::string& row_key, size_t cells) {
  if (cells <= kFoldCells) return;
  const absl::MutexLock lock(&mutex_);
  if (to_fold_.size() < kSetsCountedMax) to_fold_.insert(row_key);
}

absl::Status IndexUpkeep::KeepUp(bool is_end) {
  const absl::MutexLock working(&working_);
  const int64_t now_micros = clock_->NowMicros();
  std::vector<Tails> to_seal;
  absl::flat_hash_set<std::string> to_fold;
  {
    const absl::MutexLock lock(&mutex_);
    absl::erase_if(tails_, [&](auto& entry) {
      // Another process goes on with blocks of open series.
      const bool is_last_chance = is_end && !entry.second.series->is_open();
      if (!is_last_chance && !entry.second.IsDue(now_micros)) return false;
      to_seal.push_back(std::move(entry.second));
      return true;
    });
    to_fold.swap(to_fold_);
  }
  absl::Status result;
  for (const Tails& tails : to_seal) {
    const absl::Status status = SealSeries(tails.series);
    if (status.ok() || absl::IsDataLoss(status)) continue;
    result = status;
    NoteTails(tails.series, tails.counts, tails.open_end, tails.entities);
  }
  for (const std::string& row_key : to_fold) {
    const absl::Status status = FoldSetRow(row_key, fmt::format("{}.{:x}", writer_, next_column_++),
                                           WholeMillis(now_micros), tables_);
    if (status.ok() || absl::IsDataLoss(status)) continue;
    result = status;
    const absl::MutexLock lock(&mutex_);
    to_fold_.insert(row_key);
  }
  return result;
}

absl::Status IndexUpkeep::SealSeries(const KnownSeriesRef& series) {
  const absl::StatusOr<IndexDirectory> directory = ReadDirectory(series->schema.name, tables_);
  if (!directory.ok()) return directory.status();
  std::map<std::string, std::vector<const IndexTail*>> tails_of;
  for (const IndexTail& tail : directory->tails) tails_of[tail.block].push_back(&tail);
  for (const auto& [block, tails] : tails_of) {
    if (is_shared_ || !series->is_open()) {
      // Another writer may be about to seal it, with more.
      const absl::MutexLock lock(&mutex_);
      if (!own_blocks_.contains(block)) continue;
    }
    const absl::Status status =
        SealBlock(*series, *directory, block, tails, WholeMillis(clock_->NowMicros()), tables_);
    if (!status.ok() && !absl::IsDataLoss(status)) return status;
  }
  return absl::OkStatus();
}

}  // namespace sonde::series
