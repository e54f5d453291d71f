// Where HBase keeps a cell: in which HBase family, at which qualifier and time.
//
// A table of Sonde's is a table of HBase's with these families, whatever families Sonde's table has:
//   d   cells.              qualifier: column, end.          time: the cell's, in microseconds
//   v   the row's version.  qualifier: "n".                  time: 1
//   x   expiring cells.     qualifier: column, end, 8 bytes. time: the cell's, in milliseconds, by which HBase forgets it
//   l   the change log, if the table was ever logged (log/stored_log.h), which has a qualifier of v, too
//   b, c  packed cells, if the table has them (packed/packed_cells.h)
// A column is the family's id (4 bytes, big-endian) and the qualifier, in which the bytes 0, 1 and 2 have a byte 2 in front.  The end
// is a byte 1, or 0 for the cell at INT64_MAX: HBase takes that time for "now", so that this one cell has a column of its own,
// right before the others, and the time before it.  The 8 bytes are the time in microseconds, inverted, big-endian.
// HBase's order of such cells is Sonde's: family, qualifier ascending, time descending.
//
// Pure: no state, no clock.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "hbase/wire/cell_block.h"
#include "hbase/wire/read_messages.h"
#include "model/cell.h"
#include "model/mutation.h"
#include "model/read_hints.h"

namespace sonde {

constexpr char kCellsFamily[] = "d";
constexpr char kVersionFamily[] = "v";
constexpr char kExpiringFamily[] = "x";
constexpr char kVersionQualifier[] = "n";
constexpr int64_t kVersionTime = 1;

// Without the end.
std::string StoredColumn(FamilyId family, std::string_view qualifier);

// The column's cells but the one at INT64_MAX, and the column of that one.
std::string UsualColumn(FamilyId family, std::string_view qualifier);
std::string LastColumn(FamilyId family, std::string_view qualifier);

// Where a cell is put.
struct StoredPlace {
  const char* family = nullptr;
  std::string qualifier;
  int64_t time = 0;
};
StoredPlace PlaceOf(FamilyId family, std::string_view qualifier, int64_t timestamp_micros);

// Qualifiers as HBase has them: of a whole family, of a column, of columns [start, end).
hbase::QualifierRange StoredFamilyRange(FamilyId family);
hbase::QualifierRange StoredColumnRange(FamilyId family, std::string_view qualifier);
hbase::QualifierRange StoredColumnsRange(FamilyId family, const ReadHints::ColumnRange& columns);
// Of the row's version, and the position of its newest record.
hbase::QualifierRange VersionRange();

// Sets the times in which HBase has all cells of the range.  It may have others in them.
void SetStoredTimes(const TimeRange& range, hbase::CellChoice* choice);

// A cell of kCellsFamily or kExpiringFamily.
struct SeamCell {
  FamilyId family = 0;
  CellView cell;           // views HBase's cell, or `bytes`
  bool is_packed = false;  // it is in a packed value, and not by itself
};
// `bytes` gets what cannot be viewed.  DATA_LOSS: nobody has put such a cell.
absl::Status ReadStoredCell(const hbase::Cell& stored, std::deque<std::string>* bytes, SeamCell* cell);

}  // namespace sonde
