// Decides a CheckAndMutateRow: whether a row's visible cells pass a predicate, and so which of two branches of
// mutations is applied.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "catalog/catalog.h"
#include "filter/compiled_filter.h"
#include "filter/filter_budget.h"
#include "model/mutation.h"
#include "model/read_hints.h"
#include "model/table_schema.h"
#include "table/row_assembler.h"
#include "table/row_time.h"
#include "table/row_writes.h"

namespace sonde {

struct RowCheck {
  std::shared_ptr<const CompiledFilter> predicate;  // null: the row has any cell
  absl::Span<const Mutation> if_true;
  absl::Span<const Mutation> if_false;
};

// Belongs to one thread.
class CheckAndMutator {
 public:
  // What `check` and `row_key` view must outlive this.  `view` null: the whole table.  `row_clock`: the
  // time of the change comes from the row (row_time.h) and this clock, which must outlive this; null: it is `now_micros`.  `seed` starts the
  // random numbers of the predicate.
  CheckAndMutator(TableSchemaRef schema, std::string_view row_key, RowCheck check, AuthorizedViewRef view,
                  int64_t now_micros, const Clock* row_clock, uint64_t seed);
  CheckAndMutator(const CheckAndMutator&) = delete;
  CheckAndMutator& operator=(const CheckAndMutator&) = delete;

  // Must be OK before any other call.  Errors: those of CompiledFilter::CheckFamilies; PERMISSION_DENIED: as
  // CheckInView, which both branches must pass.  What the table itself does not allow is found only in the
  // branch that is taken.
  absl::Status Check() const;

  // Hints for all cells that the decision has to see.
  ReadHints Hints();

  // Decides, and returns the change of the row; nullopt: the branch is empty.  May be called again, with a
  // later state of the row.  The change views this.  Errors: those of Normalize for the branch that is taken.
  absl::StatusOr<std::optional<RowDelta>> Decide(const std::vector<RowFamily>& row);

  // The last decision.
  bool matched() const { return matched_; }
  absl::Span<const Mutation> taken() const { return matched_ ? check_.if_true : check_.if_false; }

 private:
  absl::StatusOr<bool> Matches(const std::vector<RowFamily>& row);

  const TableSchemaRef schema_;
  const std::string_view row_key_;
  const RowCheck check_;
  const AuthorizedViewRef view_;
  const int64_t now_micros_;
  const bool asks_row_for_time_;
  const VisibleCells visible_;
  const RowTime time_;
  uint64_t seed_;
  FilterBudget budget_;
  bool matched_ = false;
  std::optional<ChangeLogger> logger_;
};

}  // namespace sonde
