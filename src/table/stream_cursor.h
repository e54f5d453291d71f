// The place of a reader in a change stream, and the token that says so.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "model/cell.h"
#include "model/row_range.h"

namespace sonde {

// How far a partition has been read.  After partitions were merged, its parts may have been read differently
// far.
struct StreamCursor {
  // All records of the range's rows, up to and with `position`, have been read.
  struct Segment {
    RowRange range;
    int64_t position = 0;
    bool operator==(const Segment&) const = default;
  };
  std::vector<Segment> segments;  // at least one; ascending, each starting where the one before ends
  // No record that is still to be read lies at or below the watermark.  It is greater than the segments'
  // positions if nothing was written since.
  int64_t watermark = 0;

  RowRange partition() const { return {segments.front().range.start, segments.back().range.end}; }
  // The least position of the segments.
  int64_t position() const;
  bool HasRead(std::string_view row_key, int64_t position) const;
  // Marks all records of all rows, up to and with `position`, as read.
  void Advance(int64_t position);
  // Joins neighbouring segments until there are at most kStreamSegmentsMax.  The joined segment has the lower
  // position: the records between are read once more, and the watermark goes below them.
  void Coarsen();
  // Returns the part of the cursor that is in `window`, which must overlap its partition.
  StreamCursor Clip(const RowRange& window) const;

  bool operator==(const StreamCursor&) const = default;
};

// A cursor, and so a token, has at most this many segments.  A segment begins where a partition once began.
// It is joined with its neighbour once both were read equally far.  A table may have as many partitions as
// ChangeStreamOptions says; a reader of the one partition that they all became has half of this number.
constexpr size_t kStreamSegmentsMax = 128;

// The stream that a token belongs to: a table's stream since it was last enabled.
struct StreamIdentity {
  TableId table = 0;
  int64_t start_micros = 0;
};

// The token is opaque to clients: URL-safe base64.  The cursor must not have more than kStreamSegmentsMax
// segments.
std::string EncodeStreamToken(const StreamIdentity& stream, const StreamCursor& cursor);
// INVALID_ARGUMENT: it is no token, has more or longer segments than any token has, or is of another stream.
absl::StatusOr<StreamCursor> DecodeStreamToken(const StreamIdentity& stream, std::string_view token);

}  // namespace sonde
