#include "engine/hbase/row_edit.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/varint.h"
#include "engine/hbase/packed/packed_cells.h"
#include "hll/hll_sketch.h"
#include "model/aggregate.h"
#include "model/expiring_family.h"

namespace sonde {
namespace {

// Compares by column: what a delta has is in order of qualifiers.
struct ByQualifier {
  template <typename Entry>
  bool operator()(const Entry& entry, std::string_view qualifier) const {
    return entry.qualifier < qualifier;
  }
  template <typename Entry>
  bool operator()(std::string_view qualifier, const Entry& entry) const {
    return qualifier < entry.qualifier;
  }
};

template <typename Entry>
auto OfColumn(const std::vector<Entry>& entries, std::string_view qualifier) {
  return std::equal_range(entries.begin(), entries.end(), qualifier, ByQualifier());
}

// Whether there is an entry of the column, or of a cell.
template <typename Entry>
bool HasColumn(const std::vector<Entry>& entries, std::string_view qualifier) {
  const auto [begin, end] = OfColumn(entries, qualifier);
  return begin != end;
}
template <typename Entry>
bool HasCell(const std::vector<Entry>& entries, const CellView& cell) {
  const auto [begin, end] = OfColumn(entries, cell.qualifier);
  const auto at = std::lower_bound(begin, end, cell.timestamp_micros, [](const Entry& entry, int64_t micros) {
    return entry.timestamp_micros > micros;
  });
  return at != end && at->timestamp_micros == cell.timestamp_micros;
}

// Whether the change writes cells of the column, or this cell.
bool Writes(const FamilyDelta& family, std::string_view qualifier) {
  return HasColumn(family.puts, qualifier) || HasColumn(family.adds, qualifier);
}
bool WritesAt(const FamilyDelta& family, const CellView& cell) {
  return HasCell(family.puts, cell) || HasCell(family.adds, cell);
}

// A marker of HBase's deletes all up to a time, so that a delete with a start is none.
bool IsMarker(const FamilyDelta& family, const FamilyDelta::ColumnDelete& deletion) {
  return deletion.time_range.start_micros <= 0 && !Writes(family, deletion.qualifier);
}

// The value of a cell of the row, unless the change deletes it.
std::optional<std::string_view> ValueBefore(const FamilyDelta& family, const StoredRow& row,
                                            const FamilyDelta::Add& add) {
  const auto is_before = [&](const SeamCell& stored, const FamilyDelta::Add& wanted) {
    if (stored.family != family.family) return stored.family < family.family;
    if (stored.cell.qualifier != wanted.qualifier) return stored.cell.qualifier < wanted.qualifier;
    return stored.cell.timestamp_micros > wanted.timestamp_micros;
  };
  const auto at = std::lower_bound(row.cells().begin(), row.cells().end(), add, is_before);
  if (at == row.cells().end() || at->family != family.family || at->cell.qualifier != add.qualifier ||
      at->cell.timestamp_micros != add.timestamp_micros || Deletes(family, at->cell)) {
    return std::nullopt;
  }
  return at->cell.value;
}

std::string_view Keep(std::string bytes, RowEdit* edit) { return edit->bytes.emplace_back(std::move(bytes)); }

void Mark(const char* family, std::string qualifier, int64_t time, hbase::CellType type, RowEdit* edit) {
  edit->change.markers.push_back({{}, family, Keep(std::move(qualifier), edit), time, type});
}

void Put(FamilyId family, std::string_view qualifier, int64_t timestamp_micros, std::string_view value,
         RowEdit* edit) {
  StoredPlace place = PlaceOf(family, qualifier, timestamp_micros);
  edit->change.puts.push_back(
      {{}, place.family, Keep(std::move(place.qualifier), edit), place.time, hbase::CellType::kPut, value});
}

void MarkCell(FamilyId family, const CellView& cell, RowEdit* edit) {
  StoredPlace place = PlaceOf(family, cell.qualifier, cell.timestamp_micros);
  Mark(place.family, std::move(place.qualifier), place.time, hbase::CellType::kDeleteCell, edit);
}

// Deletes that need no look at the row.
void MarkColumns(const FamilyDelta& family, RowEdit* edit) {
  for (const FamilyDelta::ColumnDelete& deletion : family.deletes) {
    if (!IsMarker(family, deletion)) continue;
    const uint64_t end = deletion.time_range.End();
    if (end == TimeRange::kInfiniteEnd) {
      MarkColumn(family.family, deletion.qualifier, edit);
    } else if (end > 0) {
      Mark(kCellsFamily, UsualColumn(family.family, deletion.qualifier), static_cast<int64_t>(end) - 1,
           hbase::CellType::kDeleteColumn, edit);
    }
  }
}

// Deletes of what the row has.
void MarkCells(const FamilyDelta& family, const StoredRow& row, RowEdit* edit) {
  std::optional<std::string_view> marked;  // a column that is deleted whole
  for (const SeamCell& stored : row.cells()) {
    const CellView& cell = stored.cell;
    if (stored.is_packed || stored.family != family.family || !Deletes(family, cell)) continue;
    if (marked == cell.qualifier) continue;
    if (family.delete_all && !Writes(family, cell.qualifier)) {
      MarkColumn(family.family, cell.qualifier, edit);
      marked = cell.qualifier;
    } else if (!WritesAt(family, cell)) {
      MarkCell(family.family, cell, edit);
    }
  }
}

std::string StateValue(int64_t state) {
  std::string value;
  PutFixed64(&value, static_cast<uint64_t>(state));
  return value;
}

absl::StatusOr<std::string> FoldInto(const FamilyDelta& family, const FamilyDelta::Add& add,
                                     const std::optional<std::string_view>& before) {
  if (IsHll(family.aggregate)) {
    if (!before.has_value()) return add.sketch;
    absl::StatusOr<HllSketch> sum = HllSketch::Parse(family.aggregate, *before);
    if (!sum.ok()) return absl::DataLossError(sum.status().message());
    const absl::StatusOr<HllSketch> added = HllSketch::Parse(family.aggregate, add.sketch);
    if (!added.ok()) return added.status();
    sum->Merge(*added);
    return sum->Serialize();
  }
  if (!before.has_value()) return StateValue(add.state);
  return StateValue(FoldAggregate(family.aggregate, DecodeAggregateState(*before), add.state));
}

absl::Status PutAdds(const FamilyDelta& family, const StoredRow& row, RowEdit* edit) {
  for (const FamilyDelta::Add& add : family.adds) {
    absl::StatusOr<std::string> sum = FoldInto(family, add, ValueBefore(family, row, add));
    if (!sum.ok()) return sum.status();
    Put(family.family, add.qualifier, add.timestamp_micros, Keep(*std::move(sum), edit), edit);
  }
  return absl::OkStatus();
}

// Times of the cells that adds look at.
TimeRange TimesOf(const std::vector<FamilyDelta::Add>& adds) {
  TimeRange times{adds.front().timestamp_micros, adds.front().timestamp_micros};
  for (const FamilyDelta::Add& add : adds) {
    times.start_micros = std::min(times.start_micros, add.timestamp_micros);
    times.end_micros = std::max(times.end_micros, add.timestamp_micros);
  }
  times.end_micros = times.end_micros == INT64_MAX ? 0 : times.end_micros + 1;
  return times;
}

// The one that has both.
TimeRange Hull(const TimeRange& a, const TimeRange& b) {
  return TimeRange::Of(static_cast<uint64_t>(std::max<int64_t>(std::min(a.start_micros, b.start_micros), 0)),
                       std::max(a.End(), b.End()));
}

}  // namespace

bool Deletes(const FamilyDelta& family, const CellView& cell) {
  if (family.delete_all) return true;
  const auto [begin, end] = OfColumn(family.deletes, cell.qualifier);
  return std::any_of(begin, end, [&](const FamilyDelta::ColumnDelete& deletion) {
    return deletion.time_range.Contains(cell.timestamp_micros);
  });
}

absl::StatusOr<EditNeeds> NeedsOf(const RowDelta& delta) {
  EditNeeds needs;
  needs.choice.keys_only = true;
  std::optional<TimeRange> times;
  const auto add_times = [&](const TimeRange& more) {
    times = times.has_value() ? Hull(*times, more) : more;
  };
  std::set<std::string> starts;
  const auto add_range = [&](hbase::QualifierRange range) {
    if (starts.insert(range.start).second) needs.choice.qualifiers.push_back(std::move(range));
  };
  for (const FamilyDelta& family : delta.families) {
    const bool is_expiring = IsExpiringFamily(family.family);
    if (is_expiring && (family.delete_all || !family.deletes.empty() || !family.adds.empty()))
      return absl::UnimplementedError(
          "Deletes and adds of expiring cells are not built for a store on HBase");
    if (family.delete_all) {
      add_range(StoredFamilyRange(family.family));
      add_times({});
    }
    for (const FamilyDelta::ColumnDelete& deletion : family.deletes) {
      if (family.delete_all || IsMarker(family, deletion)) continue;
      add_range(StoredColumnRange(family.family, deletion.qualifier));
      add_times(deletion.time_range);
    }
    if (family.adds.empty()) continue;
    needs.choice.keys_only = false;
    add_times(TimesOf(family.adds));
    if (family.delete_all) continue;
    for (const FamilyDelta::Add& add : family.adds)
      add_range(StoredColumnRange(family.family, add.qualifier));
  }
  needs.is_guarded = !needs.choice.qualifiers.empty() || !delta.log.pieces.empty();
  needs.choice.time_range = times.value_or(TimeRange{});
  return needs;
}

void MarkColumn(FamilyId family, std::string_view qualifier, RowEdit* edit) {
  for (std::string column : {UsualColumn(family, qualifier), LastColumn(family, qualifier)}) {
    Mark(kCellsFamily, std::move(column), hbase::kTimestampMax, hbase::CellType::kDeleteColumn, edit);
  }
}

absl::Status MakeEdit(std::string_view row_key, const RowDelta& delta, const StoredRow& row, RowEdit* edit) {
  edit->change.row = std::string(row_key);
  for (const FamilyDelta& family : delta.families) {
    if (!family.delete_all) MarkColumns(family, edit);
    MarkCells(family, row, edit);
    for (const CellView& put : family.puts)
      Put(family.family, put.qualifier, put.timestamp_micros, put.value, edit);
    if (absl::Status status = PutAdds(family, row, edit); !status.ok()) return status;
  }
  return absl::OkStatus();
}

void MarkFamily(std::string_view family, RowEdit* edit) {
  const std::string_view kept = edit->bytes.emplace_back(family);
  edit->change.markers.push_back({{}, kept, {}, hbase::kTimestampMax, hbase::CellType::kDeleteFamily});
}

void MakeRowDelete(std::string_view row_key, CellStorage storage, RowEdit* edit) {
  edit->change.row = std::string(row_key);
  for (const char* family : {kCellsFamily, kExpiringFamily}) MarkFamily(family, edit);
  for (const std::string& family : PackedFamilies(storage)) MarkFamily(family, edit);
}

}  // namespace sonde
