#include "table/collect_garbage.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "changes/change_record.h"
#include "model/limits.h"
#include "mutation/normalize.h"
#include "table/row_assembler.h"

namespace sonde {
namespace {

constexpr size_t kRowsPerCommit = 1'000;

// What is forgotten of one row.  Once a cell of a column is, so are all older ones, so a column has one
// delete.
class RowGarbage {
 public:
  RowGarbage(const VisibleCells* visible, std::string row_key)
      : visible_(visible), row_key_(std::move(row_key)) {}

  void Take(const RowPiece& piece) {
    const std::optional<uint32_t> index = visible_->FamilyIndex(piece.family);
    if (!index.has_value()) return;
    const FamilySchema& family = visible_->schema()->families[*index];
    for (const CellView& cell : piece.cells) {
      // Pieces of a family follow each other, and so do a column's cells.
      if (family_ != piece.family || qualifier_ != cell.qualifier) {
        family_ = piece.family;
        qualifier_ = cell.qualifier;
        rank_ = 0;
        found_ = false;
      }
      if (found_ || visible_->rules()[*index].Keeps(rank_++, cell.timestamp_micros)) continue;
      found_ = true;
      if (mutations_.size() == kMutationsPerRequestMax) return;  // the rest another time
      mutations_.push_back(DeleteFromColumn{
          family.name, qualifiers_.emplace_back(cell.qualifier), {0, EndOf(cell.timestamp_micros)}});
    }
  }

  const std::string& row_key() const { return row_key_; }
  const std::vector<Mutation>& mutations() const { return mutations_; }

 private:
  // The end of the range whose newest timestamp this is; 0, infinity, after the last that the table may have.
  int64_t EndOf(int64_t timestamp_micros) const {
    const bool micros = visible_->schema()->granularity == TimestampGranularity::kMicros;
    int64_t end_micros = 0;
    const bool is_last = __builtin_add_overflow(timestamp_micros, micros ? 1 : kMicrosPerMilli, &end_micros);
    return is_last ? 0 : end_micros;
  }

  const VisibleCells* visible_;
  std::string row_key_;
  FamilyId family_ = 0;
  std::string qualifier_;
  int64_t rank_ = 0;
  bool found_ = false;  // the column's newest forgotten cell
  std::deque<std::string> qualifiers_;
  std::vector<Mutation> mutations_;
};

absl::Status Commit(Tables* tables, const TableSchema& schema, int64_t now_micros,
                    const std::deque<RowGarbage>& rows) {
  std::vector<ExpiredKeeper::Row> forgotten;
  for (const RowGarbage& row : rows) {
    if (!row.mutations().empty()) forgotten.push_back({row.row_key(), row.mutations()});
  }
  if (forgotten.empty()) return absl::OkStatus();
  if (absl::Status status = tables->KeepExpired(schema, forgotten); !status.ok()) return status;
  std::vector<RowChange> changes;
  std::vector<std::vector<std::string>> records;
  records.reserve(rows.size());
  for (const RowGarbage& row : rows) {
    if (row.mutations().empty()) continue;
    RowChange& change = changes.emplace_back();
    change.row_key = row.row_key();
    absl::Status status = Normalize(schema, row.row_key(), row.mutations(), now_micros, &change.delta);
    if (!status.ok()) return status;
    if (!schema.LogsGarbage()) continue;
    records.push_back(
        EncodeChange(schema, ChangeKind::kGarbageCollection, row.row_key(), row.mutations(), now_micros));
    change.delta.log = {std::max(now_micros, schema.LogPositionMin()), records.back()};
  }
  return changes.empty() ? absl::OkStatus() : tables->engine().Apply(schema.id, changes);
}

}  // namespace

absl::StatusOr<std::optional<std::string>> CollectGarbage(Tables* tables, const TableSchemaRef& schema,
                                                          std::string start, size_t rows_max) {
  const int64_t now_micros = tables->clock().NowMicros();
  const VisibleCells visible(schema, now_micros);
  ReadHints hints{.keys_only = true};
  hints.families.emplace();
  for (size_t i = 0; i < schema->families.size(); ++i) {
    if (!visible.rules()[i].KeepsEverything()) hints.families->push_back(schema->families[i].id);
  }
  if (hints.families->empty()) return std::nullopt;
  absl::StatusOr<std::unique_ptr<RowStream>> stream =
      tables->engine().Scan(schema->id, {{std::move(start), ""}}, {.hints = std::move(hints)});
  if (!stream.ok()) return stream.status();
  std::deque<RowGarbage> rows;
  size_t rows_count = 0;
  RowPiece piece;
  while (true) {
    absl::StatusOr<bool> more = (*stream)->Next(&piece);
    if (!more.ok()) return more.status();
    const bool new_row = *more && (rows.empty() || rows.back().row_key() != piece.row_key);
    if (!*more || (new_row && (rows.size() == kRowsPerCommit || rows_count == rows_max))) {
      if (absl::Status status = Commit(tables, *schema, now_micros, rows); !status.ok()) return status;
      if (!*more) return std::nullopt;
      if (rows_count == rows_max) return piece.row_key;
      rows.clear();
    }
    if (new_row) {
      rows.emplace_back(&visible, piece.row_key);
      ++rows_count;
    }
    rows.back().Take(piece);
  }
}

}  // namespace sonde
