// RowFilter messages as the model's filters.
#pragma once

#include <google/bigtable/v2/data.pb.h>

#include <memory>

#include "absl/status/statusor.h"
#include "filter/compiled_filter.h"
#include "model/filter_spec.h"

namespace sonde {

// INVALID_ARGUMENT: larger than kFilterBytesMax, nested deeper than kFilterDepthMax, `false` where only
// `true` has a meaning, a condition without a predicate.
absl::StatusOr<FilterSpec> ParseFilter(const google::bigtable::v2::RowFilter& filter);

// Parsed and compiled: all that can be said of it without a table.
absl::StatusOr<std::shared_ptr<const CompiledFilter>> CompileFilter(
    const google::bigtable::v2::RowFilter& filter);

}  // namespace sonde
