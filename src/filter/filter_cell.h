// A cell of a row on its way through a filter.
//
// The family is an index into the families of the table's schema, whose names ascend; so the order of cells
// by (family, qualifier ascending, timestamp descending) is the order by (index, qualifier, timestamp), and
// what a filter says of a family is decided once.
#pragma once

#include <cstdint>

#include "model/cell.h"

namespace sonde {

// In a FilterCell: no label.
constexpr uint32_t kNoLabel = 0;

struct FilterCell {
  uint32_t family = 0;        // index into TableSchema::families
  uint32_t label = kNoLabel;  // see CompiledFilter::Label
  CellView cell;              // views into the row that was given, or empty
  bool operator==(const FilterCell&) const = default;
};

// The order of cells in a row.  Copies of a cell, and labels, are not ordered.
inline bool ComesBefore(const FilterCell& a, const FilterCell& b) {
  if (a.family != b.family) return a.family < b.family;
  if (const int order = a.cell.qualifier.compare(b.cell.qualifier); order != 0) return order < 0;
  return a.cell.timestamp_micros > b.cell.timestamp_micros;
}

}  // namespace sonde
