// Queries carried out over series, with Prometheus' numbers and words.
//
// A query is evaluated at steps of start + k * step <= end; an instant query is one step.  All series of a part of a
// query are evaluated together, as rows of values at all steps (matrix.h).
// Threads: one query is one thread's work; several may run at once.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "promql/evaluate/settings.h"
#include "promql/samples/annotations.h"
#include "promql/samples/matrix.h"
#include "promql/samples/samples.h"
#include "promql/syntax/tree.h"

namespace sonde::promql {

struct QueryAnswer {
  ValueType type = ValueType::kNone;
  std::string text;               // of kString
  std::vector<int64_t> times;     // of the steps
  Matrix rows;                    // of kScalar (one row), kVector; of kMatrix where the query has steps
  std::vector<SampleSeries> raw;  // of kMatrix where it is an instant query
  Annotations annotations;
  QueryStats stats;
};

// `query` is changed.  FAILED_PRECONDITION: it cannot be carried out, in Prometheus' words; RESOURCE_EXHAUSTED: too
// many samples; UNIMPLEMENTED: a function that is not built; INVALID_ARGUMENT: its lengths are none, or its type is
// no range query's; other errors: those of `source`, `interrupted`, `hold`.
absl::StatusOr<QueryAnswer> EvaluateQuery(Expression* query, const EvaluateSettings& settings,
                                          SampleSource* source);

}  // namespace sonde::promql
