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
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/arena.h"
#include "rows/batch.h"
#include "rows/work_check.h"
#include "sql/expression/evaluator.h"
#include "sql/function/aggregator.h"
#include "sql/operator/execution_state.h"
#include "sql/operator/groups.h"
#include "sql/plan/plan.h"
#include "sql/relation/aggregate_having.h"
#include "sql/relation/row_sorter.h"
#include "sql/spill/spill_rows.h"

namespace sonde::sql {

class AggregateInput {
 public:
  // `item` and `scope` must outlive this.  OUT_OF_RANGE: the limit is negative.
  static absl::StatusOr<std::unique_ptr<AggregateInput>> Create(const AggregateItem& item,
                                                                const QueryScope* scope,
                                                                std::string_view operator_name);

  // Adds the rows of a batch, whose groups are those that `groups` found last.
  absl::Status Add(const rows::Batch& batch, Groups* groups);
  // All rows are there.  `groups`: how many groups there are.
  absl::Status Finish(size_t groups);
  // The results of groups [first, first + count), once it is finished.
  absl::StatusOr<ColumnView> Results(size_t first, size_t count, Arena* arena) {
    return aggregator_->Results(static_cast<uint32_t>(first), count, arena);
  }
  // Returns the bytes of all that grows with the groups and their states.  This tells the account itself what DISTINCT
  // and ORDER BY hold.
  size_t MemoryBytes() const;
  // Whether the states of groups, before it is finished, can be put on disk and come back.
  bool CanSave() const { return can_save_; }
  // As Aggregator.
  void Save(uint32_t group, std::string* bytes) const { aggregator_->Save(group, bytes); }
  void Resize(size_t groups) { aggregator_->Resize(groups); }
  absl::Status Load(uint32_t group, std::string_view bytes) { return aggregator_->Load(group, bytes); }
  // Adds what another input of the same item has taken for a group, behind what this has.  CanSave.
  absl::Status Merge(uint32_t group, const AggregateInput& other, uint32_t other_group) {
    return aggregator_->Merge(group, *other.aggregator_, other_group);
  }
  // Begins anew.
  void Clear();

 private:
  // An argument or a key of ORDER BY.
  struct Input {
    bool is_fixed = false;  // the same for all rows: it is not held, but evaluated again
    Evaluator evaluator;
  };

  AggregateInput(const AggregateItem& item, const QueryScope* scope, std::string_view operator_name);

  void AddInput(const Expression& expression);
  void Begin();
  absl::StatusOr<ColumnView> ValuesOf(Input& input, const rows::Batch& batch);
  absl::Status AddAll(size_t rows, Groups* groups);
  absl::Status AddSome(const rows::Batch& batch, absl::Span<const uint32_t> groups);
  // Each takes rows out of places_.
  void KeepThere();
  absl::Status KeepDistinct(absl::Span<const uint32_t> groups);
  void KeepFirst(absl::Span<const uint32_t> groups);
  // Gives the rows in places_ to the aggregate, or holds them until they are sorted.
  absl::Status AddKept(absl::Span<const uint32_t> groups);
  absl::Status AddPlaces(absl::Span<const uint32_t> groups);
  // Returns two columns for the rows in places_: group, generation.
  std::vector<ColumnView> GroupColumns(absl::Span<const uint32_t> groups);
  // The same, and then the inputs that are not fixed.
  std::vector<ColumnView> HeldColumns(absl::Span<const uint32_t> groups);
  std::vector<ColumnType> TypesOfHeld() const;
  std::vector<RowKey> KeysOfHeld() const;
  // Sets columns_ and places_ from such rows, but for those of a generation that does not count any more.
  absl::Status TakeHeld(const rows::Batch& held, std::vector<uint32_t>* groups);
  // Tells the account; if that refuses, rows that are not known to DISTINCT wait on disk from now on.
  absl::Status TellDistinct();
  absl::Status AddWaiting();
  absl::Status AddWaitingOf(SpilledRows* waiting);
  absl::Status AddSorted();
  bool TakesOneMore(uint32_t group);
  uint32_t GenerationOf(uint32_t group) const {
    return extremes_.has_value() ? extremes_->Generation(group) : 0;
  }
  size_t Arguments() const { return item_.arguments.size(); }

  const AggregateItem& item_;
  const QueryScope* const scope_;
  const std::string operator_name_;
  rows::WorkCheck check_;
  OperatorMemory memory_;  // of distinct_, and of states while rows that were sorted are added
  bool can_save_ = false;
  bool selects_ = false;      // not all rows go to the aggregate as they come
  bool skips_nulls_ = false;  // rows whose first argument is NULL
  std::vector<Type> argument_types_;
  std::unique_ptr<Aggregator> aggregator_;
  std::vector<Input> inputs_;  // the arguments, then the keys of ORDER BY
  std::optional<Evaluator> having_;
  std::optional<GroupExtremes> extremes_;
  std::optional<Groups> distinct_;     // by group, its generation, arguments
  std::optional<Partitions> waiting_;  // by the same: rows that distinct_ has no room for, as HeldColumns
  uint32_t waiting_level_ = 0;         // that waiting_ has, or will have
  std::optional<RowSorter> sorted_;    // as HeldColumns
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
};

}  // namespace sonde::sql
