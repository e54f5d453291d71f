#include "sql/plan/key_ranges.h"

#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "sql/expression/expression.h"
#include "sql/key/field_ranges.h"
#include "sql/plan/key_conditions.h"

namespace sonde::sql {
namespace {

using Ranges = std::vector<RowRange>;

void CollectConjuncts(const Expression& condition, std::vector<const Expression*>* conjuncts) {
  if (condition.kind != Expression::Kind::kAnd) return conjuncts->push_back(&condition);
  for (const ExpressionPtr& argument : condition.arguments) CollectConjuncts(*argument, conjuncts);
}

class RangeFinder {
 public:
  RangeFinder(const Plan::Scan& scan, const EvaluationContext& context)
      : scan_(scan), key_(scan, context, std::nullopt) {
    if (!scan.table->row_key_schema.has_value()) return;
    for (size_t i = 0; i < scan.table->row_key_schema->fields.size(); ++i)
      fields_.emplace_back(scan, context, i);
  }

  // The rows for which all conditions are TRUE.
  Ranges Find(const std::vector<const Expression*>& conditions) const;

 private:
  const Plan::Scan& scan_;
  const KeyConditions key_;
  std::vector<KeyConditions> fields_;
};

Ranges RangeFinder::Find(const std::vector<const Expression*>& conditions) const {
  Ranges rows = {RowRange::All()};
  for (const Expression* condition : conditions) {
    rows = IntersectRanges(rows, key_.Find(*condition, /*wanted=*/true));
  }
  if (fields_.empty() || rows.empty()) return rows;
  std::vector<Ranges> of_fields(fields_.size(), {RowRange::All()});
  for (size_t i = 0; i < fields_.size(); ++i) {
    for (const Expression* condition : conditions) {
      of_fields[i] = IntersectRanges(of_fields[i], fields_[i].Find(*condition, /*wanted=*/true));
    }
  }
  rows = IntersectRanges(rows, KeysWithFields(*scan_.table->row_key_schema, of_fields, kKeyRangesMax));
  // What each side of an OR says of several fields belongs together.
  for (const Expression* condition : conditions) {
    if (condition->kind != Expression::Kind::kOr) continue;
    Ranges any;
    for (const ExpressionPtr& argument : condition->arguments) {
      std::vector<const Expression*> conjuncts;
      CollectConjuncts(*argument, &conjuncts);
      Ranges part = Find(conjuncts);
      any.insert(any.end(), std::make_move_iterator(part.begin()), std::make_move_iterator(part.end()));
    }
    rows = IntersectRanges(rows, NormalizeRanges(std::move(any)));
  }
  return rows;
}

}  // namespace

absl::StatusOr<std::vector<RowRange>> KeyRanges(const Plan::Scan& scan, const EvaluationContext& context) {
  std::vector<const Expression*> conjuncts;
  for (const ExpressionPtr& condition : scan.key_conditions) CollectConjuncts(*condition, &conjuncts);
  Ranges ranges = RangeFinder(scan, context).Find(conjuncts);
  if (ranges.size() > kKeyRangesMax) ranges = {{ranges.front().start, ranges.back().end}};
  return ranges;
}

}  // namespace sonde::sql
