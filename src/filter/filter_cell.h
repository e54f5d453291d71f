// A cell of a row on its way through a filter.
//
// The family is an index into the families of the table's schema, whose names ascend.  So cells in the order
// of (index, qualifier, timestamp descending) are in the order of (family, qualifier, timestamp descending),
// and a filter decides on each family once.
#pragma once

#include <cstdint>

#include "model/cell.h"

namespace sonde {

// In a FilterCell: no label.
constexpr uint32_t kNoLabel = 0;

struct FilterCell {
  uint32_t family = 0;        // index into TableSchema::families
  uint32_t label = kNoLabel;  // see CompiledFilter::Label
  CellView cell;              // views the row that was given, or is empty
  bool operator==(const FilterCell&) const = default;
};

// The order of cells in a row.  Copies of a cell, and labels, have no order.
inline bool ComesBefore(const FilterCell& a, const FilterCell& b) {
  if (a.family != b.family) return a.family < b.family;
  if (const int order = a.cell.qualifier.compare(b.cell.qualifier); order != 0) return order < 0;
  return a.cell.timestamp_micros > b.cell.timestamp_micros;
}

}  // namespace sonde
