#include "engine/memory/memory_table.h"

#include <algorithm>
#include <iterator>

#include "base/varint.h"
#include "hll/hll_sketch.h"
#include "model/aggregate.h"
#include "model/expiring_family.h"

namespace sonde {
namespace {

std::string ValueOf(int64_t state) {
  std::string value;
  PutFixed64(&value, static_cast<uint64_t>(state));
  return value;
}

std::string FoldSketch(AggregateKind kind, bool is_new, const std::string& old, const std::string& sketch) {
  if (is_new) return sketch;
  HllSketch sum = *HllSketch::Parse(kind, old);  // both were checked before they came here
  sum.Merge(*HllSketch::Parse(kind, sketch));
  return sum.Serialize();
}

void DeleteCells(const TimeRange& range, MemoryColumn* column) {
  std::erase_if(*column, [&](const auto& cell) { return range.Contains(cell.first); });
}

MemoryColumn& ColumnOf(std::string_view qualifier, MemoryFamily* family) {
  const auto found = family->find(qualifier);
  return found != family->end() ? found->second : (*family)[std::string(qualifier)];
}

void ApplyToFamily(const FamilyDelta& delta, MemoryFamily* family) {
  if (delta.delete_all) family->clear();
  for (const FamilyDelta::ColumnDelete& deletion : delta.deletes) {
    const auto column = family->find(deletion.qualifier);
    if (column == family->end()) continue;
    DeleteCells(deletion.time_range, &column->second);
    if (column->second.empty()) family->erase(column);
  }
  for (const CellView& put : delta.puts) {
    ColumnOf(put.qualifier, family)[put.timestamp_micros] = std::string(put.value);
  }
  for (const FamilyDelta::Add& add : delta.adds) {
    const auto [cell, is_new] = ColumnOf(add.qualifier, family).try_emplace(add.timestamp_micros);
    cell->second =
        IsHll(delta.aggregate) ? FoldSketch(delta.aggregate, is_new, cell->second, add.sketch)
        : is_new               ? ValueOf(add.state)
                 : ValueOf(FoldAggregate(delta.aggregate, DecodeAggregateState(cell->second), add.state));
  }
}

// A writer of such cells writes the present time with them, so cells that have expired by then go.
void ForgetExpired(const FamilyDelta& delta, MemoryRow* row) {
  for (const CellView& put : delta.puts) {
    std::erase_if(*row, [&](const auto& family) { return IsExpired(family.first, put.timestamp_micros); });
  }
}

bool HasFamily(const ReadHints& hints, FamilyId family) {
  if (!hints.families.has_value()) return !IsExpiringFamily(family);
  return std::find(hints.families->begin(), hints.families->end(), family) != hints.families->end();
}

bool HasColumn(const ReadHints& hints, std::string_view qualifier) {
  return !hints.columns.has_value() ||
         std::any_of(hints.columns->begin(), hints.columns->end(), [&](const ReadHints::ColumnRange& range) {
           return qualifier >= range.start && (range.end.empty() || qualifier < range.end);
         });
}

void SelectColumn(std::string_view qualifier, const MemoryColumn& column, const ReadHints& hints,
                  std::vector<CellView>* cells) {
  int64_t count = 0;
  for (const auto& [timestamp_micros, value] : column) {
    if (hints.newest_per_column.has_value() && count >= *hints.newest_per_column) break;
    if (!hints.time_range.Contains(timestamp_micros)) continue;
    cells->push_back(
        {qualifier, timestamp_micros, hints.keys_only ? std::string_view() : std::string_view(value)});
    ++count;
  }
}

}  // namespace

void MemoryLog::Append(const LogRecord& record) {
  if (record.pieces.empty()) return;
  last_record_ = frontier_ = std::max(frontier_ + 1, record.position_min);
  for (uint32_t i = 0; i < record.pieces.size(); ++i) {
    pieces_.emplace(std::pair(last_record_, i), record.pieces[i]);
  }
}

void MemoryTable::Apply(std::string_view row_key, const RowDelta& delta) {
  log_.Append(delta.log);
  auto row = rows_.find(row_key);
  if (row == rows_.end()) row = rows_.emplace(row_key, MemoryRow()).first;
  for (const FamilyDelta& family_delta : delta.families) {
    if (IsExpiringFamily(family_delta.family)) ForgetExpired(family_delta, &row->second);
    const auto family = row->second.try_emplace(family_delta.family).first;
    ApplyToFamily(family_delta, &family->second);
    if (family->second.empty()) row->second.erase(family);
  }
  if (row->second.empty()) rows_.erase(row);
}

void MemoryTable::DropFamily(FamilyId family) {
  for (auto& [row_key, row] : rows_) row.erase(family);
  std::erase_if(rows_, [](const auto& row) { return row.second.empty(); });
}

void MemoryTable::DropRange(const RowRange& range) {
  if (range.IsEmpty()) return;
  rows_.erase(rows_.lower_bound(range.start), range.end.empty() ? rows_.end() : rows_.lower_bound(range.end));
}

bool MemoryTable::Has(std::string_view row_key, const RowGuard& guard) const {
  const MemoryRow* row = Find(row_key);
  if (row == nullptr) return false;
  return std::any_of(guard.families.begin(), guard.families.end(), [&](FamilyId id) {
    const auto family = row->find(id);
    if (family == row->end()) return false;
    const auto column = family->second.find(guard.qualifier);
    return column != family->second.end() && column->second.begin()->first > guard.newest_old_micros;
  });
}

const MemoryRow* MemoryTable::Find(std::string_view row_key) const {
  const auto row = rows_.find(row_key);
  return row == rows_.end() ? nullptr : &row->second;
}

const MemoryTable::Rows::value_type* MemoryTable::Edge(const RowRange& range, bool reverse) const {
  if (range.IsEmpty()) return nullptr;
  const auto begin = rows_.lower_bound(range.start);
  const auto end = range.end.empty() ? rows_.end() : rows_.lower_bound(range.end);
  if (begin == end) return nullptr;
  return reverse ? &*std::prev(end) : &*begin;
}

uint64_t MemoryTable::CountBytes(const RowRange& range) const {
  uint64_t bytes = 0;
  for (auto at = rows_.lower_bound(range.start); at != rows_.end() && range.Contains(at->first); ++at) {
    const auto& [row_key, row] = *at;
    bytes += row_key.size();
    for (const auto& [family, columns] : row) {
      for (const auto& [qualifier, column] : columns) {
        bytes += qualifier.size();
        for (const auto& [timestamp_micros, value] : column) bytes += sizeof(timestamp_micros) + value.size();
      }
    }
  }
  return bytes;
}

std::vector<RowFamily> SelectCells(const MemoryRow& row, const ReadHints& hints) {
  std::vector<RowFamily> result;
  for (const auto& [family, columns] : row) {
    if (!HasFamily(hints, family)) continue;
    RowFamily selected{.family = family};
    for (const auto& [qualifier, column] : columns) {
      if (HasColumn(hints, qualifier)) SelectColumn(qualifier, column, hints, &selected.cells);
    }
    if (!selected.cells.empty()) result.push_back(std::move(selected));
  }
  return result;
}

}  // namespace sonde
