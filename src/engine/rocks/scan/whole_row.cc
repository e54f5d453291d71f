#include "engine/rocks/scan/whole_row.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"
#include "engine/rocks/scan/rocks_scan.h"
#include "model/limits.h"

namespace sonde {

absl::Status WholeRow::TakeLarge(size_t entry_bytes, std::string_view row_key) {
  const auto wanted = kLargeReadCopies * static_cast<int64_t>(entry_bytes) + static_cast<int64_t>(row_bytes_);
  if (room_ == nullptr || wanted <= place_.bytes()) return absl::OkStatus();
  place_.Shrink(0);
  absl::StatusOr<LargeRoom::Place> taken =
      room_->TryTake(fmt::format("Row '{}'", Printable(row_key)), wanted);
  if (taken.ok()) place_ = *std::move(taken);
  return taken.status();
}

absl::Status WholeRow::Read(const CellStore* store, TableId table, std::string_view row_key,
                            const ReadHints& hints) {
  const auto take_large = [&](size_t entry_bytes) { return TakeLarge(entry_bytes, row_key); };
  RocksScan scan(store, table, {RowRange::Single(row_key)}, {.hints = hints, .take_large = take_large});
  RowPiece piece;
  while (true) {
    const absl::StatusOr<bool> more = scan.Next(&piece);
    if (!more.ok() || !*more) return more.status();
    size_t bytes = 0;
    for (const CellView& cell : piece.cells) bytes += cell.qualifier.size() + cell.value.size();
    row_bytes_ += bytes + piece.cells.size() * sizeof(CellView);
    if (row_bytes_ > kRowWholeBytesMax) {
      return absl::FailedPreconditionError(fmt::format(
          "Row '{}' has more than {} MiB that have to be seen before it is changed, and that is the limit",
          Printable(row_key), kRowWholeBytesMax >> 20));
    }
    if (row_bytes_ >= static_cast<size_t>(kLargeBytes)) {
      if (absl::Status status = TakeLarge(bytes, row_key); !status.ok()) return status;
    }
    Append(piece, bytes);
  }
}

void WholeRow::Append(const RowPiece& piece, size_t bytes) {
  // A family may come in several pieces.
  if (families_.empty() || families_.back().family != piece.family) families_.push_back({piece.family, {}});
  std::string& copy = bytes_.emplace_back();
  copy.reserve(std::max<size_t>(bytes, 64));  // on the heap: a vector may move its strings, not their bytes
  for (const CellView& cell : piece.cells) {
    const size_t start = copy.size();
    copy.append(cell.qualifier).append(cell.value);
    const std::string_view view = copy;
    families_.back().cells.push_back({view.substr(start, cell.qualifier.size()), cell.timestamp_micros,
                                      view.substr(start + cell.qualifier.size())});
  }
}

}  // namespace sonde
