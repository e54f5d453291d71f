#include "engine/hbase/packed/packed_merge.h"

#include <algorithm>

#include "base/check.h"

namespace sonde {
namespace {

RowPiece& PieceOf(std::string_view row_key, FamilyId family, std::deque<RowPiece>* pieces) {
  if (pieces->empty() || pieces->back().family != family || pieces->back().row_key != row_key) {
    RowPiece& piece = pieces->emplace_back();
    piece.row_key = std::string(row_key);
    piece.family = family;
  }
  return pieces->back();
}

}  // namespace

void AppendCell(std::string_view row_key, FamilyId family, const CellView& cell,
                std::deque<RowPiece>* pieces) {
  PieceOf(row_key, family, pieces).cells.push_back(cell);
}

absl::Status PackedMerge::Add(std::string_view row_key, const hbase::Cell& stored) {
  if (!has_left_) {
    row_.Clear();
    row_key_ = std::string(row_key);
    has_left_ = true;
    is_read_ = false;
    family_ = cell_ = 0;
    given_of_column_ = 0;
  }
  DCHECK(row_key_ == row_key && !is_read_);
  return row_.Add(stored);
}

absl::Status PackedMerge::Begin() {
  if (is_read_) return absl::OkStatus();
  is_read_ = true;
  return row_.Read(hints_);
}

void PackedMerge::GiveCells(size_t end, std::deque<RowPiece>* pieces) {
  if (end == cell_) return;
  const PackedRow::Family& family = *row_.families()[family_];
  if (hints_.newest_per_column.has_value()) {
    for (; cell_ < end; ++cell_) GiveIfAsked(family.family, family.cells[cell_], pieces);
    return;
  }
  RowPiece& piece = PieceOf(row_key_, family.family, pieces);
  piece.cells.insert(piece.cells.end(), family.cells.begin() + static_cast<ptrdiff_t>(cell_),
                     family.cells.begin() + static_cast<ptrdiff_t>(end));
  cell_ = end;
}

void PackedMerge::GiveIfAsked(FamilyId family, const CellView& cell, std::deque<RowPiece>* pieces) {
  if (hints_.newest_per_column.has_value()) {
    if (given_of_column_ == 0 || column_family_ != family || column_ != cell.qualifier) {
      column_family_ = family;
      column_ = std::string(cell.qualifier);
      given_of_column_ = 0;
    }
    if (given_of_column_ >= std::max<int64_t>(*hints_.newest_per_column, 1)) return;
    ++given_of_column_;
  }
  AppendCell(row_key_, family, cell, pieces);
}

absl::Status PackedMerge::Give(FamilyId family, const CellView& cell, std::deque<RowPiece>* pieces) {
  if (absl::Status status = Begin(); !status.ok()) return status;
  const auto& families = row_.families();
  for (; family_ < families.size() && families[family_]->family < family; ++family_, cell_ = 0)
    GiveCells(families[family_]->cells.size(), pieces);
  if (family_ < families.size() && families[family_]->family == family) {
    const std::vector<CellView>& cells = families[family_]->cells;
    const auto at =
        std::lower_bound(cells.begin() + static_cast<ptrdiff_t>(cell_), cells.end(), cell, IsCellBefore);
    GiveCells(static_cast<size_t>(at - cells.begin()), pieces);
    if (at != cells.end() && !IsCellBefore(cell, *at)) ++cell_;
  }
  GiveIfAsked(family, cell, pieces);
  return absl::OkStatus();
}

absl::Status PackedMerge::GiveRest(std::deque<RowPiece>* pieces) {
  if (!has_left_) return absl::OkStatus();
  if (absl::Status status = Begin(); !status.ok()) return status;
  const auto& families = row_.families();
  for (; family_ < families.size(); ++family_, cell_ = 0) GiveCells(families[family_]->cells.size(), pieces);
  has_left_ = false;
  return absl::OkStatus();
}

}  // namespace sonde
