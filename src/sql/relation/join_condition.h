// Takes the condition of a join apart: which parts narrow the pairs that have to be looked at.
#pragma once

#include <cstddef>
#include <vector>

#include "sql/expression/expression.h"

namespace sonde::sql {

// Two expressions, one of the left rows and one of the right rows (whose columns count from 0).
struct JoinKey {
  ExpressionPtr left;
  ExpressionPtr right;
};

struct JoinCondition {
  // Pairs have equal values of each, none of them NULL or NaN.
  std::vector<JoinKey> equal;
  // Of ASOF: left >= right, and so on.
  struct Inequality {
    JoinKey key;
    bool left_is_greater = true;
    bool allows_equal = true;
  };
  std::vector<Inequality> inequalities;
  // The other parts, all of which must be TRUE; of the columns of the left rows, then those of the right ones.
  std::vector<const Expression*> others;
};

// `condition`: null is TRUE; it must outlive the result.  `wants_inequality`: one inequality is taken apart as well.
JoinCondition SplitJoinCondition(const Expression* condition, size_t left_columns, size_t right_columns,
                                 bool wants_inequality);

}  // namespace sonde::sql
