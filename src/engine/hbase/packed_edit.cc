#include "engine/hbase/packed_edit.h"

#include <algorithm>
#include <string>
#include <utility>

#include "engine/hbase/packed/packed_cells.h"
#include "engine/hbase/stored_cells.h"
#include "hbase/wire/cell_block.h"
#include "model/expiring_family.h"

namespace sonde {
namespace {

bool DeletesAny(const FamilyDelta& family) {
  return (family.delete_all || !family.deletes.empty()) && !IsExpiringFamily(family.family);
}

void PutPacked(const char* hbase_family, std::string qualifier, std::string value, RowEdit* edit) {
  const std::string_view kept_qualifier = edit->bytes.emplace_back(std::move(qualifier));
  const std::string_view kept_value = edit->bytes.emplace_back(std::move(value));
  edit->change.puts.push_back(
      {{}, hbase_family, kept_qualifier, kPackedTime, hbase::CellType::kPut, kept_value});
}

void MarkPlace(const char* hbase_family, std::string qualifier, RowEdit* edit) {
  const std::string_view kept = edit->bytes.emplace_back(std::move(qualifier));
  edit->change.markers.push_back(
      {{}, hbase_family, kept, hbase::kTimestampMax, hbase::CellType::kDeleteColumn});
}

// Whether the cells are worth a packed value of their own.
bool ArePackable(const FamilyDelta& family) {
  size_t bytes = 0;
  for (const CellView& cell : family.puts) {
    if (cell.value.size() > kPackedCellBytesMax) return false;
    bytes += cell.qualifier.size() + cell.value.size();
  }
  return !IsExpiringFamily(family.family) && bytes <= kPackedBytesMax;
}

}  // namespace

void AddPackedNeeds(const RowDelta& delta, CellStorage storage, EditNeeds* needs) {
  if (!HasPacked(storage)) return;
  needs->choice.storage = storage;
  for (const FamilyDelta& family : delta.families) {
    if (!DeletesAny(family)) continue;
    needs->is_guarded = true;
    // Any column of the family: its packed values come with it.
    if (!family.delete_all)
      needs->choice.qualifiers.push_back(StoredColumnRange(family.family, family.deletes.front().qualifier));
  }
}

void MarkSettled(FamilyId family, RowEdit* edit) {
  MarkPlace(kSettledFamily, SettledQualifier(family), edit);
}

void MarkPacked(const hbase::Cell& stored, RowEdit* edit) {
  MarkPlace(stored.family == kSettledFamily ? kSettledFamily : kWrittenFamily, std::string(stored.qualifier),
            edit);
}

void WritePacked(const PackedRow::Family& family, std::vector<CellView> cells, RowEdit* edit) {
  for (const PackedRow::Family::Place& place : family.places) {
    // What is put over an old value needs no marker, which would hide it.
    if (place.is_settled && !cells.empty()) continue;
    MarkPlace(place.is_settled ? kSettledFamily : kWrittenFamily, place.qualifier, edit);
  }
  if (cells.empty()) return;
  PutPacked(kSettledFamily, SettledQualifier(family.family), PackCells(family.family, std::move(cells)),
            edit);
}

void AddPackedEdit(const RowDelta& delta, const StoredRow& row, RowEdit* edit) {
  for (const std::unique_ptr<PackedRow::Family>& packed : row.packed().families()) {
    const auto family = std::find_if(delta.families.begin(), delta.families.end(),
                                     [&](const FamilyDelta& some) { return some.family == packed->family; });
    if (family == delta.families.end() || !DeletesAny(*family)) continue;
    std::vector<CellView> left;
    for (const CellView& cell : packed->cells) {
      if (!Deletes(*family, cell)) left.push_back(cell);
    }
    if (left.size() < packed->cells.size()) WritePacked(*packed, std::move(left), edit);
  }
}

bool MakePackedPuts(std::string_view row_key, const RowDelta& delta, CellStorage storage, int64_t now_micros,
                    RandomSource* random, RowEdit* edit) {
  if (storage != CellStorage::kPackedAtOnce || !delta.log.pieces.empty()) return false;
  const bool is_fit =
      std::all_of(delta.families.begin(), delta.families.end(), [](const FamilyDelta& family) {
        return !family.delete_all && family.deletes.empty() && family.adds.empty() && ArePackable(family);
      });
  if (!is_fit) return false;
  edit->change.row = std::string(row_key);
  for (const FamilyDelta& family : delta.families) {
    if (family.puts.empty()) continue;
    PutPacked(kWrittenFamily, WrittenQualifier(family.family, now_micros, random),
              PackCells(family.family, family.puts), edit);
  }
  return true;
}

}  // namespace sonde
