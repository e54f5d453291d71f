#include "sql/expression/node.h"

#include <algorithm>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/check.h"
#include "sql/expression/scatter.h"
#include "sql/function/function.h"

namespace sonde::sql {

EvaluatorNode::EvaluatorNode(NodeMaking making)
    : expression_(*making.expression),
      context_(making.context),
      kept_(making.kept),
      parts_(std::move(making.parts)) {
  FindWhatItReads();
}

EvaluatorNode::~EvaluatorNode() = default;

void EvaluatorNode::FindWhatItReads() {
  using Kind = Expression::Kind;
  is_volatile_ =
      expression_.is_volatile || (expression_.function != nullptr && expression_.function->is_volatile);
  looks_outside_ = expression_.kind == Kind::kOuter || expression_.kind == Kind::kScalarQuery ||
                   expression_.kind == Kind::kArrayQuery || expression_.kind == Kind::kExistsQuery ||
                   expression_.kind == Kind::kInQuery;
  reads_all_ = expression_.is_correlated && expression_.outer_columns.empty();
  reads_ = expression_.outer_columns;
  if (expression_.kind == Kind::kColumn) reads_.push_back(expression_.index);
  for (const NodePtr& part : parts_) {
    is_volatile_ |= part->is_volatile_;
    looks_outside_ |= part->looks_outside_;
    reads_all_ |= part->reads_all_;
    reads_.insert(reads_.end(), part->reads_.begin(), part->reads_.end());
  }
  if (expression_.kind == Kind::kLambda) {
    std::erase_if(reads_, [this](size_t column) {
      return column >= expression_.index && column - expression_.index < expression_.count;
    });
  }
  std::sort(reads_.begin(), reads_.end());
  reads_.erase(std::unique(reads_.begin(), reads_.end()), reads_.end());
}

absl::StatusOr<ColumnView> EvaluatorNode::Evaluate(const Frame& frame) {
  if (frame.rows() == 0) return ColumnView::Missing(ColumnTypeOf(type()), 0);
  if (!is_fixed()) {
    absl::StatusOr<ColumnView> column = Compute(frame);
    DCHECK(!column.ok() || column->size() == frame.rows());
    return column;
  }
  if (!fixed_.has_value()) {
    const rows::Batch one{.rows = 1, .columns = {}};
    absl::StatusOr<ColumnView> column = Compute({one, kept_, {}});
    if (!column.ok()) return column;
    fixed_ = *column;
  }
  return ColumnView::Constant(*fixed_, frame.rows());
}

namespace {

// A batch with what a node reads of another, by `take`; the other columns are empty.
template <typename Take>
rows::Batch TakeFor(const EvaluatorNode& node, const rows::Batch& batch, size_t rows, Take&& take) {
  rows::Batch taken{.rows = rows, .columns = {}};
  if (node.reads_all()) {
    for (const ColumnView& column : batch.columns) taken.columns.push_back(take(column));
    return taken;
  }
  if (node.reads().empty()) return taken;
  DCHECK(node.reads().back() < batch.columns.size());
  taken.columns.resize(node.reads().back() + 1);
  for (const size_t index : node.reads()) taken.columns[index] = take(batch.columns[index]);
  return taken;
}

}  // namespace

rows::Batch RangeFor(const EvaluatorNode& node, const rows::Batch& batch, size_t first, size_t count) {
  return TakeFor(node, batch, count, [&](const ColumnView& column) { return column.Part(first, count); });
}

absl::StatusOr<ColumnView> EvaluateFor(absl::Span<const size_t> rows, const Frame& frame,
                                       EvaluatorNode* node) {
  if (rows.size() == frame.rows()) return node->Evaluate(frame);
  if (rows.empty()) return ColumnView::Missing(ColumnTypeOf(node->type()), 0);
  if (rows.back() - rows.front() + 1 == rows.size()) {
    const rows::Batch range = RangeFor(*node, frame.batch, rows.front(), rows.size());
    return node->Evaluate({range, frame.arena, frame.outer});
  }
  const rows::Batch some = TakeFor(*node, frame.batch, rows.size(), [&](const ColumnView& column) {
    return Gather(column, rows, frame.arena);
  });
  return node->Evaluate({some, frame.arena, frame.outer});
}

bool IsOfValues(const absl::Status& status) { return status.code() == absl::StatusCode::kOutOfRange; }

ColumnView NullColumn(const Type& type, size_t rows) {
  static constexpr uint8_t kNot = 0;
  static constexpr int64_t kInt = 0;
  static constexpr double kDouble = 0;
  static constexpr std::string_view kBytes;
  static constexpr Datum kList = {};
  switch (ColumnTypeOf(type)) {
    case ColumnType::kDouble:
      return ColumnView::Constant(ColumnView::OfDoubles({&kDouble, 1}, &kNot), rows);
    case ColumnType::kBytes:
      return ColumnView::Constant(ColumnView::OfBytes({&kBytes, 1}, &kNot), rows);
    case ColumnType::kList:
      return ColumnView::Constant(ColumnView::OfLists({&kList, 1}, &kNot), rows);
    default:
      return ColumnView::Constant(ColumnView::OfInts({&kInt, 1}, &kNot), rows);
  }
}

ColumnView ColumnOfData(const Type& type, absl::Span<const Datum> data, Arena* arena) {
  uint8_t* there = nullptr;
  if (!std::all_of(data.begin(), data.end(), [](const Datum& datum) { return datum.is_there; })) {
    there = arena->New<uint8_t>(data.size());
    for (size_t i = 0; i < data.size(); ++i) there[i] = data[i].is_there ? 1 : 0;
  }
  const auto fill = [&](auto* values, auto&& value_of) {
    for (size_t i = 0; i < data.size(); ++i) {
      values[i] = data[i].is_there ? value_of(data[i]) : std::remove_pointer_t<decltype(values)>{};
    }
    return absl::MakeConstSpan(values, data.size());
  };
  switch (ColumnTypeOf(type)) {
    case ColumnType::kDouble:
      return ColumnView::OfDoubles(
          fill(arena->New<double>(data.size()), [](const Datum& datum) { return datum.number; }), there);
    case ColumnType::kBytes:
      return ColumnView::OfBytes(
          fill(arena->New<std::string_view>(data.size()), [](const Datum& datum) { return datum.bytes(); }),
          there);
    case ColumnType::kList:
      return ColumnView::OfLists(
          fill(arena->New<Datum>(data.size()), [](const Datum& datum) { return datum; }), there);
    default:
      return ColumnView::OfInts(
          fill(arena->New<int64_t>(data.size()), [](const Datum& datum) { return datum.integer; }), there);
  }
}

}  // namespace sonde::sql
