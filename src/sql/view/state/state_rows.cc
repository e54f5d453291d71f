#include "sql/view/state/state_rows.h"

#include <memory>
#include <utility>

#include "base/check.h"
#include "engine/row_store.h"
#include "model/cell.h"
#include "model/mutation.h"
#include "sql/plan/try.h"

namespace sonde::sql {

TableSchema StateTableSchema() {
  TableSchema schema;
  schema.families.push_back({.name = "state"});
  return schema;
}

absl::Status StateRows::Scan(std::vector<RowRange> ranges, const Visit& visit) const {
  if (ranges.empty()) return absl::OkStatus();
  SONDE_TRY_SET(const std::unique_ptr<RowStream> stream, engine_->Scan(table_->id, std::move(ranges), {}));
  RowPiece piece;
  while (true) {
    SONDE_TRY_SET(const bool more, stream->Next(&piece));
    if (!more) return absl::OkStatus();
    if (piece.cells.size() != 1) return absl::DataLossError("A row of a view's state has more than one cell");
    SONDE_TRY_SET(const bool goes_on, visit(piece.row_key, piece.cells[0].value));
    if (!goes_on) return absl::OkStatus();
  }
}

absl::StatusOr<std::optional<std::string>> StateRows::Get(std::string_view key) const {
  std::optional<std::string> value;
  SONDE_TRY(Scan({RowRange::Single(key)}, [&value](std::string_view, std::string_view found) {
    value = std::string(found);
    return true;
  }));
  return value;
}

void StateRows::Put(std::string key, std::string value) {
  waiting_bytes_ += key.size() + value.size();
  waiting_.push_back({std::move(key), std::move(value)});
}

void StateRows::Delete(std::string key) {
  waiting_bytes_ += key.size();
  waiting_.push_back({std::move(key), std::nullopt});
}

absl::Status StateRows::Commit() {
  std::vector<RowChange> changes;
  changes.reserve(waiting_.size());
  for (const Change& change : waiting_) {
    FamilyDelta delta{.family = table_->families[0].id, .delete_all = !change.value.has_value()};
    if (change.value.has_value()) delta.puts.push_back({"", 0, *change.value});
    changes.push_back({.row_key = change.key, .delta = {}});
    changes.back().delta.families.push_back(std::move(delta));
  }
  const absl::Status status = changes.empty() ? absl::OkStatus() : engine_->Apply(table_->id, changes);
  Clear();
  return status;
}

void StateRows::Clear() {
  waiting_.clear();
  waiting_bytes_ = 0;
}

absl::Status StateRows::DropRange(const RowRange& range) { return engine_->DropRange(table_->id, range); }

}  // namespace sonde::sql
