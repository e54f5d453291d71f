#include "sql/operator/sort_order.h"

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

uint64_t PrefixOfValue(int64_t value) {
  return static_cast<uint64_t>(value) ^ uint64_t { 1 } << 63;
}

uint64_t PrefixOfValue(double value) {
  if (std::isnan(value)) return 0;
  const auto bits = std::bit_cast<uint64_t>(value == 0 ? 0.0 : value);
  return bits >> 63 != 0 ? ~bits : bits | uint64_t{1} << 63;
}

uint64_t PrefixOfValue(std::string_view bytes) {
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
    entries_.reserve(rows);
    const auto is_before = [this](const Entry& a, const Entry& b) { return IsBefore(a, b); };
    for (size_t first = 0; first < rows; first += kRowsOfChunk) {
      const size_t behind = std::min(first + kRowsOfChunk, rows);
      for (size_t row = first; row < behind; ++row) {
        entries_.push_back({columns_.empty() ? 0 : PrefixOf(columns_[0], row), row});
      }
      const auto begin = entries_.begin() + static_cast<std::ptrdiff_t>(first);
      const bool is_in_order = std::is_sorted(begin, entries_.end(), is_before);
      if (absl::Status status = check_->Step(kRowsOfChunk * (is_in_order ? 1 : 8)); !status.ok())
        return status;
      if (!is_in_order) std::sort(begin, entries_.end(), is_before);
    }
    for (size_t width = kRowsOfChunk; width < rows; width *= 2) {
      if (absl::Status status = MergePairs(width); !status.ok()) return status;
    }
    return absl::OkStatus();
  }

  absl::StatusOr<std::vector<size_t>> Rows() const {
    std::vector<size_t> rows;
    rows.reserve(entries_.size());
    for (const Entry& entry : entries_) {
      if (rows.size() % kRowsOfChunk == 0) {
        if (absl::Status status = check_->Step(kRowsOfChunk); !status.ok()) return status;
      }
      rows.push_back(entry.row);
    }
    return rows;
  }

 private:
  bool IsBefore(const Entry& a, const Entry& b) const {
    if (a.prefix != b.prefix) return a.prefix < b.prefix;
    const int order = CompareRows(columns_, a.row, columns_, b.row);
    return order != 0 ? order < 0 : a.row < b.row;
  }

  // Merges stretches of `width` rows, which are in order, by two.
  absl::Status MergePairs(size_t width) {
    const size_t rows = entries_.size();
    merged_.clear();
    merged_.reserve(rows);  // touched chunk by chunk, as a page that is new takes time
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
        merged_.push_back(takes_a ? entries_[a++] : entries_[b++]);
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

uint64_t PrefixOf(const SortColumn& column, size_t row) {
  const ColumnView& values = column.values;
  if (!values.IsThere(row)) return column.nulls_first ? 0 : std::numeric_limits<uint64_t>::max();
  const size_t place = values.PlaceOf(row);
  uint64_t prefix = 0;
  switch (values.type()) {
    case ColumnType::kDouble:
      prefix = PrefixOfValue(values.doubles()[place]);
      break;
    case ColumnType::kBytes:
      prefix = PrefixOfValue(values.bytes()[place]);
      break;
    case ColumnType::kInt64:
    case ColumnType::kTime:
      prefix = PrefixOfValue(values.ints()[place]);
      break;
    default:
      // Lists may share one with NULL, and so do all values of an order that tells nothing of them.
      return column.nulls_first ? 0 : std::numeric_limits<uint64_t>::max();
  }
  return column.descending ? ~prefix : prefix;
}

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
