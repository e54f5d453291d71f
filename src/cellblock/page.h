// Pages: sorted cells of one family of one table, encoded by column across many rows.
//
// A page holds a stretch of the sequence of cells: row key ascending, qualifier ascending, timestamp
// descending.  It may begin and end within a row.  Regular parts cost next to nothing: keys that count up,
// times at a steady step, columns that all rows have.  Values take about their entropy; each column has the
// form that suits it (src/codec).  Tall rows (one event a row) and bucket rows (an hour a row) become equally
// dense.
//
// Layout (docs/formats/segment.md is normative; integers: codec/integers.h; numbers are varints):
//   format     1 byte, kPageFormat
//   header     length, bytes, then 4 bytes of checksum over all up to here
//   body       the sections that the header names: keys, columns, shape, times, values
//   checksum   8 bytes over all before them
//
// The header alone says which rows and times a page holds, so an expired page is dropped unread.
//
// Threads: the functions are pure.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "cellblock/page_header.h"

namespace sonde {

// Reads only the header, from a page or from its first `header_bytes`.  DATA_LOSS: the bytes are no page's.
absl::StatusOr<PageHeader> ReadPageHeader(std::string_view page);

// Returns the checksum at the end of a page without checking it.  Two pages with equal checksums are equal.
uint64_t ChecksumOfPage(std::string_view page);
// Whether the checksum at the end of a page is that of the bytes before it.
bool HasItsChecksum(std::string_view page);

}  // namespace sonde
