// Aggregates over the frames of windows.
//
// Where all frames are the same, the aggregate is computed once.  Where all begin at one row and ends do not go back, rows are added
// as the frames grow.  Other frames are added up one by one, many of them as groups of one aggregator; if they are long, from
// parts that were added up before (FrameTree).
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "sql/function/aggregator.h"
#include "sql/function/function.h"
#include "sql/operator/groups.h"
#include "sql/relation/window_function.h"

namespace sonde::sql {
namespace {

constexpr size_t kGroups = 256;  // frames at once
// Rows of one stretch between two questions whether the query goes on.
constexpr size_t kRowsOfStretch = 16'384;

// Adds rows [begin, end) to a group, in parts between which somebody may interrupt.
absl::Status AddRowsTo(Aggregator* aggregator, absl::Span<const ColumnView> arguments, size_t begin,
                       size_t end, uint32_t group, rows::WorkCheck* check) {
  std::vector<ColumnView> parts(arguments.size());
  while (begin < end) {
    const size_t rows = std::min(end - begin, kRowsOfStretch);
    if (absl::Status status = check->Step(rows); !status.ok()) return status;
    for (size_t i = 0; i < parts.size(); ++i) parts[i] = arguments[i].Part(begin, rows);
    if (absl::Status status = aggregator->AddRun(parts, rows, group); !status.ok()) return status;
    begin += rows;
  }
  return absl::OkStatus();
}

// The states of blocks of rows, of pairs of blocks, of pairs of these, and so on.
// Cost: a frame of n rows takes 2 log2(n / kBlockRows) merges and less than 2 kBlockRows rows, in the order of the rows.
class FrameTree {
 public:
  // Frames that are shorter on the average are added up row by row.
  static constexpr size_t kFrameRowsMin = 256;

  // False: states are so large that a tree of them does not pay (lists of all values).
  absl::StatusOr<bool> Build(std::unique_ptr<Aggregator> aggregator, absl::Span<const ColumnView> arguments,
                             size_t rows, rows::WorkCheck* check) {
    states_ = std::move(aggregator);
    first_of_level_ = {0};
    size_t count = rows / kBlockRows;
    states_->Resize(2 * count);
    for (size_t block = 0; block < count; ++block) {
      absl::Status status = AddRowsTo(states_.get(), arguments, block * kBlockRows, (block + 1) * kBlockRows,
                                      static_cast<uint32_t>(block), check);
      if (!status.ok()) return status;
    }
    if (states_->MemoryBytes() > kStateBytesMax * 2 * count) return false;
    for (size_t first = 0; count > 1; count /= 2) {
      const size_t next = first + count;
      first_of_level_.push_back(next);
      for (size_t i = 0; i < count / 2; ++i) {
        if (absl::Status status = check->Step(4); !status.ok()) return status;
        for (const size_t child : {first + 2 * i, first + 2 * i + 1}) {
          absl::Status status =
              states_->Merge(static_cast<uint32_t>(next + i), *states_, static_cast<uint32_t>(child));
          if (!status.ok()) return status;
        }
      }
      first = next;
    }
    return true;
  }

  // Adds the rows of a frame to a group of `aggregator`.
  absl::Status Add(absl::Span<const ColumnView> arguments, size_t begin, size_t end, Aggregator* aggregator,
                   uint32_t group, rows::WorkCheck* check) const {
    size_t block = (begin + kBlockRows - 1) / kBlockRows;
    const size_t blocks_end = end / kBlockRows;
    if (block >= blocks_end) return AddRowsTo(aggregator, arguments, begin, end, group, check);
    absl::Status status = AddRowsTo(aggregator, arguments, begin, block * kBlockRows, group, check);
    while (status.ok() && block < blocks_end) {
      size_t level = 0;
      while (block % (size_t{2} << level) == 0 && block + (size_t{2} << level) <= blocks_end) ++level;
      status = check->Step(4);
      if (!status.ok()) break;
      status = aggregator->Merge(group, *states_,
                                 static_cast<uint32_t>(first_of_level_[level] + (block >> level)));
      block += size_t{1} << level;
    }
    if (!status.ok()) return status;
    return AddRowsTo(aggregator, arguments, blocks_end * kBlockRows, end, group, check);
  }

 private:
  static constexpr size_t kBlockRows = 64;
  static constexpr size_t kStateBytesMax = 512;

  std::unique_ptr<Aggregator> states_;
  std::vector<size_t> first_of_level_;  // groups of states_
};

class FramedAggregate final : public WindowFunction {
 public:
  FramedAggregate(const AggregateItem& item, const EvaluationContext& evaluation)
      : item_(item), evaluation_(evaluation) {
    for (const ExpressionPtr& argument : item.arguments) argument_types_.push_back(argument->type);
  }

  bool needs_frames() const override { return true; }
  absl::Status Compute(const PartitionRows& partition, absl::Span<const ColumnView> arguments,
                       const Frames& frames, rows::WorkCheck* check, rows::Column* results) override {
    // Made anew for each partition: what it holds of one is not of use for the next.
    aggregator_ = NewAggregator();
    check_ = check;
    results_ = results;
    arena_.Clear();
    arguments_.assign(arguments.begin(), arguments.end());
    rows_ = partition.rows;
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
    rows_ = kept.size();
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
    double frame_rows = 0;
    for (size_t row = 0; row < rows; ++row) {
      if (row % kRowsOfStretch == 0) {
        if (absl::Status status = check_->Step(kRowsOfStretch); !status.ok()) return status;
      }
      is_same_begin &= begins_[row] == begins_[0];
      ends_ascend &= row == 0 || ends_[row] >= ends_[row - 1];
      frame_rows += static_cast<double>(ends_[row] - begins_[row]);
    }
    if (is_same_begin && ends_ascend) return ComputeGrowing(rows);
    std::optional<FrameTree> tree;
    if (frame_rows > static_cast<double>(FrameTree::kFrameRowsMin * rows)) {
      const absl::StatusOr<bool> pays = tree.emplace().Build(NewAggregator(), arguments_, rows_, check_);
      if (!pays.ok()) return pays.status();
      if (!*pays) tree.reset();
    }
    return ComputeEach(rows, tree.has_value() ? &*tree : nullptr);
  }

  std::unique_ptr<Aggregator> NewAggregator() const {
    return item_.overload->aggregator(
        {.argument_types = argument_types_, .result_type = item_.type, .facts = &evaluation_.facts});
  }

  absl::Status AddRows(size_t begin, size_t end, uint32_t group) {
    return AddRowsTo(aggregator_.get(), arguments_, begin, end, group, check_);
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

  // `tree`: may be null.
  absl::Status ComputeEach(size_t rows, const FrameTree* tree) {
    aggregator_->Resize(kGroups);
    for (size_t first = 0; first < rows; first += kGroups) {
      const size_t count = std::min(kGroups, rows - first);
      for (size_t i = 0; i < count; ++i) {
        const size_t begin = begins_[first + i];
        const size_t end = ends_[first + i];
        const auto group = static_cast<uint32_t>(i);
        absl::Status status = tree == nullptr
                                  ? AddRows(begin, end, group)
                                  : tree->Add(arguments_, begin, end, aggregator_.get(), group, check_);
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
  size_t rows_ = 0;  // of arguments_
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
  if (function == nullptr) function = MakeChangeFunction(name);
  if (function != nullptr) return function;
  return absl::UnimplementedError("Window function " + std::string(name) + " is not built");
}

}  // namespace sonde::sql
