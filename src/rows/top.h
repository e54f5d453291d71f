// The rows with the largest (or smallest) values of a column.
//
// Order: Result gives the first of them first; rows of one value go by the columns in front, then by what
// they have there (bytes, ints), ascending.  Rows without a value are out. Ownership: the rows that are in
// are copied; of the others only the value is looked at. Threads: not for several threads.
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
    // By the first of these columns that has a value: numbers.
    std::vector<size_t> by;
    // Rows of one value go by columns [0, ties).
    size_t ties = 0;
  };
  // `hold` must outlive this.
  TopRows(Options options, const Hold& hold) : options_(std::move(options)), held_(hold) {}

  // Batches have the same columns.  Errors: those of `hold`.
  absl::Status Add(const Batch& batch);
  // Replaces *out by the rows, and forgets them; types as the batches have them.
  void Result(HeldBatch* out);

 private:
  struct Entry {
    long double value = 0;  // says ints and doubles exactly
    std::vector<Value> row;
  };
  // Whether `a` comes before `b`.
  bool IsBefore(const Entry& a, const Entry& b) const;

  const Options options_;
  std::vector<Entry> heap_;  // the last of them in front
  std::vector<ColumnType> types_;
  Entry entry_;
  HeldMemory held_;
};

}  // namespace sonde::rows
