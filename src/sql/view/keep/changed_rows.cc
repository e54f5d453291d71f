#include "sql/view/keep/changed_rows.h"

#include <algorithm>
#include <string_view>
#include <variant>
#include <vector>

#include "changes/change_record.h"
#include "model/row_range.h"
#include "sql/plan/try.h"

namespace sonde::sql {
namespace {

// What one call looks at.
constexpr size_t kPiecesMax = 65'536;
constexpr size_t kPieceBytesMax = 16 << 20;

// Which of the columns a record deletes whole.
class DeletedColumns {
 public:
  explicit DeletedColumns(absl::Span<const ViewDefinition::SourceColumn> columns)
      : columns_(columns), are_deleted_(columns.size()) {}

  // Takes the next piece of a record; true: it is the last one, and all columns are deleted.
  absl::StatusOr<bool> Take(std::string_view bytes) {
    ChangePiece piece;
    SONDE_TRY(DecodeChangePiece(bytes, &piece));
    if (piece.first) are_deleted_.assign(columns_.size(), false);
    for (const LoggedMutation& logged : piece.mutations) {
      if (piece.kind == ChangeKind::kUser) Note(logged.mutation);
    }
    return piece.last && std::ranges::find(are_deleted_, false) == are_deleted_.end();
  }

 private:
  void Note(const Mutation& mutation) {
    const auto* const family = std::get_if<DeleteFromFamily>(&mutation);
    const auto* const column = std::get_if<DeleteFromColumn>(&mutation);
    for (size_t i = 0; i < columns_.size(); ++i) {
      const bool is_of_family = family != nullptr && family->family == columns_[i].family;
      const bool is_of_column = column != nullptr && column->family == columns_[i].family &&
                                columns_[i].qualifier == column->qualifier && column->time_range.IsAll();
      if (is_of_family || is_of_column) are_deleted_[i] = true;
    }
  }

  const absl::Span<const ViewDefinition::SourceColumn> columns_;
  std::vector<bool> are_deleted_;
};

}  // namespace

absl::StatusOr<ChangedRows> ReadChangedRows(RowLog* log, TableId table, int64_t after, size_t keys_max,
                                            int64_t now_micros,
                                            absl::Span<const ViewDefinition::SourceColumn> columns) {
  SONDE_TRY_SET(const RowLog::End end, log->FindEnd(table, RowRange::All(), now_micros));
  ChangedRows changed{.keys = {}, .deleted = {}, .through = std::max(after, end.frontier), .has_more = false};
  if (end.last_record <= after || end.frontier <= after) return changed;
  size_t pieces = 0;
  size_t bytes = 0;
  absl::Status status;
  DeletedColumns deleted(columns);
  std::string row_key;  // of the record
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
    if (head.first) {
      row_key = head.row_key;
      changed.keys.insert(row_key);
    }
    if (!columns.empty()) {
      const absl::StatusOr<bool> is_deleted = deleted.Take(piece.bytes);
      status = is_deleted.status();
      if (!status.ok()) return false;
      if (*is_deleted) changed.deleted.insert(row_key);
    }
    ++pieces;
    bytes += piece.bytes.size();
    return true;
  };
  SONDE_TRY(log->Read(table, RowRange::All(), after + 1, 0, end.frontier, visit));
  if (!status.ok()) return status;
  return changed;
}

}  // namespace sonde::sql
