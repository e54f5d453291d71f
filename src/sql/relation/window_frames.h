// The frames of windows: for each row of a partition the rows that its window function looks at.
//
// Source: GoogleSQL, window function calls; sql.md 4.5 for INTERVAL over TIMESTAMP.
// Threads: not for several threads.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "absl/numeric/int128.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/column.h"
#include "rows/work_check.h"
#include "sql/expression/evaluator.h"
#include "sql/plan/plan.h"

namespace sonde::sql {

// A partition: rows in the order of the window.  Rows are peers if their keys of ORDER BY are equal; without ORDER BY all are.
struct PartitionRows {
  size_t rows = 0;
  std::vector<size_t> peers_begin;  // by row: the first of its peers
  std::vector<size_t> peers_end;    // by row: behind the last of them
  // The first key of ORDER BY; RANGE with offsets has only one.
  ColumnView key;
  bool key_descends = false;
};

// By row: [begin, end); empty frames have begin == end.
struct Frames {
  std::vector<size_t> begin;
  std::vector<size_t> end;
};

class FrameBounds {
 public:
  // `item` must outlive this.  OUT_OF_RANGE: an offset is NULL, negative or NaN.
  static absl::StatusOr<FrameBounds> Create(const WindowItem& item, const EvaluationContext& evaluation);

  // OUT_OF_RANGE: infinite offsets from infinite keys; errors of `check`.
  absl::Status Find(const PartitionRows& partition, rows::WorkCheck* check, Frames* frames) const;

 private:
  using Kind = WindowItem::Bound::Kind;
  struct Offset {
    absl::int128 integer = 0;
    double number = 0;  // of keys that are numbers with fractions
  };

  explicit FrameBounds(const WindowItem& item) : item_(item) {}

  absl::Status FindByRows(const PartitionRows& partition, bool is_end, rows::WorkCheck* check,
                          std::vector<size_t>* ends) const;
  absl::Status FindByKeys(const PartitionRows& partition, bool is_end, rows::WorkCheck* check,
                          std::vector<size_t>* ends) const;

  const WindowItem& item_;
  Offset start_;
  Offset end_;
};

}  // namespace sonde::sql
