#include "sql/expression/evaluator.h"

#include <memory>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "base/check.h"
#include "sql/expression/call_nodes.h"
#include "sql/expression/choice_nodes.h"
#include "sql/expression/error_nodes.h"
#include "sql/expression/leaf_nodes.h"
#include "sql/expression/list_nodes.h"
#include "sql/expression/node.h"
#include "sql/expression/proto_nodes.h"
#include "sql/expression/query_nodes.h"

namespace sonde::sql {
namespace {

// A kind of expression that nothing evaluates.
class NotBuiltNode : public EvaluatorNode {
 public:
  using EvaluatorNode::EvaluatorNode;

 protected:
  absl::StatusOr<ColumnView> Compute(const Frame& /*frame*/) override {
    return absl::UnimplementedError("Fields of protocol buffers are not supported here");
  }
};

using MakeKind = NodePtr (*)(NodeMaking making);

MakeKind MakeOf(Expression::Kind kind) {
  using Kind = Expression::Kind;
  switch (kind) {
    case Kind::kLiteral:
      return MakeLiteralNode;
    case Kind::kParameter:
      return MakeParameterNode;
    case Kind::kColumn:
      return MakeColumnNode;
    case Kind::kOuter:
      return MakeOuterNode;
    case Kind::kCall:
      return MakeCallNode;
    case Kind::kCast:
      return MakeCastNode;
    case Kind::kAnd:
      return MakeAndNode;
    case Kind::kOr:
      return MakeOrNode;
    case Kind::kIf:
    case Kind::kCase:
      return MakeCaseNode;
    case Kind::kCoalesce:
      return MakeCoalesceNode;
    case Kind::kNullIf:
      return MakeNullIfNode;
    case Kind::kIfError:
      return MakeIfErrorNode;
    case Kind::kIsError:
      return MakeIsErrorNode;
    case Kind::kNullIfError:
      return MakeNullIfErrorNode;
    case Kind::kArray:
    case Kind::kStruct:
      return MakeListNode;
    case Kind::kField:
      return MakeFieldNode;
    case Kind::kLambda:
      return MakeLambdaNode;
    case Kind::kScalarQuery:
      return MakeScalarQueryNode;
    case Kind::kArrayQuery:
      return MakeArrayQueryNode;
    case Kind::kExistsQuery:
      return MakeExistsQueryNode;
    case Kind::kInQuery:
      return MakeInQueryNode;
    case Kind::kProtoField:
      return MakeProtoFieldNode;
  }
  return [](NodeMaking making) -> NodePtr { return std::make_unique<NotBuiltNode>(std::move(making)); };
}

NodePtr MakeNode(const Expression& expression, const EvaluationContext* context, Arena* kept) {
  NodeMaking making{&expression, context, kept, {}};
  making.parts.reserve(expression.arguments.size());
  for (const ExpressionPtr& argument : expression.arguments) {
    making.parts.push_back(MakeNode(*argument, context, kept));
  }
  return MakeOf(expression.kind)(std::move(making));
}

}  // namespace

Evaluator::Evaluator(const Expression& expression, const EvaluationContext* context)
    : kept_(std::make_unique<Arena>()), root_(MakeNode(expression, context, kept_.get())) {}
Evaluator::~Evaluator() = default;
Evaluator::Evaluator(Evaluator&&) noexcept = default;

const Type& Evaluator::type() const { return root_->type(); }

absl::StatusOr<ColumnView> Evaluator::Evaluate(const rows::Batch& batch, Arena* arena,
                                               absl::Span<const rows::Batch> outer) {
  return root_->Evaluate({batch, arena, outer});
}

absl::StatusOr<Value> EvaluateConstant(const Expression& expression, const EvaluationContext& context) {
  Evaluator evaluator(expression, &context);
  Arena arena;
  const absl::StatusOr<ColumnView> column = evaluator.Evaluate({.rows = 1, .columns = {}}, &arena);
  if (!column.ok()) return column.status();
  return Value(expression.type, DatumAt(*column, 0));
}

}  // namespace sonde::sql
