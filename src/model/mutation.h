// Changes to one row: mutations as a client asks for them, and deltas as an engine applies them.
//
// Only sketches are owned.  Every view points into the request, or into bytes that the caller keeps alive
// until the engine has answered.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/types/span.h"
#include "model/cell.h"

namespace sonde {

// [start, end) in microseconds; end 0 is infinity.  A cell's timestamp may be INT64_MAX, and only an infinite
// end comes after it: [0, INT64_MAX) is not everything.
struct TimeRange {
  int64_t start_micros = 0;
  int64_t end_micros = 0;

  // The end as a number that compares as the end does.  kInfiniteEnd is greater than every timestamp.
  static constexpr uint64_t kInfiniteEnd = uint64_t{1} << 63;
  uint64_t End() const {
    return end_micros == 0 ? kInfiniteEnd : static_cast<uint64_t>(std::max<int64_t>(end_micros, 0));
  }
  // Makes a range of an `end` as End gives it.
  static TimeRange Of(uint64_t start, uint64_t end) {
    return {static_cast<int64_t>(start), end == kInfiniteEnd ? 0 : static_cast<int64_t>(end)};
  }

  bool Contains(int64_t micros) const {
    return micros >= start_micros && (end_micros == 0 || micros < end_micros);
  }
  bool IsAll() const { return start_micros <= 0 && end_micros == 0; }
  bool operator==(const TimeRange&) const = default;
};

// Mutations as a client asks for them (google.bigtable.v2.Mutation), checked.  They are applied in order.
struct SetCell {
  std::string_view family;
  std::string_view qualifier;
  int64_t timestamp_micros = 0;  // kServerTimestamp: the server's
  std::string_view value;
  // The client made the timestamp up itself.  If it is finer than the table's granularity, it is truncated
  // and not refused.
  bool client_generated_timestamp = false;
};
struct AddToCell {
  std::string_view family;
  std::string_view qualifier;
  int64_t timestamp_micros = 0;
  std::variant<std::monostate, int64_t, std::string_view> input;  // monostate: NULL, which adds 0 or nothing
  bool client_generated_timestamp = false;                        // as in SetCell
};
// `state`: 8 bytes, big-endian.  In an HLL family it is a sketch of ZetaSketch.  nullopt: NULL, which changes
// nothing.
struct MergeToCell {
  std::string_view family;
  std::string_view qualifier;
  int64_t timestamp_micros = 0;
  std::optional<std::string_view> state;
  bool client_generated_timestamp = false;  // as in SetCell
};
struct DeleteFromColumn {
  std::string_view family;
  std::string_view qualifier;
  TimeRange time_range;
};
struct DeleteFromFamily {
  std::string_view family;
};
struct DeleteFromRow {};

using Mutation =
    std::variant<SetCell, AddToCell, MergeToCell, DeleteFromColumn, DeleteFromFamily, DeleteFromRow>;

// Changes to one family, as an engine applies them: row' = (row \ deletes) with puts over it, then adds.  The
// order of the mutations is resolved: a (family, qualifier, timestamp) carries at most one put or one add.
struct FamilyDelta {
  struct ColumnDelete {
    std::string_view qualifier;
    TimeRange time_range;
    bool operator==(const ColumnDelete&) const = default;
  };
  struct Add {
    std::string_view qualifier;
    int64_t timestamp_micros = 0;
    int64_t state = 0;
    std::string sketch = {};  // in place of the state, in an HLL family
    bool operator==(const Add&) const = default;
  };

  FamilyId family = 0;
  AggregateKind aggregate = AggregateKind::kNone;  // the family's kind
  bool delete_all = false;
  std::vector<ColumnDelete> deletes;  // by qualifier, start; those of a column are disjoint
  std::vector<CellView> puts;         // qualifier ascending, timestamp descending; unique
  std::vector<Add> adds;              // same order

  bool operator==(const FamilyDelta&) const = default;
};

// The record that a change leaves in its table's change log (engine/row_log.h).
struct LogRecord {
  int64_t position_min = 0;              // the record's position is at least this
  absl::Span<const std::string> pieces;  // opaque; none: nothing is logged

  bool operator==(const LogRecord&) const = default;
};

// Changes to one row, by family id; at most one FamilyDelta a family.  To delete a row is `delete_all` of
// each family of its table.
struct RowDelta {
  std::vector<FamilyDelta> families;
  LogRecord log;
  bool operator==(const RowDelta&) const = default;
};

}  // namespace sonde
