// EXPLAIN and EXPLAIN ANALYZE: one STRING column, a line of text a row.
#pragma once

#include "sql/operator/operator.h"
#include "sql/plan/plan.h"

namespace sonde::sql {

// `root`: the operators of the query, which run to the end if it asks to analyze, and not at all otherwise.
OperatorPtr MakeExplain(const QueryScope* scope, const BoundQuery& query, OperatorPtr root);

}  // namespace sonde::sql
