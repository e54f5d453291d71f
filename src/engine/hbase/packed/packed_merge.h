// The packed cells of a scan's rows, merged with the cells that HBase has by themselves, as these come.
//
// Threads: not for several.
#pragma once

#include <deque>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "engine/hbase/packed/packed_row.h"
#include "model/cell.h"
#include "model/read_hints.h"

namespace sonde {

class PackedMerge {
 public:
  // What the hints' columns, times and count do not ask for is left out, as far as it is packed: HBase may have been asked for less of the
  // cells that stand for it.
  explicit PackedMerge(ReadHints hints) : hints_(std::move(hints)) {}

  // The row whose packed cells were added last, and whether some of them were not given.
  const std::string& row_key() const { return row_key_; }
  bool has_left() const { return has_left_; }

  // Takes a packed cell of a row.  Nothing of the row before may be left.
  absl::Status Add(std::string_view row_key, const hbase::Cell& stored);
  // Gives a cell that the row has by itself, after the packed cells that come before it, and forgets the one that this cell stands for.  The
  // pieces' views hold until the next row's first Add.
  absl::Status Give(FamilyId family, const CellView& cell, std::deque<RowPiece>* pieces);
  absl::Status GiveRest(std::deque<RowPiece>* pieces);

 private:
  absl::Status Begin();
  // Gives cells of the family that is next, up to the index `end`.
  void GiveCells(size_t end, std::deque<RowPiece>* pieces);
  // Gives a cell, unless its column has enough newer ones.
  void GiveIfAsked(FamilyId family, const CellView& cell, std::deque<RowPiece>* pieces);

  const ReadHints hints_;
  std::string row_key_;
  PackedRow row_;
  bool has_left_ = false;
  bool is_read_ = false;
  size_t family_ = 0;  // the next one that has cells to give
  size_t cell_ = 0;    // of it
  // If the hints want the newest of each column: of the last column that was given.
  FamilyId column_family_ = 0;
  std::string column_;
  int64_t given_of_column_ = 0;
};

// Appends a cell of a row to the last piece, or to a new one.
void AppendCell(std::string_view row_key, FamilyId family, const CellView& cell,
                std::deque<RowPiece>* pieces);

}  // namespace sonde
