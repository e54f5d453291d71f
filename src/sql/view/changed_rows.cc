#include "sql/view/changed_rows.h"

#include <algorithm>
#include <string_view>

#include "changes/change_record.h"
#include "model/row_range.h"
#include "sql/plan/try.h"

namespace sonde::sql {
namespace {

// What one call looks at.
constexpr size_t kPiecesMax = 65'536;
constexpr size_t kPieceBytesMax = 16 << 20;

}  // namespace

absl::StatusOr<ChangedRows> ReadChangedRows(RowLog* log, TableId table, int64_t after, size_t keys_max,
                                            int64_t now_micros) {
  SONDE_TRY_SET(const RowLog::End end, log->FindEnd(table, RowRange::All(), now_micros));
  ChangedRows changed{.keys = {}, .through = std::max(after, end.frontier), .has_more = false};
  if (end.last_record <= after || end.frontier <= after) return changed;
  size_t pieces = 0;
  size_t bytes = 0;
  absl::Status status;
  const auto visit = [&](const RowLog::Piece& piece) {
    ChangePieceHead head;
    status = DecodeChangePieceHead(piece.bytes, &head);
    if (!status.ok()) return false;
    const bool is_long = pieces >= kPiecesMax || bytes >= kPieceBytesMax;
    const bool is_full = changed.keys.size() == keys_max;
    if (head.first && (is_long || (is_full && !changed.keys.contains(std::string(head.row_key))))) {
      // No other record has its position: all before it were looked at.
      changed.through = piece.position - 1;
      changed.has_more = true;
      return false;
    }
    if (head.first) changed.keys.insert(std::string(head.row_key));
    ++pieces;
    bytes += piece.bytes.size();
    return true;
  };
  SONDE_TRY(log->Read(table, RowRange::All(), after + 1, 0, end.frontier, visit));
  if (!status.ok()) return status;
  return changed;
}

}  // namespace sonde::sql
