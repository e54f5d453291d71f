#include "table/range_estimate.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "absl/time/clock.h"
#include "base/bytes.h"

namespace sonde {
namespace {

// The first rows of ranges.
struct FirstRows {
  size_t rows = 0;
  std::string last_key;
  bool are_all = false;
};

absl::StatusOr<FirstRows> CountFirstRows(Engine* engine, TableId table, const std::vector<RowRange>& ranges) {
  absl::StatusOr<std::unique_ptr<RowStream>> stream =
      engine->Scan(table, ranges, {.hints = {.keys_only = true}});
  if (!stream.ok()) return stream.status();
  const absl::Time until = absl::Now() + RangeEstimate::kCountedFor;
  FirstRows first;
  RowPiece piece;
  while (true) {
    const absl::StatusOr<bool> more = (*stream)->Next(&piece);
    if (!more.ok()) return more.status();
    first.are_all = !*more;
    if (!*more) return first;
    if (first.rows > 0 && piece.row_key == first.last_key) continue;
    if (first.rows == RangeEstimate::kRowsCounted || (first.rows > 0 && absl::Now() > until)) return first;
    ++first.rows;
    first.last_key = piece.row_key;
  }
}

// About how many bytes lie in the first ranges, kRangesMeasured at most.
absl::StatusOr<double> MeasureFirst(RangeSizes* sizes, TableId table, const std::vector<RowRange>& ranges) {
  double bytes = 0;
  for (size_t i = 0; i < std::min(ranges.size(), RangeEstimate::kRangesMeasured); ++i) {
    const absl::StatusOr<std::vector<uint64_t>> measured =
        sizes->Measure(table, {ranges[i].start}, ranges[i].end);
    if (!measured.ok()) return measured.status();
    bytes += static_cast<double>(measured->front());
  }
  return bytes;
}

}  // namespace

absl::StatusOr<std::optional<RangeEstimate>> EstimateRanges(Engine* engine, TableId table,
                                                            const std::vector<RowRange>& ranges) {
  const absl::StatusOr<FirstRows> first = CountFirstRows(engine, table, ranges);
  if (!first.ok()) return first.status();
  if (first->are_all) return RangeEstimate{.rows = static_cast<double>(first->rows), .is_exact = true};
  RangeSizes* const sizes = engine->range_sizes();
  if (sizes == nullptr) return std::nullopt;
  const std::vector<RowRange> counted = ClipRanges(ranges, {"", Successor(first->last_key)});
  const absl::StatusOr<double> counted_bytes = MeasureFirst(sizes, table, counted);
  if (!counted_bytes.ok()) return counted_bytes.status();
  const absl::StatusOr<double> all_bytes = MeasureFirst(sizes, table, ranges);
  if (!all_bytes.ok()) return all_bytes.status();
  if (*counted_bytes <= 0) return std::nullopt;
  const auto times = [](const std::vector<RowRange>& of) {
    return std::max(1.0, static_cast<double>(of.size()) / RangeEstimate::kRangesMeasured);
  };
  const double share = *all_bytes * times(ranges) / (*counted_bytes * times(counted));
  return RangeEstimate{.rows = static_cast<double>(first->rows) * std::max(1.0, share)};
}

}  // namespace sonde
