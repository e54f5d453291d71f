#include "sql/expression/choice_nodes.h"

#include <algorithm>
#include <array>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "base/check.h"
#include "sql/expression/scatter.h"
#include "sql/function/call.h"

namespace sonde::sql {
namespace {

std::vector<size_t> AllRows(size_t count) {
  std::vector<size_t> rows(count);
  std::iota(rows.begin(), rows.end(), size_t{0});
  return rows;
}

// AND, which FALSE decides, and OR, which TRUE decides: rows that are decided need no further part.
class AndOrNode : public EvaluatorNode {
 public:
  AndOrNode(NodeMaking making, bool decisive) : EvaluatorNode(std::move(making)), decisive_(decisive) {}

 protected:
  absl::StatusOr<ColumnView> Compute(const Frame& frame) override {
    const size_t rows = frame.rows();
    auto* const values = frame.arena->New<int64_t>(rows);
    auto* const there = frame.arena->New<uint8_t>(rows);
    std::fill_n(values, rows, decisive_ ? 0 : 1);
    std::fill_n(there, rows, uint8_t{1});
    std::vector<size_t> pending = AllRows(rows);
    for (const NodePtr& part : parts()) {
      if (pending.empty()) break;
      const absl::StatusOr<ColumnView> column = EvaluateFor(pending, frame, part.get());
      if (!column.ok()) return column;
      Take(*column, values, there, &pending);
    }
    const bool all_there = std::find(there, there + rows, uint8_t{0}) == there + rows;
    return ColumnView::OfInts({values, rows}, all_there ? nullptr : there);
  }

 private:
  // `column` has a value for each of the pending rows.  Those that it decides are pending no more.
  void Take(const ColumnView& column, int64_t* values, uint8_t* there, std::vector<size_t>* pending) const {
    size_t left = 0;
    const int64_t* const booleans =
        column.there() != nullptr && column.is_constant() && !column.IsThere(0) ? nullptr : column.ints();
    for (size_t i = 0; i < pending->size(); ++i) {
      const size_t row = (*pending)[i];
      const bool is_there = column.IsThere(i);
      if (is_there && (booleans[column.PlaceOf(i)] != 0) == decisive_) {
        values[row] = decisive_ ? 1 : 0;
        there[row] = 1;
        continue;
      }
      if (!is_there) there[row] = 0;
      (*pending)[left++] = row;
    }
    pending->resize(left);
  }

  const bool decisive_;
};

// Divides pending rows by a condition that has a value for each of them: *chosen are those where it is TRUE.
void Divide(const ColumnView& condition, std::vector<size_t>* pending, std::vector<size_t>* chosen) {
  RowsThatAreTrue(condition, chosen);
  if (chosen->empty()) return;
  size_t left = 0;
  size_t next = 0;
  for (size_t i = 0; i < pending->size(); ++i) {
    if (next < chosen->size() && (*chosen)[next] == i) {
      (*chosen)[next++] = (*pending)[i];
    } else {
      (*pending)[left++] = (*pending)[i];
    }
  }
  pending->resize(left);
}

class CaseNode : public EvaluatorNode {
 public:
  using EvaluatorNode::EvaluatorNode;

 protected:
  absl::StatusOr<ColumnView> Compute(const Frame& frame) override {
    std::optional<Scatter> scatter;
    std::vector<size_t> pending = AllRows(frame.rows());
    std::vector<size_t> chosen;
    const size_t conditions = parts().size() / 2;
    for (size_t i = 0; i < conditions && !pending.empty(); ++i) {
      const absl::StatusOr<ColumnView> condition = EvaluateFor(pending, frame, &part(2 * i));
      if (!condition.ok()) return condition;
      Divide(*condition, &pending, &chosen);
      if (chosen.empty()) continue;
      const absl::StatusOr<ColumnView> value = EvaluateFor(chosen, frame, &part(2 * i + 1));
      if (!value.ok() || chosen.size() == frame.rows()) return value;
      if (!scatter.has_value()) scatter.emplace(ColumnTypeOf(type()), frame.rows(), frame.arena);
      scatter->Put(chosen, *value);
    }
    const bool has_else = parts().size() % 2 == 1;
    if (has_else && !pending.empty()) {
      const absl::StatusOr<ColumnView> value = EvaluateFor(pending, frame, parts().back().get());
      if (!value.ok() || pending.size() == frame.rows()) return value;
      scatter->Put(pending, *value);
    }
    if (!scatter.has_value()) return NullColumn(type(), frame.rows());
    return scatter->View();
  }
};

class CoalesceNode : public EvaluatorNode {
 public:
  using EvaluatorNode::EvaluatorNode;

