// Parses RowFilter messages into the model's filters.
#pragma once

#include <google/bigtable/v2/data.pb.h>

#include <memory>

#include "absl/status/statusor.h"
#include "filter/compiled_filter.h"
#include "model/filter_spec.h"

namespace sonde {

// INVALID_ARGUMENT: the filter is larger than kFilterBytesMax, nests deeper than kFilterDepthMax, says
// `false` where only `true` has a meaning, or has a condition without a predicate.
absl::StatusOr<FilterSpec> ParseFilter(const google::bigtable::v2::RowFilter& filter);

// Parses and compiles a filter.  Errors: those that do not depend on a table.
absl::StatusOr<std::shared_ptr<const CompiledFilter>> CompileFilter(
    const google::bigtable::v2::RowFilter& filter);

}  // namespace sonde
