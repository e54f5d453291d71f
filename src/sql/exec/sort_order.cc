#include "sql/exec/sort_order.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>

#include "sql/value/value.h"

namespace sonde::sql {
namespace {

constexpr size_t kRowsOfChunk = 4'096;

template <typename T>
int Order(const T& a, const T& b) {
  return a < b ? -1 : b < a ? 1 : 0;
}

int OrderDoubles(double a, double b) {
  const bool a_is_number = !std::isnan(a);
  const bool b_is_number = !std::isnan(b);
  return a_is_number && b_is_number ? Order(a, b) : Order(a_is_number, b_is_number);
}

// Both values are there.
int OrderValues(const ColumnView& a, size_t row_a, const ColumnView& b, size_t row_b) {
  const size_t place_a = a.PlaceOf(row_a);
  const size_t place_b = b.PlaceOf(row_b);
  switch (a.type()) {
    case ColumnType::kInt64:
    case ColumnType::kTime:
      return Order(a.ints()[place_a], b.ints()[place_b]);
    case ColumnType::kDouble:
      return OrderDoubles(a.doubles()[place_a], b.doubles()[place_b]);
    case ColumnType::kBytes:
      return Order(a.bytes()[place_a].compare(b.bytes()[place_b]), 0);
    default:
      return Compare(a, row_a, b, row_b);
  }
}

int CompareKey(const SortColumn& a, size_t row_a, const SortColumn& b, size_t row_b) {
  const bool a_is_there = a.values.IsThere(row_a);
  const bool b_is_there = b.values.IsThere(row_b);
  if (!a_is_there || !b_is_there) {
    const int order = Order(a_is_there, b_is_there);
    return a.nulls_first ? order : -order;
  }
  const int order = OrderValues(a.values, row_a, b.values, row_b);
  return a.descending ? -order : order;
}

// Numbers that are ordered as the values of a key are, but that some unequal values share one.
uint64_t PrefixOf(int64_t value) {
  return static_cast<uint64_t>(value) ^ uint64_t { 1 } << 63;
}

uint64_t PrefixOf(double value) {
  if (std::isnan(value)) return 0;
  const auto bits = std::bit_cast<uint64_t>(value == 0 ? 0.0 : value);
  return bits >> 63 != 0 ? ~bits : bits | uint64_t{1} << 63;
}

uint64_t PrefixOf(std::string_view bytes) {
  uint64_t prefix = 0;
  for (size_t i = 0; i < sizeof(prefix); ++i) {
    prefix = prefix << 8 | (i < bytes.size() ? static_cast<uint8_t>(bytes[i]) : 0);
  }
  return prefix;
}

struct Entry {
  uint64_t prefix = 0;
  size_t row = 0;
};

class Sorter {
 public:
  Sorter(absl::Span<const SortColumn> columns, rows::WorkCheck* check) : columns_(columns), check_(check) {}

  absl::Status Sort(size_t rows) {
    entries_.resize(rows);
    for (size_t row = 0; row < rows; ++row) entries_[row].row = row;
    if (!columns_.empty()) SetPrefixes(columns_[0]);
    const auto is_before = [this](const Entry& a, const Entry& b) { return IsBefore(a, b); };
    for (size_t first = 0; first < rows; first += kRowsOfChunk) {
      const auto begin = entries_.begin() + static_cast<std::ptrdiff_t>(first);
      const auto end = entries_.begin() + static_cast<std::ptrdiff_t>(std::min(first + kRowsOfChunk, rows));
      if (std::is_sorted(begin, end, is_before)) continue;
      if (absl::Status status = check_->Step(kRowsOfChunk * 8); !status.ok()) return status;
      std::sort(begin, end, is_before);
    }
    for (size_t width = kRowsOfChunk; width < rows; width *= 2) {
      if (absl::Status status = MergePairs(width); !status.ok()) return status;
    }
    return absl::OkStatus();
  }

  std::vector<size_t> Rows() const {
    std::vector<size_t> rows(entries_.size());
    for (size_t i = 0; i < rows.size(); ++i) rows[i] = entries_[i].row;
    return rows;
  }

 private:
  void SetPrefixes(const SortColumn& column) {
    const ColumnView& values = column.values;
    if (values.is_constant() || values.type() == ColumnType::kList) return;
    for (Entry& entry : entries_) {
      if (!values.IsThere(entry.row)) {
        entry.prefix = column.nulls_first ? 0 : std::numeric_limits<uint64_t>::max();
        continue;
      }
      if (values.type() == ColumnType::kDouble) {
        entry.prefix = PrefixOf(values.doubles()[entry.row]);
      } else if (values.type() == ColumnType::kBytes) {
        entry.prefix = PrefixOf(values.bytes()[entry.row]);
      } else {
        entry.prefix = PrefixOf(values.ints()[entry.row]);
      }
      if (column.descending) entry.prefix = ~entry.prefix;
    }
  }

  bool IsBefore(const Entry& a, const Entry& b) const {
    if (a.prefix != b.prefix) return a.prefix < b.prefix;
    const int order = CompareRows(columns_, a.row, columns_, b.row);
    return order != 0 ? order < 0 : a.row < b.row;
  }

  // Merges stretches of `width` rows, which are in order, by two.
  absl::Status MergePairs(size_t width) {
    merged_.resize(entries_.size());
    const size_t rows = entries_.size();
    for (size_t first = 0; first < rows; first += 2 * width) {
      const size_t middle = std::min(first + width, rows);
      const size_t end = std::min(first + 2 * width, rows);
      size_t a = first;
      size_t b = middle;
      const bool is_in_order = middle == end || !IsBefore(entries_[middle], entries_[middle - 1]);
      for (size_t to = first; to < end; ++to) {
        if (to % kRowsOfChunk == 0) {
          if (absl::Status status = check_->Step(kRowsOfChunk); !status.ok()) return status;
        }
        const bool takes_a = b == end || (a < middle && (is_in_order || !IsBefore(entries_[b], entries_[a])));
        merged_[to] = takes_a ? entries_[a++] : entries_[b++];
      }
    }
    entries_.swap(merged_);
    return absl::OkStatus();
  }

  const absl::Span<const SortColumn> columns_;
  rows::WorkCheck* const check_;
  std::vector<Entry> entries_;
  std::vector<Entry> merged_;
};

}  // namespace

int CompareRows(absl::Span<const SortColumn> columns_a, size_t a, absl::Span<const SortColumn> columns_b,
                size_t b) {
  for (size_t i = 0; i < columns_a.size(); ++i) {
    if (const int order = CompareKey(columns_a[i], a, columns_b[i], b); order != 0) return order;
  }
  return 0;
}

absl::StatusOr<std::vector<size_t>> SortOrder(absl::Span<const SortColumn> columns, size_t rows,
                                              rows::WorkCheck* check) {
  Sorter sorter(columns, check);
  if (absl::Status status = sorter.Sort(rows); !status.ok()) return status;
  return sorter.Rows();
}

}  // namespace sonde::sql
