// Aggregates over the frames of windows.
//
// Where all frames are the same, the aggregate is computed once.  Where all begin at one row and ends do not go back, rows are added
// as the frames grow.  Other frames are added up one by one, many of them as groups of one aggregator.
#include <algorithm>
#include <utility>

#include "sql/exec/groups.h"
#include "sql/exec/window_function.h"
#include "sql/function/aggregator.h"
#include "sql/function/function.h"

namespace sonde::sql {
namespace {

constexpr size_t kGroups = 256;  // frames at once

class FramedAggregate final : public WindowFunction {
 public:
  FramedAggregate(const AggregateItem& item, const EvaluationContext& evaluation)
      : item_(item), evaluation_(evaluation) {
    for (const ExpressionPtr& argument : item.arguments) argument_types_.push_back(argument->type);
  }

  bool needs_frames() const override { return true; }
  absl::Status Compute(const PartitionRows& partition, absl::Span<const ColumnView> arguments,
                       const Frames& frames, rows::WorkCheck* check, rows::Column* results) override {
    const AggregateSite site{
        .argument_types = argument_types_, .result_type = item_.type, .facts = &evaluation_.facts};
    // Made anew for each partition: what it holds of one is not of use for the next.
    aggregator_ = item_.overload->aggregator(site);
    check_ = check;
    results_ = results;
    arena_.Clear();
    arguments_.assign(arguments.begin(), arguments.end());
    begins_ = frames.begin;
    ends_ = frames.end;
    if (item_.ignores_nulls || item_.distinct) Select(partition.rows);
    absl::Status status = ComputeFrames(partition.rows);
    arena_.Clear();
    return status;
  }

 private:
  // Leaves out rows that do not count: arguments and frames are of those that do from then on.
  void Select(size_t rows) {
    std::vector<size_t> kept;
    Groups distinct(TypesOfArguments());
    if (item_.distinct) distinct.Find(arguments_, rows);
    const absl::Span<const uint32_t> groups =
        item_.distinct ? distinct.of_rows() : absl::Span<const uint32_t>();
    size_t known = 0;
    std::vector<size_t> before(rows + 1);  // how many rows before this one are kept
    for (size_t row = 0; row < rows; ++row) {
      before[row] = kept.size();
      const bool is_new = !item_.distinct || groups[row] >= known;
      if (item_.distinct) known = std::max<size_t>(known, groups[row] + 1);
      const bool counts = !item_.ignores_nulls || arguments_[0].IsThere(row);
      if (is_new && counts) kept.push_back(row);
    }
    before[rows] = kept.size();
    for (ColumnView& argument : arguments_) argument = Gather(argument, kept, &arena_);
    for (size_t row = 0; row < rows; ++row) {
      begins_[row] = before[begins_[row]];
      ends_[row] = before[ends_[row]];
    }
  }

  std::vector<ColumnType> TypesOfArguments() const {
    std::vector<ColumnType> types;
    for (const Type& type : argument_types_) types.push_back(ColumnTypeOf(type));
    return types;
  }

  absl::Status ComputeFrames(size_t rows) {
    bool is_same_begin = true;
    bool ends_ascend = true;
    for (size_t row = 1; row < rows; ++row) {
      is_same_begin &= begins_[row] == begins_[0];
      ends_ascend &= ends_[row] >= ends_[row - 1];
    }
    return is_same_begin && ends_ascend ? ComputeGrowing(rows) : ComputeEach(rows);
  }

  absl::Status AddRows(size_t begin, size_t end, uint32_t group) {
    // In parts, between which somebody may interrupt.
    constexpr size_t kRowsAtOnce = 16'384;
    std::vector<ColumnView> parts(arguments_.size());
    while (begin < end) {
      const size_t rows = std::min(end - begin, kRowsAtOnce);
      if (absl::Status status = check_->Step(rows); !status.ok()) return status;
      for (size_t i = 0; i < parts.size(); ++i) parts[i] = arguments_[i].Part(begin, rows);
      if (absl::Status status = aggregator_->AddRun(parts, rows, group); !status.ok()) return status;
      begin += rows;
    }
    return absl::OkStatus();
  }

  // Appends the result of a group, for so many rows.
  absl::Status AppendResult(uint32_t group, size_t rows) {
    Arena arena;
    const absl::StatusOr<ColumnView> result = aggregator_->Results(group, 1, &arena);
    if (!result.ok()) return result.status();
    results_->Append(ColumnView::Constant(*result, rows));
    return check_->Step(rows);
  }

  absl::Status ComputeGrowing(size_t rows) {
    aggregator_->Resize(1);
    size_t added = begins_.empty() ? 0 : begins_[0];
    for (size_t row = 0; row < rows;) {
      const size_t end = ends_[row];
      if (end > added) {
        if (absl::Status status = AddRows(added, end, 0); !status.ok()) return status;
        added = end;
      }
      size_t last = row + 1;
      while (last < rows && ends_[last] == end) ++last;
      if (absl::Status status = AppendResult(0, last - row); !status.ok()) return status;
      row = last;
    }
    return absl::OkStatus();
  }

  absl::Status ComputeEach(size_t rows) {
    aggregator_->Resize(kGroups);
    for (size_t first = 0; first < rows; first += kGroups) {
      const size_t count = std::min(kGroups, rows - first);
      for (size_t i = 0; i < count; ++i) {
        absl::Status status = AddRows(begins_[first + i], ends_[first + i], static_cast<uint32_t>(i));
        if (!status.ok()) return status;
      }
      Arena arena;
      const absl::StatusOr<ColumnView> values = aggregator_->Results(0, count, &arena);
      if (!values.ok()) return values.status();
      results_->Append(*values);
      for (size_t i = 0; i < count; ++i) aggregator_->Clear(static_cast<uint32_t>(i));
      if (absl::Status status = check_->Step(count); !status.ok()) return status;
    }
    return absl::OkStatus();
  }

  const AggregateItem& item_;
  const EvaluationContext& evaluation_;
  std::vector<Type> argument_types_;

  // Of the partition at hand.
  std::unique_ptr<Aggregator> aggregator_;
  rows::WorkCheck* check_ = nullptr;
  rows::Column* results_ = nullptr;
  std::vector<ColumnView> arguments_;
  std::vector<size_t> begins_;
  std::vector<size_t> ends_;
  Arena arena_;
};

}  // namespace

std::unique_ptr<WindowFunction> MakeFramedAggregate(const AggregateItem& item,
                                                    const EvaluationContext& evaluation) {
  if (item.overload == nullptr || item.overload->aggregator == nullptr) return nullptr;
  return std::make_unique<FramedAggregate>(item, evaluation);
}

absl::StatusOr<std::unique_ptr<WindowFunction>> MakeWindowFunction(const AggregateItem& item,
                                                                   const EvaluationContext& evaluation) {
  const std::string_view name = item.function != nullptr ? std::string_view(item.function->name) : "";
  std::unique_ptr<WindowFunction> function = MakeFramedAggregate(item, evaluation);
  if (function == nullptr) function = MakeNumberingFunction(name);
  if (function == nullptr) function = MakeNavigationFunction(name, item);
  if (function == nullptr) function = MakePercentileFunction(name, item);
  if (function != nullptr) return function;
  return absl::UnimplementedError("Window function " + std::string(name) + " is not built");
}

}  // namespace sonde::sql
