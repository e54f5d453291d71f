#include "sql/expression/list_nodes.h"

#include <memory>
#include <utility>

#include "base/check.h"
#include "model/datum.h"
#include "sql/value/value.h"

namespace sonde::sql {
namespace {

class ListNode : public EvaluatorNode {
 public:
  using EvaluatorNode::EvaluatorNode;

 protected:
  absl::StatusOr<ColumnView> Compute(const Frame& frame) override {
    const size_t width = parts().size();
    auto* const items = frame.arena->New<Datum>(frame.rows() * width);
    for (size_t i = 0; i < width; ++i) {
      const absl::StatusOr<ColumnView> column = part(i).Evaluate(frame);
      if (!column.ok()) return column;
      for (size_t row = 0; row < frame.rows(); ++row) items[row * width + i] = DatumAt(*column, row);
    }
    auto* const lists = frame.arena->New<Datum>(frame.rows());
    for (size_t row = 0; row < frame.rows(); ++row) lists[row] = Datum::List({items + row * width, width});
    return ColumnView::OfLists({lists, frame.rows()});
  }
};

class FieldNode : public EvaluatorNode {
 public:
  using EvaluatorNode::EvaluatorNode;

 protected:
  absl::StatusOr<ColumnView> Compute(const Frame& frame) override {
    const absl::StatusOr<ColumnView> structs = part(0).Evaluate(frame);
    if (!structs.ok()) return structs;
    const size_t places = structs->is_constant() ? 1 : frame.rows();
    auto* const fields = frame.arena->New<Datum>(places);
    for (size_t row = 0; row < places; ++row) {
      fields[row] = Datum::Missing();
      if (!structs->IsThere(row)) continue;
      const Datum& value = structs->lists()[structs->PlaceOf(row)];
      CHECK(expression().index < value.size);
      fields[row] = value.items[expression().index];
    }
    const ColumnView column = ColumnOfData(type(), {fields, places}, frame.arena);
    return structs->is_constant() ? ColumnView::Constant(column, frame.rows()) : column;
  }
};

}  // namespace

NodePtr MakeListNode(NodeMaking making) { return std::make_unique<ListNode>(std::move(making)); }
NodePtr MakeFieldNode(NodeMaking making) { return std::make_unique<FieldNode>(std::move(making)); }

}  // namespace sonde::sql
