// Which points of a series a scan of a plan reads, as a query of series.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "series/query/query_words.h"
#include "sql/expression/evaluation_context.h"
#include "sql/plan/plan.h"

namespace sonde::sql {

// The query for the points of `scan`, its fields in the order of its columns.  If the scan needs all points, all other fields are
// witnesses, or of the newest points fields behind them.  Conditions that say nothing of tags and time are passed over: whoever asks filters what comes by all of them.
// `is_empty`: no point can be among them.
struct PointSelection {
  series::Query query;
  bool is_empty = false;
};

// INVALID_ARGUMENT: a temporal argument is NULL, or latest_n less than 1.  Other errors: those of these arguments.
// `from_micros`: points from before it are none of them (ExecutionState::points_from_micros).
absl::StatusOr<PointSelection> SelectPoints(const Plan::SeriesScan& scan, const EvaluationContext& evaluation,
                                            std::optional<int64_t> from_micros = {});

}  // namespace sonde::sql
