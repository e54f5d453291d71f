// Rows of a divided scan, in their order: helpers read, filter and project parts ahead of the thread that takes them.
//
// Places: those of the plan undivided, so that what was read in parts goes on in one thread, and on a server of one processor.
// Cost: each part's rows are copied, and wait, at most 8 MiB of them, until those before are taken.
// Errors: those of the plan, as one thread would meet them.
#pragma once

#include <cstdint>

#include "sql/operator/divided_rows.h"
#include "sql/operator/operator.h"
#include "sql/plan/plan.h"

namespace sonde::sql {

enum class RowsCome : uint8_t {
  kTogether,  // to an operator that takes all rows before it gives any
  // The first rows come as they are read, and so does the whole first part; helpers do nothing before it is over.  So a query
  // that is short, or has enough of a few rows, costs others nothing.
  kAtOnce,
};

// `input`: the operators of `plan`.  Returns it as it is where the plan is none that can be divided, or where no row would be
// dropped: to hand rows over costs what reading them does.
OperatorPtr DivideRows(const QueryScope* scope, const Plan& plan, OperatorPtr input, BuildPart build,
                       RowsCome come);

}  // namespace sonde::sql
