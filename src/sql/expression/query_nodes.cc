#include "sql/expression/query_nodes.h"

#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/check.h"
#include "model/datum.h"
#include "sql/function/call.h"
#include "sql/value/value.h"

namespace sonde::sql {
namespace {

// The rows of a subquery, and what an answer needs of them beside.
struct Rows {
  rows::Batch batch;
  const ColumnView& values() const { return batch.columns[0]; }
};

class QueryNode : public EvaluatorNode {
 public:
  explicit QueryNode(NodeMaking making) : EvaluatorNode(std::move(making)) {
    CHECK(expression().plan != nullptr);
  }

 protected:
  absl::StatusOr<ColumnView> Compute(const Frame& frame) override {
    const absl::Status status = Prepare(frame);
    if (!status.ok()) return status;
    return expression().is_correlated ? ComputeByRow(frame) : ComputeOnce(frame);
  }

  // Evaluates what the answers need beside the subquery.
  virtual absl::Status Prepare(const Frame& /*frame*/) { return absl::OkStatus(); }
  // The answer to the rows of the subquery, for one row of the frame.
  virtual absl::StatusOr<Datum> Answer(const Rows& rows, size_t row, Arena* arena) = 0;
  // Whether all rows of the frame have the same answer to the same rows of the subquery.
  virtual bool AnswerIsForAllRows() const { return true; }
  // The rows for answers are others from now on.
  virtual void Forget() {}

 private:
  absl::StatusOr<Rows> Run(absl::Span<const rows::Batch> outer, Arena* arena) {
    if (!context().run_query) return absl::UnimplementedError("Subqueries are not supported here");
    absl::StatusOr<rows::Batch> batch = context().run_query(*expression().plan, outer, arena);
    if (!batch.ok()) return batch.status();
    return Rows{*std::move(batch)};
  }

  absl::StatusOr<ColumnView> ComputeOnce(const Frame& frame) {
    if (!once_.has_value() || !frame.outer.empty()) {
      absl::StatusOr<Rows> rows = Run(frame.outer, frame.outer.empty() ? kept() : frame.arena);
      if (!rows.ok()) return rows.status();
      once_ = *std::move(rows);
      Forget();
    }
    const size_t answers = AnswerIsForAllRows() ? 1 : frame.rows();
    auto* const data = frame.arena->New<Datum>(answers);
    for (size_t row = 0; row < answers; ++row) {
      const absl::StatusOr<Datum> answer = Answer(*once_, row, frame.arena);
      if (!answer.ok()) return answer.status();
      data[row] = *answer;
    }
    const ColumnView column = ColumnOfData(type(), {data, answers}, frame.arena);
    return answers == frame.rows() ? column : ColumnView::Constant(column, frame.rows());
  }

  absl::StatusOr<ColumnView> ComputeByRow(const Frame& frame) {
    std::vector<rows::Batch> outer(1);
    outer.insert(outer.end(), frame.outer.begin(), frame.outer.end());
    auto* const data = frame.arena->New<Datum>(frame.rows());
    for (size_t row = 0; row < frame.rows(); ++row) {
      SeeRow(frame.batch, row, &outer[0]);
      absl::StatusOr<Rows> rows = Run(outer, frame.arena);
      if (!rows.ok()) return rows.status();
      Forget();
      const absl::StatusOr<Datum> answer = Answer(*rows, row, frame.arena);
      if (!answer.ok()) return answer.status();
      data[row] = *answer;
    }
    return ColumnOfData(type(), {data, frame.rows()}, frame.arena);
  }

  // The row as the subquery sees it.
  void SeeRow(const rows::Batch& batch, size_t row, rows::Batch* seen) const {
    seen->rows = 1;
    seen->columns.clear();
    const std::vector<size_t>& outer_columns = expression().outer_columns;
    for (const size_t column : outer_columns) seen->columns.push_back(batch.columns[column].Part(row, 1));
    if (!outer_columns.empty()) return;
    for (const ColumnView& column : batch.columns) seen->columns.push_back(column.Part(row, 1));
  }

  std::optional<Rows> once_;
};

class ScalarQueryNode : public QueryNode {
 public:
  using QueryNode::QueryNode;

 protected:
  absl::StatusOr<Datum> Answer(const Rows& rows, size_t /*row*/, Arena* /*arena*/) override {
    if (rows.batch.rows > 1) return absl::OutOfRangeError("More than one element");
    return rows.batch.rows == 0 ? Datum::Missing() : DatumAt(rows.values(), 0);
  }
};

class ArrayQueryNode : public QueryNode {
 public:
  using QueryNode::QueryNode;

