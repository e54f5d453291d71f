// Conditions on row keys as ranges of rows.
//
//   _key = @k                           one row
//   _key >= 'a' AND _key < 'b'          [a, b)
//   STARTS_WITH(_key, 'a#'), _key LIKE 'a#%', SPLIT(_key, '#')[OFFSET(0)] = 'a'    prefixes
//   a = 'x' AND b >= 5, fields of the row key schema     from x#5 up to the end of the prefix x#
//
// The ranges hold every row for which all conditions are TRUE, and maybe more: the conditions are still to be asked.
// Cost: linear in the conditions, and in the values of their lists.
#pragma once

#include <cstddef>
#include <vector>

#include "absl/status/statusor.h"
#include "model/row_range.h"
#include "sql/expression/evaluator.h"
#include "sql/plan/plan.h"

namespace sonde::sql {

constexpr size_t kKeyRangesMax = 100'000;

// Of the key_conditions of a scan, in the normal form.  More than kKeyRangesMax ranges become one that covers them.
// No errors come of the conditions themselves: what fails bounds nothing here, and fails where rows are filtered.
absl::StatusOr<std::vector<RowRange>> KeyRanges(const Plan::Scan& scan, const EvaluationContext& context);

}  // namespace sonde::sql
