// Series that are read in parts.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "sql/operator/divided_source.h"
#include "sql/operator/execution_state.h"
#include "sql/plan/plan.h"

namespace sonde::sql {

// What can be divided of a scan; null: nothing, as its points lie in several tables, or not as numbers.
// `scope` and `scan` must outlive it.  Errors: those of MakeSeriesScan.
absl::StatusOr<std::unique_ptr<DividedSource>> DivideSeries(const QueryScope* scope,
                                                            const Plan::SeriesScan& scan);

}  // namespace sonde::sql
