// Queries carried out over series, with Prometheus' numbers and words.
//
// A query is evaluated at steps of start + k * step <= end; an instant query is one step.  All series of a part of a
// query are evaluated together, as rows of values at all steps (matrix.h).
// Threads: one query is one thread's work; several may run at once.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "promql/evaluate/annotations.h"
#include "promql/evaluate/matrix.h"
#include "promql/evaluate/samples.h"
#include "promql/syntax/tree.h"

namespace sonde::promql {

struct EvaluateSettings {
  int64_t start_millis = 0;
  int64_t end_millis = 0;
  int64_t step_millis = 0;  // 0: an instant query at start
  int64_t lookback_millis = 300'000;
  int64_t subquery_step_millis = 60'000;  // of [R:]
  // Values that are in memory at once.
  int64_t samples_max = 50'000'000;
  // Asked again and again; an error ends the query with it.
  std::function<absl::Status()> interrupted;
  // Told how many more bytes are held than ever before; an error ends the query.
  std::function<absl::Status(int64_t)> hold;
};

struct QueryStats {
  int64_t samples_read = 0;
  int64_t samples_peak = 0;
};

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
