// The right rows of a join, by their keys.
//
//   JoinTable table(types, condition, scope);
//   table.Add(batch);  ...  table.Finish();
//   table.Find(left_batch);
//   for (const size_t row : table.Matches(left_row)) ...          // rows of table.Views()
//
// Shape: rows with equal keys are one bucket.  Without keys there is one bucket, of all rows.  Rows whose key is NULL or NaN are
//   in no bucket.  With an inequality the rows of a bucket ascend by its right side, and only those that fulfil it match.
// Ownership: the table copies the rows.
// Threads: not for several threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "base/arena.h"
#include "rows/batch.h"
#include "rows/work_check.h"
#include "sql/expression/evaluator.h"
#include "sql/operator/execution_state.h"
#include "sql/operator/groups.h"
#include "sql/operator/sort_order.h"
#include "sql/relation/join_condition.h"
#include "sql/spill/row_buffer.h"

namespace sonde::sql {

class JoinTable {
 public:
  // `types`: of the right rows.  Both others must outlive this.
  JoinTable(const std::vector<Type>& types, const JoinCondition& condition, const QueryScope* scope);

  absl::Status Add(const rows::Batch& batch);
  // All rows are there.
  absl::Status Finish();
  void Clear();

  // Finds the buckets of the rows of a left batch.
  absl::Status Find(const rows::Batch& left);
  // The right rows that match a row of that batch.
  absl::Span<const size_t> Matches(size_t left_row) const;

  // The equal keys of the rows of a batch.  They hold until rows are added, or found, or the next call.
  absl::StatusOr<std::vector<ColumnView>> LeftKeys(const rows::Batch& left) {
    return EqualKeys(left_keys_, left);
  }
  absl::StatusOr<std::vector<ColumnView>> RightKeys(const rows::Batch& right) {
    return EqualKeys(right_keys_, right);
  }

  size_t rows() const { return rows_.rows(); }
  // The columns of all right rows.
  std::vector<ColumnView> Views() const;
  // With what Finish will need.
  size_t MemoryBytes() const;

 private:
  using Evaluators = std::vector<Evaluator>;

  absl::Status Evaluate(Evaluators& keys, const rows::Batch& batch, std::vector<ColumnView>* columns);
  absl::StatusOr<std::vector<ColumnView>> EqualKeys(Evaluators& keys, const rows::Batch& batch);
  // Sets the groups of rows with a key that is NULL or NaN to kNone.
  absl::Span<const size_t> Fulfilling(absl::Span<const size_t> rows, size_t left_row) const;
  void LeaveOut(absl::Span<const ColumnView> keys, std::vector<uint32_t>* groups) const;

  const QueryScope* const scope_;
  const JoinCondition& condition_;
  const size_t column_count_;
  const std::vector<Type> types_;
  Evaluators left_keys_;  // the equal ones, then that of the inequality
  Evaluators right_keys_;
  RowBuffer rows_;  // the columns, then the right side of the inequality
  Groups groups_;
  std::vector<uint32_t> group_of_row_;
  std::vector<size_t> bucket_ends_;  // by group, in ordered_
  std::vector<size_t> ordered_;      // right rows, bucket by bucket
  std::vector<SortColumn> order_;    // of the right side of the inequality
  rows::WorkCheck check_;
  Arena arena_;  // of right keys while rows are added

  // Of the left batch.
  Arena left_arena_;
  std::vector<ColumnView> left_columns_;
  std::vector<uint32_t> left_groups_;
};

}  // namespace sonde::sql
