// Shows what a declaration writes: example rows as the documents' tables draw them, and what they cost.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "series/schema/schema.h"

namespace sonde::series {

// A text of several lines.  The rows are those that PointWriter makes of three example points.
// INVALID_ARGUMENT: the example points can't be written by this declaration (a tag of 1 byte, say).
absl::StatusOr<std::string> ExplainSchema(const SeriesSchema& schema);

}  // namespace sonde::series