 protected:
  absl::StatusOr<ColumnView> Compute(const Frame& frame) override {
    // Mostly the first one is there, for all rows.
    absl::StatusOr<ColumnView> first = part(0).Evaluate(frame);
    if (!first.ok() || first->there() == nullptr) return first;
    std::optional<Scatter> scatter;
    std::vector<size_t> pending = AllRows(frame.rows());
    for (size_t i = 0; i < parts().size(); ++i) {
      const absl::StatusOr<ColumnView> column = i == 0 ? first : EvaluateFor(pending, frame, &part(i));
      if (!column.ok()) return column;
      const bool is_for_all = pending.size() == frame.rows();
      if (is_for_all && column->there() == nullptr) return column;
      if (!scatter.has_value()) scatter.emplace(ColumnTypeOf(type()), frame.rows(), frame.arena);
      scatter->Put(pending, *column);
      size_t left = 0;
      for (size_t row = 0; row < pending.size(); ++row) {
        if (!column->IsThere(row)) pending[left++] = pending[row];
      }
      pending.resize(left);
      if (pending.empty()) break;
    }
    return scatter->View();
  }
};

class NullIfNode : public EvaluatorNode {
 public:
  explicit NullIfNode(NodeMaking making) : EvaluatorNode(std::move(making)) {
    CHECK(expression().equal != nullptr);
    for (const NodePtr& part : parts()) argument_types_.push_back(part->type());
    site_.argument_types = &argument_types_;
    site_.result_type = &result_type_;
  }

 protected:
  absl::StatusOr<ColumnView> Compute(const Frame& frame) override {
    std::array<ColumnView, 2> columns;
    for (size_t i = 0; i < 2; ++i) {
      absl::StatusOr<ColumnView> column = part(i).Evaluate(frame);
      if (!column.ok()) return column;
      columns[i] = *column;
    }
    Call call(&context().facts, &site_, frame.arena, frame.rows());
    const ColumnView equal = expression().equal(call, columns);
    if (!call.status().ok()) return call.status();
    std::vector<size_t> different = AllRows(frame.rows());
    std::vector<size_t> same;
    Divide(equal, &different, &same);
    if (same.empty()) return columns[0];
    Scatter scatter(ColumnTypeOf(type()), frame.rows(), frame.arena);
    scatter.Put(different, Gather(columns[0], different, frame.arena));
    return scatter.View();
  }

 private:
  std::vector<Type> argument_types_;
  Type result_type_ = TypeKind::kBool;
  Call::Site site_;
};

}  // namespace

NodePtr MakeAndNode(NodeMaking making) { return std::make_unique<AndOrNode>(std::move(making), false); }
NodePtr MakeOrNode(NodeMaking making) { return std::make_unique<AndOrNode>(std::move(making), true); }
NodePtr MakeCaseNode(NodeMaking making) { return std::make_unique<CaseNode>(std::move(making)); }
NodePtr MakeCoalesceNode(NodeMaking making) { return std::make_unique<CoalesceNode>(std::move(making)); }
NodePtr MakeNullIfNode(NodeMaking making) { return std::make_unique<NullIfNode>(std::move(making)); }

}  // namespace sonde::sql
