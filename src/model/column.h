// A view of a column: values of one type, one after the other, which somebody else holds.  Such are the cells
// of a column that came as numbers (NumberColumn, NumberRow::Part), and a column of a batch of rows
// (rows/batch.h).
//
// Shape: `size()` values of the type, as one array.  Times are microseconds since 1970-01-01.  Arrays, structs and
//   maps are lists (model/datum.h).
//   there()          null: all values are there; else a byte for each value: 1 it is there, 0 it is missing
//                    (NULL). What stands in the array in the place of a missing value means nothing.
//   is_constant()    the array has one value, in place 0, which all `size()` rows share
// Ownership: a view owns nothing, and holds as long as what it views.
// Threads: a view is a value; several threads may read what it views.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "absl/numeric/int128.h"
#include "absl/types/span.h"
#include "model/datum.h"

namespace sonde {

// kInt128: ints that were added or subtracted, and left 64 bits on their way.  kList: values that hold others.
enum class ColumnType : uint8_t { kInt64, kDouble, kBytes, kTime, kInt128, kList };

class ColumnView {
 public:
  // No values.
  ColumnView() = default;
  // `there`: as there().
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
  // A value that is not there stands in there(), too; the datum's own is_there is not looked at.
  static ColumnView OfLists(absl::Span<const Datum> values, const uint8_t* there = nullptr) {
    return {ColumnType::kList, values.data(), values.size(), there, false};
  }
  // `*value`, `size` times.
  static ColumnView Constant(const std::string_view* value, size_t size) {
    return {ColumnType::kBytes, value, size, nullptr, true};
  }
  // The only value of `value`, `size` times.
  static ColumnView Constant(const ColumnView& value, size_t size) {
    assert(value.size() == 1);
    return {value.type(), value.values_, size, value.there_, true};
  }
  // `size` values, none of them there.
  static ColumnView Missing(ColumnType type, size_t size) {
    static constexpr uint8_t kNot = 0;
    return {type, nullptr, size, &kNot, true};
  }

  ColumnType type() const { return static_cast<ColumnType>(shape_ >> kTypeShift & 0xff); }
  size_t size() const { return shape_ & ((uint64_t{1} << kTypeShift) - 1); }
  bool empty() const { return size() == 0; }
  bool is_constant() const { return shape_ >> kConstantShift != 0; }
  const uint8_t* there() const { return there_; }
  bool IsThere(size_t index) const { return there_ == nullptr || there_[PlaceOf(index)] != 0; }
  // The place of a value in the array.
  size_t PlaceOf(size_t index) const { return is_constant() ? 0 : index; }

  // The array, of the type that the column has: kInt64 and kTime; kDouble; kBytes; kInt128; kList.
  const int64_t* ints() const {
    assert(type() == ColumnType::kInt64 || type() == ColumnType::kTime);
    return static_cast<const int64_t*>(values_);
  }
  const double* doubles() const {
    assert(type() == ColumnType::kDouble);
    return static_cast<const double*>(values_);
  }
  const std::string_view* bytes() const {
    assert(type() == ColumnType::kBytes);
    return static_cast<const std::string_view*>(values_);
  }
  const absl::int128* wide_ints() const {
    assert(type() == ColumnType::kInt128);
    return static_cast<const absl::int128*>(values_);
  }
  const Datum* lists() const {
    assert(type() == ColumnType::kList);
    return static_cast<const Datum*>(values_);
  }

  // `count` of the values, from `first` on.
  ColumnView Part(size_t first, size_t count) const {
    if (is_constant()) return {type(), values_, count, there_, true};
    return {type(), static_cast<const char*>(values_) + first * Width(), count,
            there_ == nullptr ? nullptr : there_ + first, false};
  }

 private:
  ColumnView(ColumnType type, const void* values, size_t size, const uint8_t* there, bool is_constant)
      : values_(values),
        there_(there),
        shape_(size | static_cast<uint64_t>(type) << kTypeShift | uint64_t{is_constant} << kConstantShift) {
    assert(size == this->size());
  }

  static constexpr int kTypeShift = 48;
  static constexpr int kConstantShift = 56;

  size_t Width() const {
    return type() == ColumnType::kInt64 || type() == ColumnType::kTime || type() == ColumnType::kDouble ? 8
                                                                                                        : 16;
  }

  const void* values_ = nullptr;
  const uint8_t* there_ = nullptr;
  // The size, from kTypeShift on the type, from kConstantShift on whether it is constant.  One word, which is
  // written and copied at once: of tall rows there are many views.
  uint64_t shape_ = 0;
};
static_assert(sizeof(std::string_view) == 16 && sizeof(absl::int128) == 16 && sizeof(Datum) == 16);

}  // namespace sonde
