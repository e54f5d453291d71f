// Cells that a row has by themselves, as cells of packed values (engine/hbase/packed/packed_cells.h).
//
// The change is guarded by the version of the row that was read, which every change of the row makes another one.  So the row has exactly
// the cells that were read when the change is made, and a marker for a whole column or family deletes no others.
//
// Pure: no state, no clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "engine/hbase/row_edit.h"
#include "engine/hbase/stored_row.h"

namespace sonde {

struct SettleRules {
  // A row is left alone while it has a cell by itself with a later timestamp, or one that was packed at once later.
  int64_t newest_micros = INT64_MAX;
  // A family with fewer cells that has nothing packed is left alone: its value would be no shorter.
  size_t cells_min = 1;
};

// Makes the edit that packs what can be packed of a row, which was read whole.  Returns the number of cells that had been by themselves,
// or in values that were packed at once; 0: the edit is empty.
size_t MakeSettleEdit(std::string_view row_key, const StoredRow& row, const SettleRules& rules,
                      RowEdit* edit);

}  // namespace sonde
