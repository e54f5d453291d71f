// How a table divides, and how much lies where.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "engine/engine.h"
#include "engine/rocks/cell_store.h"

namespace sonde {

// As Engine::Ranges.  Where files begin is where the data was found to divide evenly.
absl::StatusOr<std::vector<RangeStats>> MeasureRanges(const CellStore& store, TableId table);

}  // namespace sonde
