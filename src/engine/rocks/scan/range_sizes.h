// How a table is divided into ranges, and about how many bytes ranges have.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/engine.h"
#include "engine/rocks/store/cell_store.h"

namespace sonde {

// As RowStore::Ranges.  Ranges begin where files begin, as files were found to divide the data evenly.
absl::StatusOr<std::vector<RangeStats>> MeasureRanges(const CellStore& store, TableId table);

// As RangeSizes::Measure.
absl::StatusOr<std::vector<uint64_t>> MeasureRowRanges(const CellStore& store, TableId table,
                                                       const std::vector<std::string>& starts,
                                                       const std::string& end);

// As RangeSizes::Divide.  Parts begin where pages begin: the heads hold little, as their cells go to pages.
absl::StatusOr<DividedRanges> DivideRowRanges(const CellStore& store, TableId table, FamilyId family,
                                              const std::vector<RowRange>& ranges);

}  // namespace sonde
