#include "engine/hbase/settle/settle_edit.h"

#include <algorithm>
#include <vector>

#include "absl/types/span.h"
#include "engine/hbase/packed/packed_cells.h"
#include "engine/hbase/packed_edit.h"
#include "model/expiring_family.h"

namespace sonde {
namespace {

bool IsQuiet(const StoredRow& row, const SettleRules& rules) {
  const bool has_new_cell = std::any_of(row.cells().begin(), row.cells().end(), [&](const SeamCell& cell) {
    return !cell.is_packed && !IsExpiringFamily(cell.family) &&
           cell.cell.timestamp_micros > rules.newest_micros;
  });
  if (has_new_cell) return false;
  for (const auto& family : row.packed().families()) {
    for (const PackedRow::Family::Place& place : family->places) {
      if (WrittenAt(place.qualifier).value_or(0) > rules.newest_micros) return false;
    }
  }
  return true;
}

// What becomes of one family of a row.
struct FamilyPlan {
  std::vector<CellView> packed;           // all that it will have in its packed value
  std::vector<std::string_view> columns;  // whose cells go there and were by themselves
  size_t alone_count = 0;                 // cells that were by themselves and go there
  bool leaves_any = false;                // cells by themselves
};

// `cells`: those of one family.  A column with a long value by itself stays as it is.
FamilyPlan PlanOf(absl::Span<const SeamCell> cells) {
  FamilyPlan plan;
  for (size_t begin = 0, end = 0; begin < cells.size(); begin = end) {
    const std::string_view column = cells[begin].cell.qualifier;
    bool has_alone = false, has_long = false;
    for (; end < cells.size() && cells[end].cell.qualifier == column; ++end) {
      has_alone |= !cells[end].is_packed;
      has_long |= !cells[end].is_packed && cells[end].cell.value.size() > kPackedCellBytesMax;
    }
    plan.leaves_any |= has_long;
    if (has_alone && !has_long) plan.columns.push_back(column);
    for (size_t i = begin; i < end; ++i) {
      if (has_long && !cells[i].is_packed) continue;
      plan.packed.push_back(cells[i].cell);
      plan.alone_count += cells[i].is_packed ? 0 : 1;
    }
  }
  return plan;
}

bool FitsIntoOne(const std::vector<CellView>& cells) {
  size_t bytes = 0;
  for (const CellView& cell : cells) bytes += cell.value.size() + sizeof(int64_t);
  return bytes <= kPackedBytesMax;
}

// Cells of values that were packed at once; the same cell in several of them counts once.
size_t CountWritten(const PackedRow::Family& family) {
  const bool has_written = std::any_of(family.places.begin(), family.places.end(),
                                       [](const auto& place) { return !place.is_settled; });
  return has_written ? family.cells.size() : 0;
}

}  // namespace

size_t MakeSettleEdit(std::string_view row_key, const StoredRow& row, const SettleRules& rules,
                      RowEdit* edit) {
  if (!IsQuiet(row, rules)) return 0;
  edit->change.row = std::string(row_key);
  size_t cells_count = 0;
  bool leaves_any = false;
  std::vector<std::pair<FamilyId, std::string_view>> columns;
  const absl::Span<const SeamCell> cells = row.cells();
  for (size_t begin = 0, end = 0; begin < cells.size(); begin = end) {
    const FamilyId id = cells[begin].family;
    while (end < cells.size() && cells[end].family == id) ++end;
    if (IsExpiringFamily(id)) continue;
    FamilyPlan plan = PlanOf(cells.subspan(begin, end - begin));
    const auto packed = std::find_if(row.packed().families().begin(), row.packed().families().end(),
                                     [&](const auto& family) { return family->family == id; });
    const bool has_packed = packed != row.packed().families().end();
    const size_t written_count = has_packed ? CountWritten(**packed) : 0;
    const bool is_worth_it = has_packed ? plan.alone_count + written_count > 0
                                        : plan.alone_count >= std::max<size_t>(rules.cells_min, 1);
    if (!is_worth_it || !FitsIntoOne(plan.packed)) {
      leaves_any |= plan.leaves_any || plan.alone_count > 0;
      continue;
    }
    leaves_any |= plan.leaves_any;
    cells_count += plan.alone_count + written_count;
    for (const std::string_view column : plan.columns) columns.emplace_back(id, column);
    PackedRow::Family none;
    none.family = id;
    WritePacked(has_packed ? **packed : none, std::move(plan.packed), edit);
  }
  if (cells_count == 0) return 0;
  if (!leaves_any && !columns.empty()) {
    MarkFamily(kCellsFamily, edit);
  } else {
    for (const auto& [family, column] : columns) MarkColumn(family, column, edit);
  }
  return cells_count;
}

}  // namespace sonde
