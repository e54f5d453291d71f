// How a table divides, and how much lies where.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/engine.h"
#include "engine/rocks/store/cell_store.h"

namespace sonde {

// As Engine::Ranges.  Where files begin is where the data was found to divide evenly.
absl::StatusOr<std::vector<RangeStats>> MeasureRanges(const CellStore& store, TableId table);

// As Engine::MeasureRows.
absl::StatusOr<std::vector<uint64_t>> MeasureRowRanges(const CellStore& store, TableId table,
                                                       const std::vector<std::string>& starts,
                                                       const std::string& end);

}  // namespace sonde
