// Steps of the index's upkeep: tails become parts of blocks, and sets of many cells become one cell.
//
// Whenever a process dies, and whoever reads meanwhile, nothing is missing: a block is written and listed before its tails
// are deleted, and the cells of a set that were read go with the write of their union, in one change of the row.
//
// Threads: the functions may be called at once, but no two for one block.
// Errors: those of the tables; DATA_LOSS: what was read is damaged, or no block can be made of it: it stays as it is.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "model/table_access.h"
#include "series/index/index_table.h"
#include "series/known/known_series.h"

namespace sonde::series {

// `tails`: those of the block, by first position.
absl::Status SealBlock(const KnownSeries& series, const IndexDirectory& directory, const std::string& block,
                       const std::vector<const IndexTail*>& tails, int64_t now_micros, TableAccess* tables);

// `column`: one that the row never had.
absl::Status FoldSetRow(const std::string& row_key, const std::string& column, int64_t now_micros,
                        TableAccess* tables);

}  // namespace sonde::series
