#include "table/check_and_mutate.h"

#include <utility>

#include "base/random.h"
#include "filter/filter_cell.h"
#include "filter/filter_evaluator.h"
#include "gc/gc_rule_evaluator.h"
#include "mutation/normalize.h"
#include "table/view_access.h"

namespace sonde {

CheckAndMutator::CheckAndMutator(TableSchemaRef schema, std::string_view row_key, RowCheck check,
                                 AuthorizedViewRef view, int64_t now_micros, const Clock* row_clock,
                                 uint64_t seed)
    : schema_(std::move(schema)),
      row_key_(row_key),
      check_(std::move(check)),
      view_(std::move(view)),
      now_micros_(now_micros),
      asks_row_for_time_(row_clock != nullptr),
      visible_(schema_, now_micros, view_),
      time_(*schema_, row_clock, now_micros, {check_.if_true, check_.if_false}),
      seed_(seed) {}

absl::Status CheckAndMutator::Check() const {
  if (check_.predicate != nullptr) {
    if (absl::Status status = check_.predicate->CheckFamilies(*schema_); !status.ok()) return status;
  }
  if (view_ == nullptr) return absl::OkStatus();
  for (const absl::Span<const Mutation> branch : {check_.if_true, check_.if_false}) {
    if (absl::Status status = CheckInView(*view_, *schema_, row_key_, branch); !status.ok()) return status;
  }
  return absl::OkStatus();
}

ReadHints CheckAndMutator::Hints() {
  ReadHints hints;
  if (check_.predicate != nullptr) {
    hints = check_.predicate->Needs(*schema_, &budget_).hints;
    RefineReadHints(visible_.rules(), &hints);
  }
  if (view_ != nullptr) RestrictReadHints(*view_, *schema_, &hints);
  if (!hints.families.has_value()) hints.families = FamilyIds(*schema_);
  if (asks_row_for_time_) time_.AddTo(&hints);
  return hints;
}

absl::StatusOr<bool> CheckAndMutator::Matches(const std::vector<RowFamily>& row) {
  std::vector<FilterCell> cells;
  AssembleRow(row, visible_, &cells);
  if (check_.predicate == nullptr || cells.empty()) return !cells.empty();
  if (!check_.predicate->RowKeyMayPass(row_key_, &budget_)) return false;
  SeededRandom random(seed_++);
  FilterEvaluator evaluator(*check_.predicate, *schema_, &budget_, &random);
  if (absl::Status status = evaluator.Run(row_key_, &cells); !status.ok()) return status;
  return !cells.empty();
}

absl::StatusOr<std::optional<RowDelta>> CheckAndMutator::Decide(const std::vector<RowFamily>& row) {
  const absl::StatusOr<bool> matched = Matches(row);
  if (!matched.ok()) return matched.status();
  matched_ = *matched;
  if (taken().empty()) return std::nullopt;
  RowDelta delta;
  const int64_t time_micros = asks_row_for_time_ ? time_.Of(row) : now_micros_;
  if (absl::Status status = Normalize(*schema_, row_key_, taken(), time_micros, &delta); !status.ok())
    return status;
  logger_.emplace(*schema_, time_micros).Log(row_key_, taken(), &delta);
  return delta;
}

}  // namespace sonde
