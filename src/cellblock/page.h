// Pages: sorted cells of one family of one table, encoded by column across many rows.
//
// A page holds a stretch of the sequence of cells: row key ascending, qualifier ascending, timestamp
// descending.  It may begin and end within a row.  What is alike in it costs next to nothing: keys that count
// up, times at a regular step, columns that all rows have; values take about their entropy, each column in
// the form that suits it (src/codec).  Tall rows (one event a row) and bucket rows (an hour a row) end as
// dense.
//
// Layout (docs/formats/segment.md is normative; integers: codec/integers.h; numbers are varints):
//   format     1 byte, kPageFormat
//   header     length, bytes, then 4 bytes of checksum over all up to here
//   body       the sections that the header names: keys, columns, shape, times, values
//   checksum   8 bytes over all before them
//
// So the header alone says which rows and times a page holds: an expired page is dropped unread.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "cellblock/page_header.h"

namespace sonde {

// Reads the header, and nothing else, of a page or of its first `header_bytes`.  DATA_LOSS: they are none.
absl::StatusOr<PageHeader> ReadPageHeader(std::string_view page);

// The checksum at the end of a page, not checked: two pages with the same one are the same.
uint64_t ChecksumOfPage(std::string_view page);

}  // namespace sonde
