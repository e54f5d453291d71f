// The evaluation of a tree at the steps of a query or of a subquery.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "promql/evaluate/settings.h"
#include "promql/evaluate/shared_leaves.h"
#include "promql/samples/annotations.h"
#include "promql/samples/execution_errors.h"
#include "promql/samples/leaf.h"
#include "promql/samples/matrix.h"
#include "promql/samples/samples.h"
#include "promql/syntax/tree.h"

namespace sonde::promql {

// What a query and its subqueries share.
class QueryContext {
 public:
  QueryContext(const EvaluateSettings& settings, SampleSource* source)
      : settings_(settings), source_(source) {}

  const EvaluateSettings& settings() const { return settings_; }
  SampleSource* source() const { return source_; }
  Annotations& annotations() { return annotations_; }
  QueryStats& stats() { return stats_; }
  absl::Status Interrupted() const;
  // So many more values are in memory now.  Called by several threads at once.
  absl::Status Hold(int64_t values) ABSL_LOCKS_EXCLUDED(mutex_);
  int64_t held() const ABSL_LOCKS_EXCLUDED(mutex_) {
    const absl::MutexLock lock(&mutex_);
    return held_;
  }
  void SetHeld(int64_t values) ABSL_LOCKS_EXCLUDED(mutex_) {
    const absl::MutexLock lock(&mutex_);
    held_ = values;
  }

 private:
  const EvaluateSettings& settings_;
  SampleSource* const source_;
  Annotations annotations_;
  QueryStats stats_;
  mutable absl::Mutex mutex_;
  int64_t held_ ABSL_GUARDED_BY(mutex_) = 0;
};

class Evaluator {
 public:
  // Steps of start + k * interval <= end.
  Evaluator(QueryContext* context, int64_t start_millis, int64_t end_millis, int64_t interval_millis);

  // Lets leaves below `node`, which is to be evaluated, share their reads.
  void ShareLeaves(const Expression& node);
  // Any expression but strings, ranges and subqueries.
  absl::StatusOr<Matrix> Evaluate(const Expression& node);
  // A range or a subquery: the samples that the windows of all steps can need, without stale markers.
  absl::StatusOr<std::vector<SampleSeries>> ReadRange(const Expression& node);

  size_t steps() const { return steps_; }
  int64_t TimeOf(size_t step) const { return start_ + static_cast<int64_t>(step) * interval_; }

 private:
  absl::StatusOr<Matrix> EvaluateNode(const Expression& node);
  absl::StatusOr<Matrix> EvaluateInvariant(const Expression& node);
  Matrix Constant(double value) const;
  // Of a selector or subquery at `step`, before its range is taken away.
  int64_t ReferenceTime(const TimeShift& shift, size_t step) const;

  // Leaves (leaves.cc).
  // Appends those that are evaluated at the steps of this.
  void FindLeaves(const Expression& node, std::vector<const Expression*>* nodes) const;
  // Makes rows of the series of a leaf, sorted by their labels, unless are_rows_unordered_.
  absl::StatusOr<Matrix> MakeRows(const Leaf& leaf);
  // Of series that are there, in their order.
  absl::StatusOr<Matrix> MakeRows(std::vector<SampleSeries> all, const RowWork& work);
  SeriesVisit VisitFor(const RowWork& work, Matrix* rows);
  void Take(SeriesRows made, Matrix* rows);

  // Selectors (selection.cc).
  absl::StatusOr<Matrix> Select(const Expression& node, bool gives_times);
  Leaf LeafOfSelector(const Expression& node, bool gives_times) const;
  absl::StatusOr<std::vector<SampleSeries>> ReadSubquery(const Expression& node);

  // Operators (operators.cc).
  absl::StatusOr<Matrix> EvaluateUnary(const Expression& node);
  absl::StatusOr<Matrix> EvaluateBinary(const Expression& node);
  absl::StatusOr<Matrix> VectorWithScalar(const Expression& node, Matrix vector, const Row& scalar,
                                          bool is_scalar_left);

  // Aggregations (aggregation.cc, ranking.cc).
  absl::StatusOr<Matrix> EvaluateAggregate(const Expression& node);
  absl::StatusOr<Matrix> CountValues(const Expression& node, const Matrix& input);
  absl::StatusOr<Matrix> Rank(const Expression& node, const Row& parameter, Matrix input,
                              const std::vector<size_t>& groups, size_t group_count);

  // Calls (calls.cc, range_calls.cc, label_calls.cc, histograms.cc, info_call.cc).
  absl::StatusOr<Matrix> EvaluateCall(const Expression& node);
  struct RangeCall;
  absl::StatusOr<Matrix> CallOverRange(const Expression& node, size_t range_index);
  // The place of the argument that is a range, of a call that CallOverRange carries out and whose other arguments are numbers.
  static std::optional<size_t> RangeOfLeaf(const Expression& node);
  RangeCall MakeRangeCall(const Expression& node, size_t range_index, std::vector<Row> parameters) const;
  Leaf LeafOfCall(const Expression& node, size_t range_index) const;
  Leaf LeafOfRange(std::shared_ptr<const RangeCall> call, const Expression& range) const;
  absl::StatusOr<Matrix> CallOverWindows(std::shared_ptr<const RangeCall> call, const Expression& range);
  // Called by several threads at once.
  absl::Status DoWindows(const RangeCall& call, SampleSeries* series, SeriesRows* made) const;
  absl::StatusOr<Matrix> CallOverVectors(const Expression& node);
  absl::StatusOr<Matrix> CallOfTime(const Expression& node);
  absl::StatusOr<Matrix> AbsentOverTime(const Expression& node, const Matrix& rows);
  absl::StatusOr<Matrix> Absent(const Expression& node, const Matrix& input);
  absl::StatusOr<Matrix> ReplaceLabel(const Expression& node);
  absl::StatusOr<Matrix> JoinLabels(const Expression& node);
  absl::StatusOr<Matrix> SortRows(const Expression& node, Matrix rows);
  absl::StatusOr<Matrix> AddInfo(const Expression& node);
  // The info series of `matchers` that have one of the wanted values of each identifying label; a set without any wants none.  Their
  // values are the times of samples, in milliseconds.
  absl::StatusOr<Matrix> ReadInfo(const Expression& node, const std::vector<Matcher>& matchers,
                                  const std::vector<std::set<std::string, std::less<>>>& values);
  absl::StatusOr<Matrix> HistogramCall(const Expression& node, const std::vector<Matrix>& arguments);

  QueryContext* const context_;
  const int64_t start_;
  const int64_t end_;
  const int64_t interval_;
  const size_t steps_;
  std::unique_ptr<SharedLeaves> leaves_;  // null: none share their reads
  bool are_rows_unordered_ = false;       // of the leaf that is evaluated: nobody asks for their order
  int rankings_ = 0;  // topk, bottomk, limitk and limit_ratio around what is evaluated: they ask for it
};

// Rows of the same labels as one; SameLabelsError where two have a value at one step.
absl::StatusOr<Matrix> JoinSameLabels(Matrix rows);
// Whether it is a call over a selector that reads the times of samples.
bool IsOfSampleTimes(const Expression& node);
// Labels of the conditions of a selector, for `absent`.
Labels AbsentLabels(const Expression& argument);

}  // namespace sonde::promql
