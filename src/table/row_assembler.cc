#include "table/row_assembler.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/bytes.h"

namespace sonde {
namespace {

void SortByFamily(std::vector<FilterCell>* cells) {
  const auto before = [](const FilterCell& a, const FilterCell& b) { return a.family < b.family; };
  if (!std::is_sorted(cells->begin(), cells->end(), before))
    std::stable_sort(cells->begin(), cells->end(), before);
}

// Null: of no column.
void KeepColumns(const AuthorizedView::FamilySubset* subset, std::vector<CellView>* cells) {
  std::string_view qualifier;
  bool included = false;
  size_t kept = 0;
  for (size_t i = 0; i < cells->size(); ++i) {
    const CellView& cell = (*cells)[i];
    if (i == 0 || cell.qualifier != qualifier) {
      qualifier = cell.qualifier;
      included = subset != nullptr && subset->Includes(qualifier);
    }
    if (included) (*cells)[kept++] = cell;
  }
  cells->resize(kept);
}

absl::Status RowTooLong(std::string_view row_key, size_t bytes_max) {
  return absl::FailedPreconditionError(fmt::format(
      "Row '{}' has more than {} MiB that have to be seen at once, and that is the limit; read fewer of its "
      "columns or times, or with a filter that looks at one cell at a time",
      Printable(row_key), bytes_max >> 20));
}

}  // namespace

std::vector<FamilyId> FamilyIds(const TableSchema& schema) {
  std::vector<FamilyId> ids;
  for (const FamilySchema& family : schema.families) ids.push_back(family.id);
  return ids;
}

VisibleCells::VisibleCells(TableSchemaRef schema, int64_t now_micros, AuthorizedViewRef view)
    : schema_(std::move(schema)), view_(std::move(view)) {
  rules_.reserve(schema_->families.size());
  for (const FamilySchema& family : schema_->families) rules_.emplace_back(family.gc_rule, now_micros);
}

std::optional<uint32_t> VisibleCells::FamilyIndex(FamilyId family) const {
  for (uint32_t i = 0; i < schema_->families.size(); ++i) {
    if (schema_->families[i].id == family) return i;
  }
  return std::nullopt;
}

void VisibleCells::Append(uint32_t family_index, std::vector<CellView>* cells, int64_t seen_before,
                          std::vector<FilterCell>* out) const {
  if (cells->empty()) return;
  const GcRuleEvaluator& rule = rules_[family_index];
  if (!rule.KeepsEverything()) rule.Filter(cells, seen_before);
  if (view_ != nullptr) KeepColumns(view_->FindFamily(schema_->families[family_index].name), cells);
  out->reserve(out->size() + cells->size());
  for (const CellView& cell : *cells) out->push_back({family_index, kNoLabel, cell});
}

absl::StatusOr<bool> RowAssembler::Next(std::string* row_key, std::vector<FilterCell>* cells) {
  cells->clear();
  copies_.clear();
  GiveRoomBack();
  if (!pending_) {
    absl::StatusOr<bool> more = stream_->Next(&piece_);
    if (!more.ok() || !*more) return more;
  }
  pending_ = false;
  *row_key = piece_.row_key;
  in_row_ = true;
  size_t copied_bytes = 0;
  while (true) {
    // To see whether more of the row follows, the stream must go on, and its views with it.
    copied_bytes += Take(&piece_, /*copy=*/!piece_.last_of_row, cells);
    if (piece_.last_of_row) break;
    if (absl::Status status = MakeRoom(*row_key, copied_bytes); !status.ok()) return status;
    absl::StatusOr<bool> more = stream_->Next(&piece_);
    if (!more.ok()) return more;
    if (!*more) break;
    if (piece_.row_key != *row_key) {
      pending_ = true;
      break;
    }
  }
  in_row_ = false;
  SortByFamily(cells);
  return true;
}

absl::Status RowAssembler::MakeRoom(std::string_view row_key, size_t copied_bytes) {
  if (copied_bytes > whole_bytes_max_) return RowTooLong(row_key, whole_bytes_max_);
  if (take_room_ == nullptr || copied_bytes <= room_bytes_ + kRowUncountedBytes) return absl::OkStatus();
  const size_t wanted = copied_bytes + copied_bytes / 4;  // so that it is not asked for each piece
  if (absl::Status status = take_room_(wanted); !status.ok()) return status;
  room_bytes_ = wanted;
  return absl::OkStatus();
}

void RowAssembler::GiveRoomBack() {
  if (room_bytes_ == 0) return;
  room_bytes_ = 0;
  take_room_(0).IgnoreError();
}

absl::StatusOr<bool> RowAssembler::NextPart(std::string* row_key, std::vector<FilterCell>* cells,
                                            bool* is_last) {
  cells->clear();
  if (!pending_) {
    absl::StatusOr<bool> more = stream_->Next(&piece_);
    if (!more.ok()) return more;
    if (!*more) {
      *is_last = true;
      return std::exchange(in_row_, false);  // nothing but the end of the row
    }
  }
  if (in_row_ && piece_.row_key != row_key_) {
    pending_ = true;
    in_row_ = false;
    *is_last = true;
    return true;
  }
  pending_ = false;
  if (!in_row_) {
    *row_key = piece_.row_key;
    column_.seen = 0;
  }
  Take(&piece_, /*copy=*/false, cells);
  *is_last = piece_.last_of_row;
  in_row_ = !*is_last;
  if (in_row_) {
    row_key_ = *row_key;
    RememberColumn(*cells);
  }
  return true;
}

void RowAssembler::RememberColumn(const std::vector<FilterCell>& cells) {
  if (cells.empty()) return;
  const FilterCell& last = cells.back();
  const int64_t seen = SeenBefore(last.family, last.cell.qualifier, cells);
  column_.family = last.family;
  column_.qualifier = last.cell.qualifier;
  column_.seen = seen;
}

// The last of `cells` that are of this column, and those of the parts before.
int64_t RowAssembler::SeenBefore(uint32_t family, std::string_view qualifier,
                                 const std::vector<FilterCell>& cells) const {
  int64_t seen = 0;
  for (auto cell = cells.rbegin(); cell != cells.rend(); ++cell, ++seen) {
    if (cell->family != family || cell->cell.qualifier != qualifier) return seen;
  }
  return column_.seen > 0 && column_.family == family && column_.qualifier == qualifier ? seen + column_.seen
                                                                                        : seen;
}

size_t RowAssembler::Take(RowPiece* piece, bool copy, std::vector<FilterCell>* cells) {
  const std::optional<uint32_t> family = visible_->FamilyIndex(piece->family);
  if (!family.has_value()) return 0;
  const size_t first = cells->size();
  int64_t seen_before = 0;
  if (!piece->cells.empty() && !visible_->rules()[*family].KeepsEverything()) {
    seen_before = SeenBefore(*family, piece->cells.front().qualifier, *cells);
  }
  visible_->Append(*family, &piece->cells, seen_before, cells);
  if (!copy) return 0;
  size_t size = 0;
  for (size_t i = first; i < cells->size(); ++i)
    size += (*cells)[i].cell.qualifier.size() + (*cells)[i].cell.value.size();
  std::string& bytes = *copies_.emplace_back(std::make_unique<std::string>());
  bytes.reserve(size);
  for (size_t i = first; i < cells->size(); ++i) {
    CellView& cell = (*cells)[i].cell;
    const size_t start = bytes.size();
    bytes.append(cell.qualifier).append(cell.value);
    const std::string_view view = bytes;
    cell.qualifier = view.substr(start, cell.qualifier.size());
    cell.value = view.substr(start + cell.qualifier.size());
  }
  return size + (cells->size() - first) * sizeof(FilterCell);
}

void AssembleRow(const std::vector<RowFamily>& row, const VisibleCells& visible,
                 std::vector<FilterCell>* cells) {
  cells->clear();
  for (const RowFamily& family : row) {
    const std::optional<uint32_t> index = visible.FamilyIndex(family.family);
    if (!index.has_value()) continue;
    std::vector<CellView> copy = family.cells;
    visible.Append(*index, &copy, /*seen_before=*/0, cells);
  }
  SortByFamily(cells);
}

}  // namespace sonde
