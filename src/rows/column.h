// A column that owns its values, as an operator makes it: values of one type at the end, one by one or many
// at once, and a view of all of them (model/column.h says what a column is).
//
//   rows::Column sums(ColumnType::kInt64);
//   sums.AppendInt(7);
//   sums.AppendMissing();
//   const ColumnView view = sums.View();     // 7, NULL
//
// Ints widen: a column of kInt64 becomes one of kInt128 when it is given a number that 64 bits do not hold,
// and is one until it is cleared; so nothing is lost, and who needs 64 bits looks for what leaves them
// (IsInt). Ownership: a column copies what it is given, bytes too.  Views, and what ints() and the others
// return, hold until the column is changed or moved. Threads: not for several threads. Errors: none; a value
// of another type is a fault of the caller (an assertion).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "codec/strings.h"
#include "model/column.h"
#include "rows/value.h"

namespace sonde::rows {

class Column {
 public:
  explicit Column(ColumnType type = ColumnType::kInt64) : declared_(type), type_(type) {}
  Column(Column&&) = default;
  Column& operator=(Column&&) = default;

  ColumnType type() const { return type_; }
  size_t size() const;
  // Takes all values away, and keeps their memory.  A column that has widened is again of the type that it
  // was made with.
  void Clear();
  // The same, and makes it a column of `type`.
  void Become(ColumnType type) {
    declared_ = type;
    Clear();
  }

  // For kInt64, kTime and kInt128.
  void AppendInt(int64_t value);
  // For kInt64 and kInt128.
  void AppendWideInt(absl::int128 value);
  void AppendDouble(double value) {
    assert(type_ == ColumnType::kDouble);
    doubles_.push_back(value);
    NoteThere();
  }
  void AppendBytes(std::string_view value);
  void AppendMissing(size_t count = 1);
  // `value` must have the column's type.
  void AppendValue(const Value& value);
  // The values of `values`, missing ones too.  Their type is that of the column, or both are ints.
  void Append(const ColumnView& values);
  // Appends the values in these places, in the order of `places`.
  void AppendPlaces(const ColumnView& values, absl::Span<const size_t> places);

  // Those of `values` that are there.
  void AppendThose(const ColumnView& values);

  // Makes it `count` values long, none of them missing, for those who write them into ints() or doubles().
  void ResizeDense(size_t count);
  // Makes it `count` values long, all of them missing.
  void ResizeMissing(size_t count);
  // The value in this place was written, and is there.
  void SetThere(size_t place) { there_[place] = 1; }
  // The value in this place is missing.
  void SetMissing(size_t place);
  // Copies the value in the place before over a missing one.  place > 0.
  void CopyFromBefore(size_t place);

  // The array, of the type that the column has: kInt64 and kTime; kDouble.
  int64_t* ints() { return ints_.data(); }
  double* doubles() { return doubles_.data(); }
  // Null: all are there.
  const uint8_t* there() const { return there_.empty() ? nullptr : there_.data(); }
  bool IsThere(size_t place) const { return there_.empty() || there_[place] != 0; }

  ColumnView View() const;
  // About, of what is held.
  size_t MemoryBytes() const;

 private:
  void Widen();
  void NoteThere() {
    if (!there_.empty()) there_.push_back(1);
  }
  std::string_view Keep(std::string_view bytes);
  void AppendThere(const ColumnView& values, size_t place);

  ColumnType declared_;
  ColumnType type_;
  // That of the type has the values; the others are empty.
  std::vector<int64_t> ints_;
  std::vector<double> doubles_;
  std::vector<absl::int128> wide_ints_;
  std::vector<std::string_view> bytes_;
  codec::ByteArena arena_;      // what bytes_ view
  size_t bytes_held_ = 0;       // of the arena
  std::vector<uint8_t> there_;  // empty: all are there
};

}  // namespace sonde::rows
