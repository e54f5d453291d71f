// Hints that say which cells a reader can do without.  They are advisory: an engine may return more cells,
// never fewer.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/number_bytes.h"
#include "model/cell.h"
#include "model/mutation.h"

namespace sonde {

struct ReadHints {
  // [start, end) of qualifiers; an empty end is infinity.
  struct ColumnRange {
    std::string start;
    std::string end;
  };

  std::optional<std::vector<FamilyId>> families;    // only these
  std::optional<std::vector<ColumnRange>> columns;  // only these, ascending and disjoint
  TimeRange time_range;                             // only these timestamps
  std::optional<int64_t> newest_per_column;         // only so many of each column, of those in time_range
  bool keys_only = false;                           // values do not matter: they may come empty
  // One cell of a row and family is enough, of those that all else here asks for: the first with the greatest time.  No rule of
  // garbage collection forgets it and keeps another.
  bool newest_of_row = false;
  // How the values of each of `columns` are written, for a reader that calculates: columns may come as
  // numbers (RowPiece::numbers) where all of their values in reach are written so.  Empty: as cells.
  // Of kTimesOnly: any values, none of which need be those that are stored.
  std::vector<NumberBytes> numbers;
  // Rows for which it answers false need not come.  Called by the thread that reads; empty: all are wanted.
  std::function<bool(std::string_view row_key)> wants_row;
  // The reader stops after this many rows that have a cell which all the hints above ask for.
  std::optional<int64_t> rows_max;
};

}  // namespace sonde
