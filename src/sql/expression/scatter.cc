#include "sql/expression/scatter.h"

#include <cstring>
#include <string_view>
#include <type_traits>
#include <vector>

#include "absl/numeric/int128.h"
#include "base/check.h"
#include "model/datum.h"

namespace sonde::sql {
namespace {

// Calls f with the array of the column's values.
template <typename F>
auto WithValues(const ColumnView& column, F&& f) {
  switch (column.type()) {
    case ColumnType::kInt64:
    case ColumnType::kTime:
      return f(column.ints());
    case ColumnType::kDouble:
      return f(column.doubles());
    case ColumnType::kBytes:
      return f(column.bytes());
    case ColumnType::kInt128:
      return f(column.wide_ints());
    case ColumnType::kList:
      break;
  }
  return f(column.lists());
}

ColumnView ViewOf(ColumnType type, const void* values, size_t rows, const uint8_t* there) {
  switch (type) {
    case ColumnType::kInt64:
      return ColumnView::OfInts({static_cast<const int64_t*>(values), rows}, there);
    case ColumnType::kTime:
      return ColumnView::OfTimes({static_cast<const int64_t*>(values), rows}, there);
    case ColumnType::kDouble:
      return ColumnView::OfDoubles({static_cast<const double*>(values), rows}, there);
    case ColumnType::kBytes:
      return ColumnView::OfBytes({static_cast<const std::string_view*>(values), rows}, there);
    case ColumnType::kInt128:
      return ColumnView::OfWideInts({static_cast<const absl::int128*>(values), rows}, there);
    case ColumnType::kList:
      break;
  }
  return ColumnView::OfLists({static_cast<const Datum*>(values), rows}, there);
}

constexpr bool IsInts(ColumnType type) { return type == ColumnType::kInt64 || type == ColumnType::kTime; }

}  // namespace

Scatter::Scatter(ColumnType type, size_t rows, Arena* arena) : type_(type), rows_(rows) {
  // Every type's values are of 8 or 16 bytes.  Zeros are a value of each type, for kernels that look at values
  // that are not there.
  const size_t width = IsInts(type) || type == ColumnType::kDouble ? 8 : 16;
  values_ = arena->New<char>(rows * width);
  there_ = arena->New<uint8_t>(rows);
  std::memset(values_, 0, rows * width);
  std::memset(there_, 0, rows);
}

void Scatter::Put(absl::Span<const size_t> places, const ColumnView& column) {
  DCHECK(places.size() == column.size());
  DCHECK(column.type() == type_ || (IsInts(type_) && IsInts(column.type())));
  if (column.there() != nullptr && column.is_constant() && column.there()[0] == 0) return;
  WithValues(column, [&](const auto* from) {
    auto* const to = static_cast<std::remove_const_t<std::remove_pointer_t<decltype(from)>>*>(values_);
    if (column.there() == nullptr) {
      for (size_t i = 0; i < places.size(); ++i) {
        to[places[i]] = from[column.PlaceOf(i)];
        there_[places[i]] = 1;
      }
      there_count_ += places.size();
      return;
    }
    for (size_t i = 0; i < places.size(); ++i) {
      if (!column.IsThere(i)) continue;
      to[places[i]] = from[column.PlaceOf(i)];
      there_[places[i]] = 1;
      ++there_count_;
    }
  });
}

void Scatter::PutRange(size_t first, const ColumnView& column) {
  DCHECK(first + column.size() <= rows_);
  DCHECK(column.type() == type_ || (IsInts(type_) && IsInts(column.type())));
  if (column.there() != nullptr && column.is_constant() && column.there()[0] == 0) return;
  WithValues(column, [&](const auto* from) {
    auto* const to = static_cast<std::remove_const_t<std::remove_pointer_t<decltype(from)>>*>(values_);
    for (size_t i = 0; i < column.size(); ++i) {
      if (!column.IsThere(i)) continue;
      to[first + i] = from[column.PlaceOf(i)];
      there_[first + i] = 1;
      ++there_count_;
    }
  });
}

ColumnView Scatter::View() const {
  return ViewOf(type_, values_, rows_, there_count_ == rows_ ? nullptr : there_);
}

ColumnView Gather(const ColumnView& column, absl::Span<const size_t> places, Arena* arena) {
  if (column.is_constant()) return column.Part(0, places.size());
  uint8_t* there = nullptr;
  if (column.there() != nullptr) {
    there = arena->New<uint8_t>(places.size());
    for (size_t i = 0; i < places.size(); ++i) there[i] = column.there()[places[i]];
  }
  return WithValues(column, [&](const auto* from) {
    using Stored = std::remove_const_t<std::remove_pointer_t<decltype(from)>>;
    auto* const to = arena->New<Stored>(places.size());
    for (size_t i = 0; i < places.size(); ++i) to[i] = from[places[i]];
    return ViewOf(column.type(), to, places.size(), there);
  });
}

void RowsThatAreTrue(const ColumnView& condition, std::vector<size_t>* rows) {
  rows->resize(condition.size());
  size_t count = 0;
  const auto add = [&](auto&& is_true) {
    // Each row is written, and the next row over it unless it counts: no branch.
    for (size_t i = 0; i < condition.size(); ++i) {
      (*rows)[count] = i;
      count += is_true(i) ? 1 : 0;
    }
  };
  if (condition.is_constant()) {
    const bool is_true = !condition.empty() && condition.IsThere(0) && condition.ints()[0] != 0;
    add([is_true](size_t) { return is_true; });
  } else if (const int64_t* const values = condition.ints(); condition.there() == nullptr) {
    add([values](size_t i) { return values[i] != 0; });
  } else {
    const uint8_t* const there = condition.there();
    add([values, there](size_t i) { return (there[i] != 0) & (values[i] != 0); });
  }
  rows->resize(count);
}

}  // namespace sonde::sql
