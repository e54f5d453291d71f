#include "sql/expression/error_nodes.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "sql/expression/scatter.h"

namespace sonde::sql {
namespace {

// Evaluates a node for the rows of a batch, and keeps apart those that fail.
class Attempt {
 public:
  Attempt(const Frame& frame, EvaluatorNode* node) : frame_(frame), node_(*node) {}

  absl::Status Run() {
    absl::StatusOr<ColumnView> column = node_.Evaluate(frame_);
    if (column.ok()) {
      whole_ = *column;
      return absl::OkStatus();
    }
    if (!IsOfValues(column.status())) return column.status();
    if (node_.is_fixed()) {
      for (size_t row = 0; row < frame_.rows(); ++row) failed_.push_back(row);
      return absl::OkStatus();
    }
    pieces_.emplace(ColumnTypeOf(node_.type()), frame_.rows(), frame_.arena);
    // A long batch is not halved as a whole, so that no row is evaluated more than about ten times.
    for (size_t first = 0; first < frame_.rows(); first += rows::kBatchRowsMax) {
      const absl::Status status = Try(first, std::min(rows::kBatchRowsMax, frame_.rows() - first));
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }

  // The rows that fail, ascending.
  const std::vector<size_t>& failed() const { return failed_; }
  // The results, if no row fails.
  const std::optional<ColumnView>& whole() const { return whole_; }
  // The results, with NULL where a row fails; nothing: all rows fail alike.
  std::optional<Scatter>& pieces() { return pieces_; }

 private:
  absl::Status Try(size_t first, size_t count) {
    const rows::Batch range = RangeFor(node_, frame_.batch, first, count);
    const absl::StatusOr<ColumnView> column = node_.Evaluate({range, frame_.arena, frame_.outer});
    if (column.ok()) {
      pieces_->PutRange(first, *column);
      return absl::OkStatus();
    }
    if (!IsOfValues(column.status())) return column.status();
    if (count == 1) {
      failed_.push_back(first);
      return absl::OkStatus();
    }
    const absl::Status status = Try(first, count / 2);
    return status.ok() ? Try(first + count / 2, count - count / 2) : status;
  }

  const Frame& frame_;
  EvaluatorNode& node_;
  std::vector<size_t> failed_;
  std::optional<ColumnView> whole_;
  std::optional<Scatter> pieces_;
};

class IfErrorNode : public EvaluatorNode {
 public:
  using EvaluatorNode::EvaluatorNode;

 protected:
  absl::StatusOr<ColumnView> Compute(const Frame& frame) override {
    Attempt attempt(frame, &part(0));
    const absl::Status status = attempt.Run();
    if (!status.ok()) return status;
    if (attempt.whole().has_value()) return *attempt.whole();
    const absl::StatusOr<ColumnView> instead = EvaluateFor(attempt.failed(), frame, &part(1));
    if (!instead.ok() || !attempt.pieces().has_value()) return instead;
    attempt.pieces()->Put(attempt.failed(), *instead);
    return attempt.pieces()->View();
  }
};

class NullIfErrorNode : public EvaluatorNode {
 public:
  using EvaluatorNode::EvaluatorNode;

 protected:
  absl::StatusOr<ColumnView> Compute(const Frame& frame) override {
    Attempt attempt(frame, &part(0));
    const absl::Status status = attempt.Run();
    if (!status.ok()) return status;
    if (attempt.whole().has_value()) return *attempt.whole();
    if (attempt.pieces().has_value()) return attempt.pieces()->View();
    return NullColumn(type(), frame.rows());
  }
};

class IsErrorNode : public EvaluatorNode {
 public:
  using EvaluatorNode::EvaluatorNode;

 protected:
  absl::StatusOr<ColumnView> Compute(const Frame& frame) override {
    Attempt attempt(frame, &part(0));
    const absl::Status status = attempt.Run();
    if (!status.ok()) return status;
    auto* const values = frame.arena->New<int64_t>(frame.rows());
    std::fill_n(values, frame.rows(), 0);
    for (const size_t row : attempt.failed()) values[row] = 1;
    return ColumnView::OfInts({values, frame.rows()});
  }
};

}  // namespace

NodePtr MakeIfErrorNode(NodeMaking making) { return std::make_unique<IfErrorNode>(std::move(making)); }
NodePtr MakeIsErrorNode(NodeMaking making) { return std::make_unique<IsErrorNode>(std::move(making)); }
NodePtr MakeNullIfErrorNode(NodeMaking making) {
  return std::make_unique<NullIfErrorNode>(std::move(making));
}

}  // namespace sonde::sql
