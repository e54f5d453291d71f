// Ranges of rows, divided for readers that read parts of them at once.
#pragma once

#include <vector>

#include "model/row_range.h"

namespace sonde {

// The parts, and the rest behind them, are the ranges that were divided, in their order.
struct DividedRanges {
  // Each takes some milliseconds to read, as far as can be told without reading.
  std::vector<std::vector<RowRange>> parts;
  // To be divided when the parts are done; none: the parts are all of it.
  std::vector<RowRange> rest;
};

}  // namespace sonde
