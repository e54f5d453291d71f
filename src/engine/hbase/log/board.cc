#include "engine/hbase/log/board.h"

#include <algorithm>

#include "absl/time/clock.h"
#include "hbase/attempts.h"

namespace sonde {
namespace {

constexpr char kFamily[] = "d";  // of the catalog's table
constexpr int64_t kTime = 1;     // always one: a value is a cell, which is overwritten

using SteadyClock = std::chrono::steady_clock;

}  // namespace

absl::StatusOr<hbase::RowCells> Board::Get(absl::Time deadline) {
  return client_->rows()->Get(table_, row_, {.families = {kFamily}, .newest_per_column = 1}, deadline);
}

absl::StatusOr<Board::Entries> Board::Look(absl::Time deadline) {
  // A value was there at some moment after the question, and was put before the answer.
  const SteadyClock::time_point asked = SteadyClock::now();
  const absl::StatusOr<hbase::RowCells> row = Get(deadline);
  if (!row.ok()) return row.status();
  const SteadyClock::time_point answered = SteadyClock::now();
  Entries entries;
  const absl::MutexLock lock(&mutex_);
  for (const hbase::Cell& cell : row->cells()) {
    if (cell.family != kFamily) continue;
    const std::string name(cell.qualifier);
    Seen& seen = seen_[name];
    if (seen.value != cell.value) seen = {std::string(cell.value), answered};
    entries[name] = {seen.value, std::max(asked - seen.since, SteadyClock::duration::zero())};
  }
  std::erase_if(seen_, [&](const auto& one) { return !entries.contains(one.first); });
  return entries;
}

absl::StatusOr<bool> Board::Replace(std::string_view name, std::string_view seen, std::string_view value,
                                    absl::Time deadline) {
  hbase::RowChange change{.row = row_};
  if (value.empty()) {
    change.markers.push_back({{}, kFamily, name, kTime, hbase::CellType::kDeleteColumn, {}});
  } else {
    change.puts.push_back({{}, kFamily, name, kTime, hbase::CellType::kPut, value});
  }
  change.guard = hbase::Guard{kFamily, std::string(name), std::string(seen)};
  bool was_lost = false;
  while (true) {
    const absl::Status put = client_->rows()->Apply(table_, {&change, 1}, deadline)[0];
    if (put.ok()) return true;
    const bool is_refused = absl::IsAborted(put);
    if (is_refused && !was_lost) return false;
    if (!is_refused && !absl::IsUnknown(put)) return was_lost ? absl::UnknownError(put.message()) : put;
    // An answer was lost: what is there now tells.
    was_lost = true;
    const absl::StatusOr<hbase::RowCells> row = Get(deadline);
    if (!row.ok()) return absl::UnknownError(row.status().message());
    const auto cell = std::find_if(row->cells().begin(), row->cells().end(), [&](const hbase::Cell& one) {
      return one.family == kFamily && one.qualifier == name;
    });
    const std::string_view now = cell == row->cells().end() ? std::string_view() : cell->value;
    if (now == value) return true;
    if (now != seen) return false;
    // It may be on its way still, and then this one will be refused.
    if (absl::Now() >= deadline) return absl::UnknownError("Nobody knows whether the value will be put");
    absl::SleepFor(hbase::Attempts::kWaitMin);
  }
}

}  // namespace sonde
