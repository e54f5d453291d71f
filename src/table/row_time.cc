#include "table/row_time.h"

#include <algorithm>
#include <variant>

#include "filter/byte_range.h"
#include "model/limits.h"
#include "table/column_hints.h"

namespace sonde {

bool AsksForServerTime(const Mutation& mutation) {
  const auto asks = [](const auto& one) {
    if constexpr (requires { one.timestamp_micros; }) {
      return one.timestamp_micros == kServerTimestamp;
    } else {
      return false;
    }
  };
  return std::visit(asks, mutation);
}

RowTime::RowTime(const TableSchema& schema, const Clock* clock, int64_t now_micros,
                 std::initializer_list<absl::Span<const Mutation>> branches)
    : clock_(clock), now_micros_(now_micros) {
  const auto add = [&](const auto& one) {
    if constexpr (requires { one.timestamp_micros; }) {
      const FamilySchema* const family = schema.FindFamily(one.family);  // null: Normalize says so
      if (family != nullptr) columns_.emplace_back(family->id, one.qualifier);
    }
  };
  for (const absl::Span<const Mutation> branch : branches) {
    for (const Mutation& mutation : branch) {
      if (AsksForServerTime(mutation)) std::visit(add, mutation);
    }
  }
  std::sort(columns_.begin(), columns_.end());
  columns_.erase(std::unique(columns_.begin(), columns_.end()), columns_.end());
}

void RowTime::AddTo(ReadHints* hints) const {
  if (columns_.empty()) return;
  ByteRanges columns;
  for (const auto& [family, qualifier] : columns_) {
    hints->families->push_back(family);
    columns.push_back(ByteRange::Single(qualifier));
  }
  std::sort(hints->families->begin(), hints->families->end());
  hints->families->erase(std::unique(hints->families->begin(), hints->families->end()),
                         hints->families->end());
  if (hints->columns.has_value()) AddColumns(std::move(columns), &*hints->columns);
  const auto from = static_cast<uint64_t>(std::max<int64_t>(hints->time_range.start_micros, 0));
  // Without an end: nobody knows how late the row will be read.
  hints->time_range =
      TimeRange::Of(std::min(from, static_cast<uint64_t>(now_micros_)), TimeRange::kInfiniteEnd);
  hints->newest_per_column.reset();  // the newest may be one of the far future
}

int64_t RowTime::Of(const std::vector<RowFamily>& row) const {
  const int64_t now_micros = std::max(now_micros_, clock_->NowMicros());
  int64_t time_micros = now_micros;
  for (const RowFamily& family : row) {
    for (const CellView& cell : family.cells) {
      if (cell.timestamp_micros <= time_micros || cell.timestamp_micros - now_micros > kClocksDifferMicros)
        continue;
      if (std::binary_search(columns_.begin(), columns_.end(), Column(family.family, cell.qualifier)))
        time_micros = cell.timestamp_micros;
    }
  }
  return time_micros;
}

}  // namespace sonde
