// Hints that ask for some columns.
#pragma once

#include <vector>

#include "filter/byte_range.h"
#include "model/read_hints.h"

namespace sonde {

// Adds columns to the ranges that hints ask for.  Too many ranges become one that contains them all, as many
// would cost more than they leave out.
void AddColumns(ByteRanges columns, std::vector<ReadHints::ColumnRange>* hints);

}  // namespace sonde
