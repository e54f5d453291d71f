// The rows with the largest (or smallest) values of a column.
//
// Order: Result gives the first of them first.  Rows of one value go by the columns in front of it (bytes and
//   ints, ascending); rows without a value are out.  NaN is less than all other numbers.
// Ownership: the rows that are in are copied.  Only the values of the others are looked at.
// Threads: not for several threads.
#pragma once

#include <cstddef>
#include <vector>

#include "absl/status/status.h"
#include "rows/batch.h"
#include "rows/held_memory.h"
#include "rows/value.h"

namespace sonde::rows {

class TopRows {
 public:
  struct Options {
    size_t count = 0;  // > 0
    bool is_lowest = false;
    // Columns of numbers.  The value of a row is that of the first of them that has one.
    std::vector<size_t> by;
    // Rows of one value go by the columns [0, ties).
    size_t ties = 0;
  };
  // `hold` must outlive this.
  TopRows(Options options, const Hold& hold) : options_(std::move(options)), held_(hold) {}

  // All batches have the same columns.  Errors: those of `hold`.
  absl::Status Add(const Batch& batch);
  // Replaces *out by the rows, in columns of the types that the batches had, and forgets them.
  void Result(HeldBatch* out);

 private:
  struct Entry {
    long double value = 0;  // exact for ints and for doubles
    std::vector<Value> row;
  };
  // Whether `a` comes before `b`.
  bool IsValueBefore(long double a, long double b) const;
  bool IsBefore(const Entry& a, const Entry& b) const;

  const Options options_;
  std::vector<Entry> heap_;  // the last row of the order in front
  std::vector<ColumnType> types_;
  Entry entry_;
  HeldMemory held_;
};

}  // namespace sonde::rows
