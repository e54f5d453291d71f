// Hints that ask for some columns.
#pragma once

#include <vector>

#include "filter/byte_range.h"
#include "model/read_hints.h"

namespace sonde {

// Adds columns to those that hints ask for: as few ranges as cost no more than they leave out.
void AddColumns(ByteRanges columns, std::vector<ReadHints::ColumnRange>* hints);

}  // namespace sonde
