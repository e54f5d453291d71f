// Rows of leaves, which may share their reads.
#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include "promql/evaluate/evaluator.h"
#include "promql/samples/series_parts.h"

namespace sonde::promql {
namespace {

class RowsSink final : public SeriesSink {
 public:
  RowsSink(const RowWork& work, QueryContext* context, size_t steps)
      : work_(work), context_(context), steps_(steps) {}

  absl::Status Take(SampleSeries* series) override {
    if (absl::Status status = context_->Hold(static_cast<int64_t>(steps_)); !status.ok()) return status;
    ++made_.series;
    return work_(series, &made_);
  }
  SeriesRows& made() { return made_; }

 private:
  const RowWork& work_;
  QueryContext* const context_;
  const size_t steps_;
  SeriesRows made_;
};

}  // namespace

void Evaluator::FindLeaves(const Expression& node, std::vector<const Expression*>* nodes) const {
  const bool is_evaluated_once = node.is_step_invariant && start_ != end_;
  if (is_evaluated_once || node.kind == ExpressionKind::kRange || node.kind == ExpressionKind::kSubquery) {
    return;
  }
  if (node.kind == ExpressionKind::kSelector || RangeOfLeaf(node)) nodes->push_back(&node);
  if (IsOfSampleTimes(node)) return;
  // The second argument of info says which labels are added, and is not read.
  const bool is_info = node.kind == ExpressionKind::kCall && node.function->name == "info";
  for (size_t i = 0; i < node.operands.size(); ++i) {
    if (!is_info || i == 0) FindLeaves(*node.operands[i], nodes);
  }
}

void Evaluator::ShareLeaves(const Expression& node) {
  if (steps_ == 0) return;
  std::vector<const Expression*> nodes;
  FindLeaves(node, &nodes);
  if (nodes.size() < 2) return;
  std::vector<Leaf> leaves;
  leaves.reserve(nodes.size());
  for (const Expression* leaf : nodes) {
    leaves.push_back(leaf->kind == ExpressionKind::kSelector ? LeafOfSelector(*leaf, false)
                                                             : LeafOfCall(*leaf, *RangeOfLeaf(*leaf)));
  }
  leaves_ =
      std::make_unique<SharedLeaves>(std::move(leaves), steps_, context_->settings(), context_->source());
}

void Evaluator::Take(SeriesRows made, Matrix* rows) {
  context_->stats().samples_read += made.samples_read;
  context_->stats().samples_total += made.samples;
  context_->annotations().Add(made.annotations);
  std::ranges::move(made.rows, std::back_inserter(*rows));
}

SeriesVisit Evaluator::VisitFor(const RowWork& work, Matrix* rows) {
  SeriesVisit visit;
  visit.make = [this, &work] { return std::make_unique<RowsSink>(work, context_, steps_); };
  visit.take = [this, rows](SeriesSink* sink) {
    Take(std::move(static_cast<RowsSink*>(sink)->made()), rows);
    return absl::OkStatus();
  };
  visit.loaded = [this](int64_t samples) { return context_->Hold(samples); };
  visit.series_work = SeriesWork(steps_);
  visit.idle_workers = context_->settings().idle_workers;
  return visit;
}

absl::StatusOr<Matrix> Evaluator::MakeRows(const Leaf& leaf) {
  Matrix rows;
  std::optional<SeriesRows> shared;
  if (leaves_ != nullptr) shared = leaves_->Take(*leaf.node);
  if (shared) {
    // Rows count from now on.
    absl::Status status = context_->Hold(shared->series * static_cast<int64_t>(steps_));
    if (!status.ok()) return status;
    Take(*std::move(shared), &rows);
  } else {
    absl::Status status = context_->source()->ForEach(*leaf.matchers, leaf.start_millis, leaf.end_millis,
                                                      VisitFor(leaf.work, &rows));
    if (!status.ok()) return status;
    if (leaves_ != nullptr) leaves_->NoteAlone(*leaf.node, rows.size());
  }
  if (!are_rows_unordered_) SortByLabels(&rows);
  return rows;
}

absl::StatusOr<Matrix> Evaluator::MakeRows(std::vector<SampleSeries> all, const RowWork& work) {
  Matrix rows;
  if (absl::Status status = VisitInParts(std::move(all), VisitFor(work, &rows)); !status.ok()) return status;
  return rows;
}

}  // namespace sonde::promql
