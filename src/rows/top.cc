#include "rows/top.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

namespace sonde::rows {
namespace {

static_assert(std::numeric_limits<long double>::digits >= 64);

std::optional<long double> RankOf(const ColumnView& column, size_t row) {
  if (!column.IsThere(row)) return std::nullopt;
  const size_t place = column.PlaceOf(row);
  switch (column.type()) {
    case ColumnType::kInt64:
    case ColumnType::kTime:
      return static_cast<long double>(column.ints()[place]);
    case ColumnType::kDouble:
      return column.doubles()[place];
    case ColumnType::kInt128:
      return static_cast<long double>(column.wide_ints()[place]);
    case ColumnType::kBytes:
    case ColumnType::kList:
      break;
  }
  return std::nullopt;
}

bool IsLess(long double a, long double b) { return a < b || (std::isnan(a) && !std::isnan(b)); }

}  // namespace

bool TopRows::IsValueBefore(long double a, long double b) const {
  return options_.is_lowest ? IsLess(a, b) : IsLess(b, a);
}

bool TopRows::IsBefore(const Entry& a, const Entry& b) const {
  if (IsValueBefore(a.value, b.value)) return true;
  if (IsValueBefore(b.value, a.value)) return false;
  const auto ties = static_cast<std::ptrdiff_t>(options_.ties);
  return std::lexicographical_compare(a.row.begin(), a.row.begin() + ties, b.row.begin(),
                                      b.row.begin() + ties);
}

absl::Status TopRows::Add(const Batch& batch) {
  if (types_.empty()) {
    for (const ColumnView& column : batch.columns) {
      // A column that has widened in this batch has not in others.
      types_.push_back(column.type() == ColumnType::kInt128 ? ColumnType::kInt64 : column.type());
    }
  }
  const auto is_before = [this](const Entry& a, const Entry& b) { return IsBefore(a, b); };
  for (size_t row = 0; row < batch.rows; ++row) {
    std::optional<long double> value;
    for (const size_t column : options_.by) {
      if (!value) value = RankOf(batch.columns[column], row);
    }
    if (!value) continue;
    const bool is_full = heap_.size() == options_.count;
    if (is_full) {  // most rows are not in
      const long double last = heap_.front().value;
      if (options_.is_lowest ? *value > last : *value < last) continue;
    }
    entry_.value = *value;
    entry_.row.resize(batch.columns.size());
    for (size_t i = 0; i < batch.columns.size(); ++i) GetValue(batch.columns[i], row, &entry_.row[i]);
    if (is_full) {
      if (!IsBefore(entry_, heap_.front())) continue;
      std::pop_heap(heap_.begin(), heap_.end(), is_before);
      std::swap(heap_.back(), entry_);
    } else {
      const size_t bytes = sizeof(Entry) + batch.columns.size() * sizeof(Value);
      if (absl::Status status = held_.Add(static_cast<int64_t>(bytes)); !status.ok()) return status;
      heap_.push_back(entry_);
    }
    std::push_heap(heap_.begin(), heap_.end(), is_before);
  }
  return absl::OkStatus();
}

void TopRows::Result(HeldBatch* out) {
  std::sort_heap(heap_.begin(), heap_.end(),
                 [this](const Entry& a, const Entry& b) { return IsBefore(a, b); });
  *out = HeldBatch(types_);
  for (Entry& entry : heap_) {
    for (size_t i = 0; i < entry.row.size(); ++i) out->columns[i].AppendValue(entry.row[i]);
    entry.row = {};
  }
  heap_.clear();
  held_.Clear();
}

}  // namespace sonde::rows
