// What a table holds: cells, each at (row key, family, qualifier, timestamp).
//
// Order, everywhere: row key ascending by bytes; families in an order that the caller of an interface names;
// qualifier ascending by bytes; timestamp descending (the newest cell of a column comes first).
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

// Given by the catalog, never used again after the table or family is gone.
using TableId = uint32_t;
using FamilyId = uint32_t;

// How cells of an aggregate family combine; kNone: they overwrite.  kHll...: sketches that count distinct
// integers, or distinct byte strings.  Stored in data: never renumber.
enum class AggregateKind : uint8_t { kNone = 0, kSum = 1, kMin = 2, kMax = 3, kHllInt64 = 4, kHllBytes = 5 };
constexpr AggregateKind kAggregateKindLast = AggregateKind::kHllBytes;

constexpr bool IsHll(AggregateKind kind) { return kind >= AggregateKind::kHllInt64; }

// One cell of a family of a row.  The views belong to whoever produced the cell.
struct CellView {
  std::string_view qualifier;
  int64_t timestamp_micros = 0;
  std::string_view value;

  bool operator==(const CellView&) const = default;
};

// Cells of one column as numbers.  The views belong to whoever produced them.
struct NumberColumn {
  std::string_view qualifier;
  size_t range = 0;                             // of ReadHints::columns, the one that it is in
  absl::Span<const int64_t> timestamps_micros;  // descending
  // One a timestamp, none of them missing: ints (kInt64), which are exactly the values, or doubles (kDouble),
  // each the one that is next to the value.
  ColumnView numbers;
};

// A part of a row: cells of one family, or all of them; never none.  Reused from call to call: what it held
// before is gone.
struct RowPiece {
  std::string row_key;
  FamilyId family = 0;
  std::vector<CellView> cells;        // qualifier ascending, timestamp descending
  std::vector<NumberColumn> numbers;  // likewise; of columns without cells, if the reader's hints say so
  std::vector<std::string> backing;   // what the views point into, when the producer does not hold it itself
  bool last_of_row = false;           // this is the row's last piece; false: perhaps it is not
};

// Rows that are pulled, one piece at a time.  All pieces of a row come one after the other and are one
// snapshot of it; a (row, family) may come in several pieces, one after the other and in order; the families
// of a row come in the order of their ids, unless rows come in reverse. Not for several threads.  The views
// of a piece hold until the next call of Next or the end of the stream.
class RowStream {
 public:
  virtual ~RowStream() = default;
  // False at the end.  DEADLINE_EXCEEDED, CANCELLED, DATA_LOSS: the stream is over.
  virtual absl::StatusOr<bool> Next(RowPiece* piece) = 0;
};

}  // namespace sonde
