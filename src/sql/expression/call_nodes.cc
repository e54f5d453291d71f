#include "sql/expression/call_nodes.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/check.h"
#include "sql/expression/scatter.h"
#include "sql/function/call.h"

namespace sonde::sql {
namespace {

class LambdaNode : public EvaluatorNode {
 public:
  using EvaluatorNode::EvaluatorNode;

  // Calls of the lambda belong to the rows of this frame, until the next Enter.
  void Enter(const Frame* frame) { frame_ = frame; }

  absl::StatusOr<ColumnView> EvaluateBody(absl::Span<const ColumnView> arguments,
                                          absl::Span<const size_t> outer_rows) {
    DCHECK(arguments.size() == expression().count);
    rows::Batch batch{.rows = outer_rows.size(), .columns = {}};
    const std::vector<ColumnView>& outer = frame_->batch.columns;
    batch.columns.resize(expression().index + arguments.size());
    const size_t outer_columns = std::min(outer.size(), expression().index);
    if (reads_all()) {
      for (size_t i = 0; i < outer_columns; ++i) {
        batch.columns[i] = Gather(outer[i], outer_rows, frame_->arena);
      }
    } else {
      for (const size_t i : reads()) batch.columns[i] = Gather(outer[i], outer_rows, frame_->arena);
    }
    std::copy(arguments.begin(), arguments.end(),
              batch.columns.begin() + static_cast<ptrdiff_t>(expression().index));
    return part(0).Evaluate({batch, frame_->arena, frame_->outer});
  }

 protected:
  absl::StatusOr<ColumnView> Compute(const Frame&) override { CHECK(false); }

 private:
  const Frame* frame_ = nullptr;
};

// What a call sees of a lambda, which the node of the call owns.
class LambdaOfCall : public Lambda {
 public:
  explicit LambdaOfCall(LambdaNode* node) : node_(node) {}
  absl::StatusOr<ColumnView> Evaluate(absl::Span<const ColumnView> arguments,
                                      absl::Span<const size_t> outer_rows) override {
    return node_->EvaluateBody(arguments, outer_rows);
  }

 private:
  LambdaNode* const node_;
};

class CallNode : public EvaluatorNode {
 public:
  CallNode(NodeMaking making, Kernel kernel) : EvaluatorNode(std::move(making)), kernel_(kernel) {
    CHECK(kernel_ != nullptr);
    for (const NodePtr& part : parts()) {
      argument_types_.push_back(part->type());
      auto* const lambda = part->expression().kind == Expression::Kind::kLambda
                               ? static_cast<LambdaNode*>(part.get())
                               : nullptr;
      lambdas_.push_back(lambda);
      site_.lambdas.push_back(lambda == nullptr ? nullptr : std::make_unique<LambdaOfCall>(lambda));
      site_.is_fixed.push_back(lambda == nullptr && part->is_fixed());
      may_be_constant_ &= lambda == nullptr || lambda->is_fixed();
    }
    may_be_constant_ &= !is_volatile();
    site_.argument_types = &argument_types_;
    site_.result_type = &type();
    site_.is_safe = expression().is_safe;
  }

 protected:
  absl::StatusOr<ColumnView> Compute(const Frame& frame) override {
    arguments_.resize(parts().size());
    bool is_constant = may_be_constant_ && frame.rows() > 1;
    for (size_t i = 0; i < parts().size(); ++i) {
      if (lambdas_[i] != nullptr) continue;
      absl::StatusOr<ColumnView> argument = part(i).Evaluate(frame);
      if (!argument.ok()) return argument;
      arguments_[i] = *argument;
      is_constant &= argument->is_constant();
    }
    if (!is_constant) return Run(frame);
    for (size_t i = 0; i < arguments_.size(); ++i) {
      if (lambdas_[i] == nullptr) arguments_[i] = arguments_[i].Part(0, 1);
    }
    const rows::Batch one{.rows = 1, .columns = {}};
    absl::StatusOr<ColumnView> result = Run({one, frame.arena, frame.outer});
    if (!result.ok()) return result;
    return ColumnView::Constant(*result, frame.rows());
  }

 private:
  absl::StatusOr<ColumnView> Run(const Frame& frame) {
    for (LambdaNode* const lambda : lambdas_) {
      if (lambda != nullptr) lambda->Enter(&frame);
    }
    Call call(&context().facts, &site_, frame.arena, frame.rows());
    const ColumnView result = kernel_(call, arguments_);
    if (!call.status().ok()) return call.status();
    return result;
  }

  const Kernel kernel_;
  std::vector<Type> argument_types_;
  std::vector<LambdaNode*> lambdas_;
  std::vector<ColumnView> arguments_;
  bool may_be_constant_ = true;  // it is evaluated for one row where all arguments are the same for all rows
  Call::Site site_;
};

}  // namespace

NodePtr MakeCallNode(NodeMaking making) {
  CHECK(making.expression->overload != nullptr);
  const Kernel kernel = making.expression->overload->kernel;
  return std::make_unique<CallNode>(std::move(making), kernel);
}

NodePtr MakeCastNode(NodeMaking making) {
  const Kernel kernel = making.expression->cast;
  return std::make_unique<CallNode>(std::move(making), kernel);
}

NodePtr MakeLambdaNode(NodeMaking making) { return std::make_unique<LambdaNode>(std::move(making)); }

}  // namespace sonde::sql
