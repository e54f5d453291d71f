// GAP_FILL: a row for each bucket of time that lies between the first and the last row of a partition.
//
// Order: partition by partition, by time.
// Cost: holds one partition's rows.
#pragma once

#include "absl/status/statusor.h"
#include "sql/operator/operator.h"
#include "sql/plan/plan.h"

namespace sonde::sql {

// More buckets of one partition are an error.
constexpr int64_t kGapFillBucketsMax = 1'000'000;

// `plan` (kGapFill) and `scope` must outlive the operator; `input` comes by partition, then by time.
// OUT_OF_RANGE: a width that is no interval, or is not more than 0; of a TIMESTAMP one with months, of a DATE one that is not of
// days or months; an argument that is NULL.
absl::StatusOr<OperatorPtr> MakeGapFill(const QueryScope* scope, const Plan& plan, OperatorPtr input);

}  // namespace sonde::sql
