// A column that owns its values, for operators that make values: appended one by one or many at once, and
// viewed all together (model/column.h says what a column is).
//
//   rows::Column sums(ColumnType::kInt64);
//   sums.AppendInt(7);
//   sums.AppendMissing();
//   const ColumnView view = sums.View();     // 7, NULL
//
// Ints widen: a column of kInt64 that is given a number of more than 64 bits becomes one of kInt128, and
// stays so until it is cleared.  So nothing is lost on the way, and whoever gives numbers out looks for those
// that have left 64 bits (IsInt in base/wide_int.h).
// Ownership: a column copies what it is given, bytes too.  Views, and the arrays of ints(), doubles() and
//   there(), hold until the column is changed or moved.
// Threads: not for several threads.
// Errors: none.  A value of another type is the caller's fault (an assertion).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/arena.h"
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
  // Takes all values away, and keeps their memory.  A column that has widened gets the type back that it was
  // made with.
  void Clear();
  // Takes memory for `count` values of the type, so that it does not grow before it holds more.
  void Reserve(size_t count);
  // Clears it, and makes it a column of `type`.
  void Become(ColumnType type) {
    declared_ = type;
    Clear();
  }

  // To a column of kInt64, kTime or kInt128.
  void AppendInt(int64_t value);
  // To a column of kInt64 or kInt128.
  void AppendWideInt(absl::int128 value);
  void AppendDouble(double value) {
    assert(type_ == ColumnType::kDouble);
    doubles_.push_back(value);
    NoteThere();
  }
  // `count` times, and kept once; if it is the value before, that one is shown again.
  void AppendBytes(std::string_view value, size_t count = 1);
  // Copies the list, and all that it holds.
  void AppendList(const Datum& list);
  void AppendMissing(size_t count = 1);
  // The value has the type of the column, or is missing.
  void AppendValue(const Value& value);
  // All of `values`, missing ones too.  They have the type of the column, or both are ints.
  void Append(const ColumnView& values);
  // Those of `values` that stand in these places, in the order of `places`.
  void AppendPlaces(const ColumnView& values, absl::Span<const size_t> places);
  // Those of `values` that are there.
  void AppendThose(const ColumnView& values);

  // Makes it `count` values long, none of them missing.  The caller writes them into ints() or doubles().
  void ResizeDense(size_t count);
  // Makes it `count` values long, all of them missing.
  void ResizeMissing(size_t count);
  // The caller has written the value in this place: it is there.
  void SetThere(size_t place) { there_[place] = 1; }
  // The value in this place is missing.
  void SetMissing(size_t place);
  // Copies the value of the place before into this one, whose value is missing.  place > 0.
  void CopyFromBefore(size_t place);

  // The array of a column of kInt64 or kTime, and that of one of kDouble.
  int64_t* ints() { return ints_.data(); }
  double* doubles() { return doubles_.data(); }
  // Null: all values are there.
  const uint8_t* there() const { return there_.empty() ? nullptr : there_.data(); }
  bool IsThere(size_t place) const { return there_.empty() || there_[place] != 0; }

  ColumnView View() const;
  // About, of all that it holds.
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
  // The one of type_ has the values; the others are empty.
  std::vector<int64_t> ints_;
  std::vector<double> doubles_;
  std::vector<absl::int128> wide_ints_;
  std::vector<std::string_view> bytes_;
  codec::ByteArena arena_;  // what bytes_ view
  size_t bytes_held_ = 0;   // in arena_
  std::vector<Datum> lists_;
  Arena list_items_;            // what lists_ view
  std::vector<uint8_t> there_;  // empty: all values are there
};

}  // namespace sonde::rows