 protected:
  absl::StatusOr<Datum> Answer(const Rows& rows, size_t /*row*/, Arena* arena) override {
    auto* const items = arena->New<Datum>(rows.batch.rows);
    for (size_t i = 0; i < rows.batch.rows; ++i) items[i] = DatumAt(rows.values(), i);
    return Datum::List({items, rows.batch.rows});
  }
};

class ExistsQueryNode : public QueryNode {
 public:
  using QueryNode::QueryNode;

 protected:
  absl::StatusOr<Datum> Answer(const Rows& rows, size_t /*row*/, Arena* /*arena*/) override {
    return Datum::Int(rows.batch.rows > 0 ? 1 : 0);
  }
};

// The values of a subquery, and whether NULL is one of them.  (Within the class clang takes it for not default-constructible.)
struct QueryValues {
  struct Hash {
    size_t operator()(const Datum& datum) const { return HashOf(datum); }
  };
  struct Equal {
    bool operator()(const Datum& a, const Datum& b) const { return sql::Compare(a, b) == 0; }
  };
  std::unordered_set<Datum, Hash, Equal> set;
  bool has_null = false;
};

class InQueryNode : public QueryNode {
 public:
  explicit InQueryNode(NodeMaking making) : QueryNode(std::move(making)) {
    argument_types_.assign(2, part(0).type());
    site_.argument_types = &argument_types_;
    site_.result_type = &result_type_;
  }

 protected:
  absl::Status Prepare(const Frame& frame) override {
    const absl::StatusOr<ColumnView> column = part(0).Evaluate(frame);
    if (!column.ok()) return column.status();
    sought_ = *column;
    return absl::OkStatus();
  }

  absl::StatusOr<Datum> Answer(const Rows& rows, size_t row, Arena* arena) override {
    if (rows.batch.rows == 0) return Datum::Int(0);
    if (!sought_.IsThere(row)) return Datum::Missing();
    if (part(0).type().IsComparable() && !part(0).type().Is(TypeKind::kStruct)) return Find(rows, row);
    return Compare(rows, row, arena);
  }

  bool AnswerIsForAllRows() const override { return sought_.is_constant(); }
  void Forget() override { values_.reset(); }

 private:
  // Of types whose = is the equality of GROUP BY, but for NaN.
  Datum Find(const Rows& rows, size_t row) {
    if (!values_.has_value()) {
      values_.emplace();
      for (size_t i = 0; i < rows.batch.rows; ++i) {
        const Datum datum = DatumAt(rows.values(), i);
        if (datum.is_there) {
          values_->set.insert(datum);
        } else {
          values_->has_null = true;
        }
      }
    }
    const Datum sought = DatumAt(sought_, row);
    const bool is_nan = sought.kind == Datum::Kind::kDouble && std::isnan(sought.number);
    if (!is_nan && values_->set.contains(sought)) return Datum::Int(1);
    return values_->has_null ? Datum::Missing() : Datum::Int(0);
  }

  // Of structs, whose fields may be NULL: by `equal`, with each value of the subquery.
  absl::StatusOr<Datum> Compare(const Rows& rows, size_t row, Arena* arena) {
    CHECK(expression().equal != nullptr);
    const std::array<ColumnView, 2> arguments = {ColumnView::Constant(sought_.Part(row, 1), rows.batch.rows),
                                                 rows.values()};
    Call call(&context().facts, &site_, arena, rows.batch.rows);
    const ColumnView equal = expression().equal(call, arguments);
    if (!call.status().ok()) return call.status();
    bool has_null = false;
    for (size_t i = 0; i < rows.batch.rows; ++i) {
      if (!equal.IsThere(i)) {
        has_null = true;
      } else if (equal.ints()[equal.PlaceOf(i)] != 0) {
        return Datum::Int(1);
      }
    }
    return has_null ? Datum::Missing() : Datum::Int(0);
  }

  ColumnView sought_;
  std::optional<QueryValues> values_;
  std::vector<Type> argument_types_;
  Type result_type_ = TypeKind::kBool;
  Call::Site site_;
};

}  // namespace

NodePtr MakeScalarQueryNode(NodeMaking making) {
  return std::make_unique<ScalarQueryNode>(std::move(making));
}
NodePtr MakeArrayQueryNode(NodeMaking making) { return std::make_unique<ArrayQueryNode>(std::move(making)); }
NodePtr MakeExistsQueryNode(NodeMaking making) {
  return std::make_unique<ExistsQueryNode>(std::move(making));
}
NodePtr MakeInQueryNode(NodeMaking making) { return std::make_unique<InQueryNode>(std::move(making)); }

}  // namespace sonde::sql
