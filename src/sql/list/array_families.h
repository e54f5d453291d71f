// The parts of ArrayFunctions, and what they share.
#pragma once

#include <cstddef>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "model/datum.h"
#include "sql/function/bounds.h"
#include "sql/function/call.h"
#include "sql/function/function.h"

namespace sonde::sql {

using List = absl::Span<const Datum>;

std::vector<Function> ArrayPieceFunctions();   // ARRAY_CONCAT, ARRAY_SLICE, ...
std::vector<Function> ArrayNumberFunctions();  // ARRAY_SUM, ARRAY_MIN, ...
std::vector<Function> ArrayLambdaFunctions();  // ARRAY_FILTER, ARRAY_TRANSFORM

std::vector<Function> ArraySearchFunctions();  // ARRAY_INCLUDES, ARRAY_OFFSETS, ARRAY_FIND_ALL, ...

// Room for a list of so many items.
inline absl::StatusOr<Datum*> NewItems(Call& call, size_t count) {
  if (absl::Status status = AskForRoom(call, count * sizeof(Datum)); !status.ok()) return status;
  return call.arena()->New<Datum>(count);
}

}  // namespace sonde::sql
