#include "naive_model.h"

#include <algorithm>
#include <tuple>

namespace sonde {
namespace {

int64_t Decode(const std::string& value) {
  uint64_t state = 0;
  for (const char byte : value) state = (state << 8) | static_cast<unsigned char>(byte);
  return static_cast<int64_t>(state);
}

std::string Encode(int64_t state) {
  std::string value;
  for (int shift = 56; shift >= 0; shift -= 8) {
    value.push_back(static_cast<char>(static_cast<uint64_t>(state) >> shift));
  }
  return value;
}

int64_t Combine(AggregateKind kind, int64_t a, int64_t b) {
  if (kind == AggregateKind::kMin) return a < b ? a : b;
  if (kind == AggregateKind::kMax) return a > b ? a : b;
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

bool IsDeleted(const FamilyDelta& delta, std::string_view qualifier, int64_t timestamp_micros) {
  return delta.delete_all ||
         std::any_of(delta.deletes.begin(), delta.deletes.end(), [&](const auto& deletion) {
           return deletion.qualifier == qualifier && deletion.time_range.Contains(timestamp_micros);
         });
}

}  // namespace

bool NaiveTable::Position::operator<(const Position& other) const {
  return std::tie(row_key, family, qualifier, other.timestamp_micros) <
         std::tie(other.row_key, other.family, other.qualifier, timestamp_micros);
}

void NaiveTable::Apply(std::string_view row_key, const RowDelta& delta) {
  for (const FamilyDelta& change : delta.families) {
    std::erase_if(cells_, [&](const auto& cell) {
      const Position& at = cell.first;
      return at.row_key == row_key && at.family == change.family &&
             IsDeleted(change, at.qualifier, at.timestamp_micros);
    });
    const auto position = [&](std::string_view qualifier, int64_t timestamp_micros) {
      return Position{std::string(row_key), change.family, std::string(qualifier), timestamp_micros};
    };
    for (const CellView& put : change.puts) {
      cells_[position(put.qualifier, put.timestamp_micros)] = std::string(put.value);
    }
    for (const FamilyDelta::Add& add : change.adds) {
      const Position at = position(add.qualifier, add.timestamp_micros);
      const auto old = cells_.find(at);
      cells_[at] =
          Encode(old == cells_.end() ? add.state : Combine(change.aggregate, Decode(old->second), add.state));
    }
  }
}

void NaiveTable::DropFamily(FamilyId family) {
  std::erase_if(cells_, [&](const auto& cell) { return cell.first.family == family; });
}

void NaiveTable::DropRange(const RowRange& range) {
  std::erase_if(cells_, [&](const auto& cell) { return range.Contains(cell.first.row_key); });
}

std::vector<ObservedRow> NaiveTable::Rows(const std::vector<RowRange>& ranges, bool reverse) const {
  std::vector<ObservedRow> rows;
  for (const auto& [at, value] : cells_) {
    const bool is_inside = std::any_of(ranges.begin(), ranges.end(),
                                       [&](const RowRange& range) { return range.Contains(at.row_key); });
    if (!is_inside) continue;
    if (rows.empty() || rows.back().row_key != at.row_key) rows.push_back({.row_key = at.row_key});
    rows.back().families[at.family].push_back({at.qualifier, at.timestamp_micros, value});
  }
  if (reverse) std::reverse(rows.begin(), rows.end());
  return rows;
}

ObservedRow NaiveTable::Row(std::string_view row_key) const {
  const std::vector<ObservedRow> rows = Rows({RowRange::Single(row_key)});
  return rows.empty() ? ObservedRow{.row_key = std::string(row_key)} : rows[0];
}

}  // namespace sonde
