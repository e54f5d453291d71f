// Window functions: those that have a name of their own (RANK, LAG, ...), and aggregates over frames.
//
// Threads: not for several threads.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "model/column.h"
#include "rows/column.h"
#include "rows/work_check.h"
#include "sql/expression/evaluator.h"
#include "sql/plan/plan.h"
#include "sql/relation/window_frames.h"

namespace sonde::sql {

class WindowFunction {
 public:
  virtual ~WindowFunction() = default;

  virtual bool needs_frames() const = 0;
  // Appends a result for each row of the partition.  `arguments`: a column of partition.rows rows each; `frames`: if it needs them.
  virtual absl::Status Compute(const PartitionRows& partition, absl::Span<const ColumnView> arguments,
                               const Frames& frames, rows::WorkCheck* check, rows::Column* results) = 0;
};

// `item` and `evaluation` must outlive the function.  UNIMPLEMENTED: there is no such window function.
absl::StatusOr<std::unique_ptr<WindowFunction>> MakeWindowFunction(const AggregateItem& item,
                                                                   const EvaluationContext& evaluation);

// Each makes functions of one kind; null: the name is none of them.
std::unique_ptr<WindowFunction> MakeNumberingFunction(std::string_view name);
std::unique_ptr<WindowFunction> MakeNavigationFunction(std::string_view name, const AggregateItem& item);
std::unique_ptr<WindowFunction> MakePercentileFunction(std::string_view name, const AggregateItem& item);
std::unique_ptr<WindowFunction> MakeChangeFunction(std::string_view name);
std::unique_ptr<WindowFunction> MakeFramedAggregate(const AggregateItem& item,
                                                    const EvaluationContext& evaluation);

}  // namespace sonde::sql
