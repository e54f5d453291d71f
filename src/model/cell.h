// The cells of a table, each at (row key, family, qualifier, timestamp).
//
// Order of cells everywhere:
//  row key    ascending by bytes
//  family     in an order that each interface names
//  qualifier  ascending by bytes
//  timestamp  descending: the newest cell of a column comes first
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "model/column.h"

namespace sonde {

// Ids are given by the catalog.  They are never used again after the table or family is gone.
using TableId = uint32_t;
using FamilyId = uint32_t;

// How cells of an aggregate family combine.  kNone: they overwrite.  kHllInt64, kHllBytes: sketches that
// count distinct integers, or distinct byte strings.  Stored in data: never renumber.
enum class AggregateKind : uint8_t { kNone = 0, kSum = 1, kMin = 2, kMax = 3, kHllInt64 = 4, kHllBytes = 5 };
constexpr AggregateKind kAggregateKindLast = AggregateKind::kHllBytes;

constexpr bool IsHll(AggregateKind kind) { return kind >= AggregateKind::kHllInt64; }

// One cell of a family of a row.  The views belong to the producer of the cell.
struct CellView {
  std::string_view qualifier;
  int64_t timestamp_micros = 0;
  std::string_view value;

  bool operator==(const CellView&) const = default;
};

// Cells of one column as numbers.  The views belong to the producer.
struct NumberColumn {
  std::string_view qualifier;
  size_t range = 0;  // index of the range in ReadHints::columns that has the column
  absl::Span<const int64_t> timestamps_micros;  // descending
  // One a timestamp, none of them missing: ints (kInt64), which are exactly the values, or doubles (kDouble),
  // each the one that is next to the value.
  ColumnView numbers;
};

// A part of a row: some or all cells of one family; at least one.  A piece is reused from call to call, and
// each call replaces its contents.
struct RowPiece {
  std::string row_key;
  FamilyId family = 0;
  std::vector<CellView> cells;        // qualifier ascending, timestamp descending
  std::vector<NumberColumn> numbers;  // same order; columns that come without cells, if the reader's hints
                                      // allow it
  std::vector<std::string> backing;   // bytes that the views point into, if the producer does not hold them
                                      // itself
  bool last_of_row = false;           // true: this is the row's last piece; false: it may be
};

// Rows that are pulled, one piece at a time.  All pieces of a row come one after the other and are one
// snapshot of it.  A (row, family) may come in several pieces, one after the other and in order.  The
// families of a row come in the order of their ids, unless rows come in reverse.  Not for several threads.
// The views of a piece hold until the next call of Next or the end of the stream.
class RowStream {
 public:
  virtual ~RowStream() = default;
  // Returns false at the end.  DEADLINE_EXCEEDED, CANCELLED, DATA_LOSS: the stream is over.
  virtual absl::StatusOr<bool> Next(RowPiece* piece) = 0;
};

}  // namespace sonde
