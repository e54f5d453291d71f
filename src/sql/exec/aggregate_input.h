// Feeds the rows of groups to an aggregate: all of them, or those that DISTINCT, IGNORE NULLS, HAVING MAX and LIMIT leave, in
// the order that ORDER BY asks for.
//
// Order of these: rows whose first argument is NULL go first, if they do not count; then HAVING; then DISTINCT; then ORDER BY; then
//   LIMIT.  HAVING leaves the rows whose value equals MAX (or MIN) of the group's values, so that one NaN leaves none.
// Threads: not for several threads.
// Errors: those of expressions and of the aggregate.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/arena.h"
#include "rows/batch.h"
#include "rows/work_check.h"
#include "sql/exec/aggregate_having.h"
#include "sql/exec/execution_state.h"
#include "sql/exec/groups.h"
#include "sql/exec/row_buffer.h"
#include "sql/expression/evaluator.h"
#include "sql/function/aggregator.h"
#include "sql/plan/plan.h"

namespace sonde::sql {

class AggregateInput {
 public:
  // Both must outlive this.  OUT_OF_RANGE: the limit is negative.
  static absl::StatusOr<std::unique_ptr<AggregateInput>> Create(const AggregateItem& item,
                                                                const QueryScope* scope);

  // Adds the rows of a batch, whose groups are those that `groups` found last.
  absl::Status Add(const rows::Batch& batch, Groups* groups);
  // All rows are there.  `groups`: how many groups there are.
  absl::Status Finish(size_t groups);
  // The results of groups [first, first + count), once it is finished.
  absl::StatusOr<ColumnView> Results(size_t first, size_t count, Arena* arena) {
    return aggregator_->Results(static_cast<uint32_t>(first), count, arena);
  }
  size_t MemoryBytes() const;
  // Begins anew.
  void Clear();

 private:
  // An argument or a key of ORDER BY.
  struct Input {
    bool is_fixed = false;  // the same for all rows: it is not held, but evaluated again
    Evaluator evaluator;
  };

  AggregateInput(const AggregateItem& item, const QueryScope* scope);

  void AddInput(const Expression& expression);
  void Begin();
  absl::StatusOr<ColumnView> ValuesOf(Input& input, const rows::Batch& batch);
  absl::Status AddAll(size_t rows, Groups* groups);
  absl::Status AddSome(const rows::Batch& batch, absl::Span<const uint32_t> groups);
  // Each takes rows out of places_.
  void KeepThere();
  void KeepDistinct(absl::Span<const uint32_t> groups);
  void KeepFirst(absl::Span<const uint32_t> groups);
  // Gives the rows in places_ to the aggregate, or holds them.
  absl::Status AddPlaces(absl::Span<const uint32_t> groups);
  void Hold(absl::Span<const uint32_t> groups);
  bool TakesOneMore(uint32_t group);
  uint32_t GenerationOf(uint32_t group) const {
    return extremes_.has_value() ? extremes_->Generation(group) : 0;
  }
  absl::Status AddSorted();
  absl::Status AddSortedRows(absl::Span<const size_t> rows, const std::vector<ColumnView>& held);
  size_t Arguments() const { return item_.arguments.size(); }

  const AggregateItem& item_;
  const QueryScope* const scope_;
  rows::WorkCheck check_;
  bool selects_ = false;      // not all rows go to the aggregate as they come
  bool skips_nulls_ = false;  // rows whose first argument is NULL
  std::vector<Type> argument_types_;
  std::unique_ptr<Aggregator> aggregator_;
  std::vector<Input> inputs_;  // the arguments, then the keys of ORDER BY
  std::optional<Evaluator> having_;
  std::optional<GroupExtremes> extremes_;
  std::optional<Groups> distinct_;   // by group, its generation, arguments
  std::optional<RowBuffer> sorted_;  // group, its generation, the inputs that are not fixed
  std::optional<int64_t> limit_;
  // With a limit: how many rows of a group were given to the aggregate.
  struct Taken {
    int64_t rows = 0;
    uint32_t generation = 0;
  };
  std::vector<Taken> taken_;  // by group

  // These belong to the batch at hand.
  Arena arena_;
  std::vector<ColumnView> columns_;  // of inputs_
  std::vector<size_t> places_;       // the rows that are left
  std::vector<uint32_t> some_groups_;
  std::vector<int64_t> numbers_;      // groups and generations as a column
  std::vector<int64_t> generations_;  // likewise
};

}  // namespace sonde::sql
