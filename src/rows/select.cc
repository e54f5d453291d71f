#include "rows/select.h"

#include <algorithm>
#include <queue>

namespace sonde::rows {

RowSpan RowsInTime(absl::Span<const int64_t> times_micros, int64_t from_micros, int64_t to_micros) {
  if (times_micros.empty() || (times_micros.front() < to_micros && times_micros.back() >= from_micros)) {
    return {0, times_micros.size()};
  }
  const auto newer = [](int64_t a, int64_t b) { return a > b; };
  const auto newest = std::upper_bound(times_micros.begin(), times_micros.end(), to_micros, newer);
  const auto end = std::upper_bound(newest, times_micros.end(), from_micros, newer);
  return {static_cast<size_t>(newest - times_micros.begin()),
          static_cast<size_t>(end - times_micros.begin())};
}

std::vector<size_t> RowsWithValues(const Batch& batch, size_t first_column) {
  std::vector<size_t> rows;
  for (size_t row = 0; row < batch.rows; ++row) {
    const bool has_any =
        std::any_of(batch.columns.begin() + static_cast<std::ptrdiff_t>(first_column), batch.columns.end(),
                    [row](const ColumnView& column) { return column.IsThere(row); });
    if (has_any) rows.push_back(row);
  }
  return rows;
}

absl::StatusOr<std::vector<size_t>> OrderByTime(absl::Span<const int64_t> times_micros, WorkCheck* check) {
  struct Stretch {
    size_t next = 0;
    size_t end = 0;
  };
  const auto comes_later = [times_micros](const Stretch& a, const Stretch& b) {
    const int64_t time_a = times_micros[a.next], time_b = times_micros[b.next];
    return time_a != time_b ? time_a > time_b : a.next > b.next;
  };
  std::priority_queue<Stretch, std::vector<Stretch>, decltype(comes_later)> stretches(comes_later);
  for (size_t begin = 0; begin < times_micros.size();) {
    size_t end = begin + 1;
    while (end < times_micros.size() && times_micros[end] >= times_micros[end - 1]) ++end;
    stretches.push({begin, end});
    begin = end;
  }
  constexpr size_t kStepsOfMerge = 8;
  std::vector<size_t> order;
  order.reserve(times_micros.size());
  while (!stretches.empty()) {
    if (absl::Status status = check->Step(kStepsOfMerge); !status.ok()) return status;
    Stretch first = stretches.top();
    stretches.pop();
    order.push_back(first.next);
    if (++first.next < first.end) stretches.push(first);
  }
  return order;
}

void TakeRows(const Batch& batch, absl::Span<const size_t> rows, size_t first_column, HeldBatch* out) {
  out->Clear();
  for (size_t i = 0; i < out->columns.size(); ++i) {
    out->columns[i].AppendPlaces(batch.columns[first_column + i], rows);
  }
}

}  // namespace sonde::rows
