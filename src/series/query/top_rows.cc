#include "series/query/top_rows.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace sonde::series {

static_assert(std::numeric_limits<long double>::digits >= 64);

TopRows::TopRows(const Top& top, const ResultHeader& header) : top_(top) {
  const auto found = std::find_if(header.values.begin(), header.values.end(), [&](const auto& column) {
    return column.is_number && (top.column.empty() || column.name == top.column);
  });
  column_ = found - header.values.begin();
}

bool TopRows::IsBefore(const Entry& a, const Entry& b) const {
  if (a.value != b.value) return top_.is_lowest ? a.value < b.value : a.value > b.value;
  if (a.row.tags != b.row.tags) return a.row.tags < b.row.tags;
  return a.row.time_micros < b.row.time_micros;
}

void TopRows::Add(const ResultRow& row) {
  Entry entry;
  if (const auto* number = std::get_if<double>(&row.values[column_])) {
    entry.value = *number;
  } else if (const auto* count = std::get_if<int64_t>(&row.values[column_])) {
    entry.value = static_cast<long double>(*count);
  } else if (const auto* wide = std::get_if<absl::int128>(&row.values[column_])) {
    entry.value = static_cast<long double>(*wide);
  } else {
    return;
  }
  entry.row = row;
  const auto is_before = [this](const Entry& a, const Entry& b) { return IsBefore(a, b); };
  if (heap_.size() == top_.count) {
    if (!IsBefore(entry, heap_.front())) return;
    std::pop_heap(heap_.begin(), heap_.end(), is_before);
    heap_.pop_back();
  }
  heap_.push_back(std::move(entry));
  std::push_heap(heap_.begin(), heap_.end(), is_before);
}

void TopRows::Emit(const std::function<bool(const ResultRow&)>& emit) {
  std::sort_heap(heap_.begin(), heap_.end(),
                 [this](const Entry& a, const Entry& b) { return IsBefore(a, b); });
  for (const Entry& entry : heap_) {
    if (!emit(entry.row)) return;
  }
}

}  // namespace sonde::series
