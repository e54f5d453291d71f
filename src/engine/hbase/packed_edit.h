// A change of a row whose table has packed cells (packed/packed_cells.h).
//
// HBase's markers hide nothing inside of a value.  So a change that deletes reads the packed values of its families, and writes what
// is left of them; it is guarded, as one that depends on the row's cells.  Cells that a change puts or adds to lie by themselves, over
// the packed ones.
//
// Pure: no state, no clock.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "engine/hbase/row_edit.h"
#include "engine/hbase/stored_row.h"
#include "model/mutation.h"

namespace sonde {

// Adds to what a change must know of its row what it must know of a row with packed cells.
void AddPackedNeeds(const RowDelta& delta, CellStorage storage, EditNeeds* needs);

// Adds what a change does to the packed cells of the row.  `row` has the packed cells that the needs ask for.
void AddPackedEdit(const RowDelta& delta, const StoredRow& row, RowEdit* edit);

// Deletes what the family has settled; deletes a packed cell that was read.
void MarkSettled(FamilyId family, RowEdit* edit);
void MarkPacked(const hbase::Cell& stored, RowEdit* edit);

// Makes these cells, in order, all that the family has packed.
void WritePacked(const PackedRow::Family& family, std::vector<CellView> cells, RowEdit* edit);

// Writes the cells of a change that only puts as packed values, if the table wants that and they are fit for it.  False: they are not,
// and nothing is written.
bool MakePackedPuts(std::string_view row_key, const RowDelta& delta, CellStorage storage, int64_t now_micros,
                    RandomSource* random, RowEdit* edit);

}  // namespace sonde
