#include "sql/view/state/view_table.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/check.h"
#include "model/limits.h"
#include "model/mutation.h"
#include "sql/plan/try.h"

namespace sonde::sql {
namespace {

constexpr size_t kViewCommitBytes = 1 << 20;

const std::string* FindCell(const GroupCells& group, size_t column) {
  if (!group.cells.has_value()) return nullptr;
  const auto cell = std::ranges::find(*group.cells, column, &ViewCell::column);
  return cell == group.cells->end() ? nullptr : &cell->value;
}

// The cells of a column that is a family.  They are in the order of their qualifiers; only indexes have such columns, and one group a row.
void PutFamily(const GroupCells& group, size_t column, FamilyDelta* family) {
  if (!group.cells.has_value()) return;
  for (const ViewCell& cell : *group.cells) {
    if (cell.column == column) family->puts.push_back({cell.qualifier, 0, cell.value});
  }
}

}  // namespace

ViewTable::ViewTable(Engine* engine, const ViewDefinition* definition, TableSchemaRef table)
    : engine_(engine), definition_(definition), table_(std::move(table)) {
  for (const FamilySchema& family : table_->families) {
    std::vector<size_t>& columns = columns_of_family_.emplace_back();
    for (size_t i = 0; i < definition_->columns.size(); ++i) {
      const ViewColumn& column = definition_->columns[i];
      if (column.role == ViewColumn::Role::kValue && column.family == family.name) columns.push_back(i);
    }
    std::ranges::sort(columns, {}, [this](size_t i) { return definition_->columns[i].qualifier; });
  }
}

absl::Status ViewTable::Write(std::vector<GroupCells> groups_of_row) {
  DCHECK(!groups_of_row.empty());
  WaitingRow row;
  row.is_there =
      std::ranges::any_of(groups_of_row, [](const GroupCells& group) { return group.cells.has_value(); });
  if (!row.is_there && definition_->time.has_value()) {
    SONDE_TRY_SET(row.is_there, HasOthers(groups_of_row));
  }
  for (const GroupCells& group : groups_of_row) {
    waiting_bytes_ += sizeof(group) + group.group.row_key.size();
    if (!group.cells.has_value()) continue;
    for (const ViewCell& cell : *group.cells)
      waiting_bytes_ += sizeof(cell) + cell.value.size() + cell.qualifier.size();
  }
  row.groups = std::move(groups_of_row);
  waiting_.push_back(std::move(row));
  return waiting_bytes_ < kViewCommitBytes ? absl::OkStatus() : Commit();
}

absl::StatusOr<bool> ViewTable::HasOthers(const std::vector<GroupCells>& groups) const {
  SONDE_TRY_SET(const std::unique_ptr<RowStream> stream,
                engine_->Scan(table_->id, {RowRange::Single(groups.front().group.row_key)},
                              {.hints = {.keys_only = true}}));
  RowPiece piece;
  while (true) {
    SONDE_TRY_SET(const bool more, stream->Next(&piece));
    if (!more) return false;
    for (const CellView& cell : piece.cells) {
      // The cell that every row has is none of a group.
      if (cell.qualifier.empty()) continue;
      const bool is_of_these = std::ranges::any_of(
          groups, [&cell](const GroupCells& group) { return group.group.micros == cell.timestamp_micros; });
      if (!is_of_these) return true;
    }
  }
}

RowDelta ViewTable::DeltaOf(const WaitingRow& row) const {
  RowDelta delta;
  for (size_t f = 0; f < table_->families.size(); ++f) {
    FamilyDelta family{.family = table_->families[f].id};
    family.delete_all = !row.is_there || !definition_->time.has_value();
    if (row.is_there && table_->families[f].name == kViewFamily) family.puts.push_back({"", 0, ""});
    for (const size_t column : columns_of_family_[f]) {
      if (definition_->columns[column].IsFamily()) {
        if (row.is_there) PutFamily(row.groups.front(), column, &family);
        continue;
      }
      const std::string_view qualifier = definition_->columns[column].qualifier;
      // Times descend within a column; deletes ascend.
      for (auto group = row.groups.rbegin(); row.is_there && group != row.groups.rend(); ++group) {
        const std::string* const value = FindCell(*group, column);
        if (value != nullptr) family.puts.push_back({qualifier, group->group.micros, *value});
      }
      if (family.delete_all) continue;
      for (const GroupCells& group : row.groups) {
        if (FindCell(group, column) != nullptr) continue;
        family.deletes.push_back({qualifier, {group.group.micros, group.group.micros + kMicrosPerMilli}});
      }
    }
    const bool changes = family.delete_all || !family.puts.empty() || !family.deletes.empty();
    if (changes) delta.families.push_back(std::move(family));
  }
  return delta;
}

absl::Status ViewTable::Commit() {
  std::vector<RowChange> changes;
  changes.reserve(waiting_.size());
  for (const WaitingRow& row : waiting_) {
    changes.push_back({.row_key = row.groups.front().group.row_key, .delta = DeltaOf(row)});
  }
  const absl::Status status = changes.empty() ? absl::OkStatus() : engine_->Apply(table_->id, changes);
  waiting_.clear();
  waiting_bytes_ = 0;
  return status;
}

}  // namespace sonde::sql
