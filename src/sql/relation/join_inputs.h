// The rows of both sides of a join: those of its inputs, or, once these were put on disk, of one part after the other.  Rows
// whose keys are equal are in the same part.
//
//   JoinInputs inputs(state, "Join", left, right, left_types, right_types);
//   inputs.NextRight(&batch) ...
//   if (too much for memory) { inputs.Split(&table);  inputs.NextPart(); }       // and again: NextRight, NextLeft
//
// Threads: not for several threads.
// Errors: those of the inputs, and of QuerySpill.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rows/batch.h"
#include "rows/work_check.h"
#include "sql/operator/execution_state.h"
#include "sql/operator/operator.h"
#include "sql/relation/join_table.h"
#include "sql/spill/spill_rows.h"

namespace sonde::sql {

class JoinInputs {
 public:
  // All must outlive this.
  JoinInputs(const ExecutionState& state, std::string_view operator_name, Operator* left, Operator* right,
             const std::vector<Type>& left_types, const std::vector<Type>& right_types);

  // Replaces *batch by the next rows; false: there are no more.
  absl::StatusOr<bool> NextLeft(rows::Batch* batch);
  absl::StatusOr<bool> NextRight(rows::Batch* batch);

  // Whether a part may tell rows apart that are together now.
  bool CanSplit() const { return state_.spill != nullptr && part_.level < Partitions::kLevelsMax; }
  // Puts the rows in `table`, which is cleared, and all that come on both sides on disk.
  absl::Status Split(JoinTable* table);
  // Goes to the next part; false: there are no more.
  bool NextPart();

  // From now on left rows are kept on disk as NextLeft gives them.
  absl::Status KeepLeft();
  // All left rows were given, and come again.
  absl::Status RereadLeft();

  // Begins anew with the inputs.
  void Restart();
  int64_t bytes_on_disk() const { return bytes_on_disk_; }  // of parts

 private:
  struct Part {
    std::unique_ptr<SpilledRows> left;
    std::unique_ptr<SpilledRows> right;
    uint32_t level = 0;  // of its own partitions
  };

  absl::Status SplitRows(JoinTable* table, bool is_left, Partitions* partitions);

  const ExecutionState& state_;
  const std::string operator_name_;
  Operator& left_;
  Operator& right_;
  const std::vector<ColumnType> left_types_;
  const std::vector<ColumnType> right_types_;
  rows::WorkCheck check_;
  bool is_input_ = true;  // the rows are those of the inputs
  Part part_;
  std::vector<Part> parts_;
  std::unique_ptr<SpilledRows> kept_left_;
  bool is_reread_ = false;  // left rows are those in kept_left_
  int64_t bytes_on_disk_ = 0;
};

}  // namespace sonde::sql
