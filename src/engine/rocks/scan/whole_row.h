// A row as it is now, whole in memory, for a change that depends on it.  Not for several threads.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "base/large_room.h"
#include "engine/engine.h"
#include "engine/rocks/store/cell_store.h"

namespace sonde {

class WholeRow {
 public:
  // A large row takes its place in `room`, and keeps it as long as this lives.  Null: it needs no place.
  explicit WholeRow(LargeRoom* room) : room_(room) {}

  // To be called once.  FAILED_PRECONDITION: the row has more than kRowWholeBytesMax, or never fits into the
  // room.  UNAVAILABLE: there is no place now; nobody waits for one, as the row is locked meanwhile.
  absl::Status Read(const CellStore* store, TableId table, std::string_view row_key, const ReadHints& hints);

  // The row's families, in order.  The views hold as long as this lives.
  const std::vector<RowFamily>& families() const { return families_; }

 private:
  absl::Status TakeLarge(size_t entry_bytes, std::string_view row_key);
  void Append(const RowPiece& piece, size_t bytes);

  LargeRoom* const room_;
  LargeRoom::Place place_;
  std::vector<RowFamily> families_;
  std::vector<std::string> bytes_;  // bytes that the cells view
  size_t row_bytes_ = 0;
};

}  // namespace sonde
