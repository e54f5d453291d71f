// A view of values of one type, one after the other, which somebody else holds: the cells of a column that
// came as numbers (NumberColumn, NumberRow::Part), or a column of a batch of rows (rows/batch.h).
//
// Shape: `size()` values of the type, as one array; times are microseconds since 1970-01-01.  A value is
// there or missing (NULL).  `there()` has a byte for each value, 1 or 0; it is null if all values are there.
// The array's element for a missing value means nothing.  A constant column has one value, in place 0, that
// all `size()` rows share. Ownership: a view owns nothing, and holds as long as the viewed array. Threads: a
// view is a value; several threads may read one array through their views.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "absl/numeric/int128.h"
#include "absl/types/span.h"

namespace sonde {

// kInt128: results of adding or subtracting ints, which may exceed 64 bits on their way.
enum class ColumnType : uint8_t { kInt64, kDouble, kBytes, kTime, kInt128 };

class ColumnView {
 public:
  // A column without values.
  ColumnView() = default;
  // `there` as in there().
  static ColumnView OfInts(absl::Span<const int64_t> values, const uint8_t* there = nullptr) {
    return {ColumnType::kInt64, values.data(), values.size(), there, false};
  }
  static ColumnView OfTimes(absl::Span<const int64_t> values, const uint8_t* there = nullptr) {
    return {ColumnType::kTime, values.data(), values.size(), there, false};
  }
  static ColumnView OfDoubles(absl::Span<const double> values, const uint8_t* there = nullptr) {
    return {ColumnType::kDouble, values.data(), values.size(), there, false};
  }
  static ColumnView OfBytes(absl::Span<const std::string_view> values, const uint8_t* there = nullptr) {
    return {ColumnType::kBytes, values.data(), values.size(), there, false};
  }
  static ColumnView OfWideInts(absl::Span<const absl::int128> values, const uint8_t* there = nullptr) {
    return {ColumnType::kInt128, values.data(), values.size(), there, false};
  }
  // A constant column: `*value`, `size` times.
  static ColumnView Constant(const std::string_view* value, size_t size) {
    return {ColumnType::kBytes, value, size, nullptr, true};
  }
  // A column of `size` missing values.
  static ColumnView Missing(ColumnType type, size_t size) {
    static constexpr uint8_t kNot = 0;
    return {type, nullptr, size, &kNot, true};
  }

  ColumnType type() const { return type_; }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  bool is_constant() const { return is_constant_; }
  const uint8_t* there() const { return there_; }
  bool IsThere(size_t index) const { return there_ == nullptr || there_[PlaceOf(index)] != 0; }
  // The place of a value in the array.
  size_t PlaceOf(size_t index) const { return is_constant_ ? 0 : index; }

  // The array, by the column's type: ints() for kInt64 and kTime; doubles() for kDouble; then kBytes and
  // kInt128.
  const int64_t* ints() const {
    assert(type_ == ColumnType::kInt64 || type_ == ColumnType::kTime);
    return static_cast<const int64_t*>(values_);
  }
  const double* doubles() const {
    assert(type_ == ColumnType::kDouble);
    return static_cast<const double*>(values_);
  }
  const std::string_view* bytes() const {
    assert(type_ == ColumnType::kBytes);
    return static_cast<const std::string_view*>(values_);
  }
  const absl::int128* wide_ints() const {
    assert(type_ == ColumnType::kInt128);
    return static_cast<const absl::int128*>(values_);
  }

  // A view of `count` of the values, from `first` on.
  ColumnView Part(size_t first, size_t count) const {
    if (is_constant_) return {type_, values_, count, there_, true};
    return {type_, static_cast<const char*>(values_) + first * Width(), count,
            there_ == nullptr ? nullptr : there_ + first, false};
  }

 private:
  ColumnView(ColumnType type, const void* values, size_t size, const uint8_t* there, bool is_constant)
      : values_(values), there_(there), size_(size), type_(type), is_constant_(is_constant) {}

  size_t Width() const { return type_ <= ColumnType::kDouble || type_ == ColumnType::kTime ? 8 : 16; }

  const void* values_ = nullptr;
  const uint8_t* there_ = nullptr;
  size_t size_ = 0;
  ColumnType type_ = ColumnType::kInt64;
  bool is_constant_ = false;
};
static_assert(sizeof(std::string_view) == 16 && sizeof(absl::int128) == 16);

}  // namespace sonde
