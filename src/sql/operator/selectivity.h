// Which part of some rows a condition lets through, as far as its form tells: nothing is known of how values are spread.
//
//   = and IN           a tenth for each value             <, <=, >, >=, BETWEEN    three tenths
//   IS NULL            a tenth                            LIKE, STARTS_WITH, ...   a fifth
//   NOT x              the others                         AND, OR                  as if the parts did not depend on each other
//   TRUE, FALSE, NULL  all, none, none                    anything else            a half
#pragma once

#include <vector>

#include "sql/expression/expression.h"

namespace sonde::sql {

// A group, or a different row, stands for ten rows.
inline constexpr double kGroupsOfRows = 0.1;

// 0 to 1.  `known`: conditions that all of the rows fulfil; may be null.
double SelectivityOf(const Expression& condition, const std::vector<ExpressionPtr>* known = nullptr);

}  // namespace sonde::sql
