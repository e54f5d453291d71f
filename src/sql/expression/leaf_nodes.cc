#include "sql/expression/leaf_nodes.h"

#include <memory>
#include <utility>

#include "base/check.h"
#include "sql/value/value.h"

namespace sonde::sql {
namespace {

ColumnView ConstantOf(const Value& value, size_t rows) {
  return value.is_null() ? NullColumn(value.type(), rows) : value.AsColumn(rows);
}

class LiteralNode : public EvaluatorNode {
 public:
  using EvaluatorNode::EvaluatorNode;

 protected:
  absl::StatusOr<ColumnView> Compute(const Frame& frame) override {
    return ConstantOf(expression().value, frame.rows());
  }
};

class ParameterNode : public EvaluatorNode {
 public:
  using EvaluatorNode::EvaluatorNode;

 protected:
  absl::StatusOr<ColumnView> Compute(const Frame& frame) override {
    CHECK(expression().index < context().parameters.size());
    return ConstantOf(context().parameters[expression().index], frame.rows());
  }
};

class ColumnNode : public EvaluatorNode {
 public:
  using EvaluatorNode::EvaluatorNode;

 protected:
  absl::StatusOr<ColumnView> Compute(const Frame& frame) override {
    CHECK(expression().index < frame.batch.columns.size());
    return frame.batch.columns[expression().index];
  }
};

class OuterNode : public EvaluatorNode {
 public:
  using EvaluatorNode::EvaluatorNode;

 protected:
  absl::StatusOr<ColumnView> Compute(const Frame& frame) override {
    CHECK(expression().depth >= 1 && expression().depth <= frame.outer.size());
    const rows::Batch& row = frame.outer[expression().depth - 1];
    CHECK(expression().index < row.columns.size());
    return ColumnView::Constant(row.columns[expression().index], frame.rows());
  }
};

}  // namespace

NodePtr MakeLiteralNode(NodeMaking making) { return std::make_unique<LiteralNode>(std::move(making)); }
NodePtr MakeParameterNode(NodeMaking making) { return std::make_unique<ParameterNode>(std::move(making)); }
NodePtr MakeColumnNode(NodeMaking making) { return std::make_unique<ColumnNode>(std::move(making)); }
NodePtr MakeOuterNode(NodeMaking making) { return std::make_unique<OuterNode>(std::move(making)); }

}  // namespace sonde::sql
