// Where a reader of a change stream stands, and the token that says so.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "model/cell.h"
#include "model/row_range.h"

namespace sonde {

// How far a partition has been read.  After partitions were merged, its parts may have come differently far.
struct StreamCursor {
  // Every record through `position` of rows of the range has been read.
  struct Segment {
    RowRange range;
    int64_t position = 0;
    bool operator==(const Segment&) const = default;
  };
  std::vector<Segment> segments;  // at least one; ascending, each starting where the one before ends
  // No record that is still to be read lies at or below.  Greater than the positions where nothing was
  // written since.
  int64_t watermark = 0;

  RowRange partition() const { return {segments.front().range.start, segments.back().range.end}; }
  // The least of the segments.
  int64_t position() const;
  bool HasRead(std::string_view row_key, int64_t position) const;
  // Every record through `position` has been read, of all rows.
  void Advance(int64_t position);
  // Joins neighbours until there are no more than kStreamSegmentsMax, at the less advanced position: what
  // lies between is read once more, and the watermark is before it.
  void Coarsen();
  // The part of it that is in `window`, which overlaps its partition.
  StreamCursor Clip(const RowRange& window) const;

  bool operator==(const StreamCursor&) const = default;
};

// So many segments a cursor has at most, and so a token.  A segment begins where a partition once began, and
// is one with its neighbour once both have come equally far: a reader that opens the one partition of a table
// that had as many as there may be (ChangeStreamOptions) has half as many.
constexpr size_t kStreamSegmentsMax = 128;

// Which stream a token is of: a table's, since it was last enabled.
struct StreamIdentity {
  TableId table = 0;
  int64_t start_micros = 0;
};

// Opaque to clients: URL-safe base64.  The cursor has no more than kStreamSegmentsMax segments.
std::string EncodeStreamToken(const StreamIdentity& stream, const StreamCursor& cursor);
// INVALID_ARGUMENT: not a token, one with more or longer segments than any has, or one of another stream.
absl::StatusOr<StreamCursor> DecodeStreamToken(const StreamIdentity& stream, std::string_view token);

}  // namespace sonde
