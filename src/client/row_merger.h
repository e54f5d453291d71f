// Rows from the chunks of a ReadRows stream: the client's half of the chunk protocol.
//
// A chunk belongs to a cell: the row key, family and qualifier that it leaves out are those of the chunk
// before. A cell comes in several chunks when `value_size` (the length of the whole value) is set on all but
// the last of them.  `commit_row` ends a row, `reset_row` forgets what came of it.  Source: the comments of
// google.bigtable.v2.ReadRowsResponse; where they are silent, what all official clients refuse is refused
// here.
//
//   RowMerger merger(/*reversed=*/false);
//   for (CellChunk& chunk : *response.mutable_chunks()) {
//     absl::StatusOr<bool> complete = merger.Add(std::move(chunk), &row);
//     ...
//   }
//
// Not for several threads.  After an error the merger is of no further use.
#pragma once

#include <google/bigtable/v2/bigtable.pb.h>

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/table_access.h"

namespace sonde {

class RowMerger {
 public:
  using CellChunk = google::bigtable::v2::ReadRowsResponse::CellChunk;

  explicit RowMerger(bool reversed) : reversed_(reversed) {}

  // Takes the next chunk.  True: it ended a row, which is now in *row, cells in the order in which they came.
  // INTERNAL: the server broke the protocol; the message says how, and in which row.
  absl::StatusOr<bool> Add(CellChunk&& chunk, ReadRow* row);

  // Takes last_scanned_row_key: the scan is past this key.  INTERNAL in the middle of a row, or when the scan
  // was past it already (a key that repeats the last one is fine).
  absl::Status SetLastScanned(std::string_view row_key);

  // The stream ended well.  INTERNAL in the middle of a row.
  absl::Status Finish() const;

  // The stream broke: forgets the row in progress; the next chunk begins a row after last_row_key().
  void DropUnfinishedRow();

  // Where the scan is: the last row that was complete or that the server said it scanned; none yet: nullopt.
  const std::optional<std::string>& last_row_key() const { return last_row_key_; }

 private:
  enum class State { kBetweenRows, kBetweenCells, kInCell };

  absl::Status BeginRow(const CellChunk& chunk);
  absl::Status BeginCell(CellChunk& chunk);
  absl::Status ContinueCell(CellChunk& chunk);
  absl::StatusOr<bool> EndCell(const CellChunk& chunk, ReadRow* row);
  absl::Status Reset(const CellChunk& chunk);
  absl::Status Broken(std::string_view rule) const;
  // Whether a scan that is at last_row_key_ may still come to `row_key`.
  bool IsAhead(std::string_view row_key) const;

  const bool reversed_;
  State state_ = State::kBetweenRows;
  ReadRow row_;
  std::string family_;
  std::string qualifier_;
  int32_t value_bytes_ = 0;  // of the cell in progress, as its chunks say
  std::optional<std::string> last_row_key_;
};

}  // namespace sonde
