#include "table/read_modify_write.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"
#include "base/varint.h"
#include "filter/byte_range.h"
#include "model/limits.h"
#include "mutation/normalize.h"
#include "table/column_hints.h"

namespace sonde {

ReadModifyWriter::ReadModifyWriter(const TableSchema& schema, std::string_view row_key,
                                   absl::Span<const ReadModifyWriteRule> rules, int64_t now_micros)
    : schema_(schema),
      row_key_(row_key),
      rules_(rules),
      now_micros_(TruncateToGranularity(schema, now_micros)) {}

// The newest cell of each column of the rules.
ReadHints ReadModifyWriter::Hints() const {
  ReadHints hints{.newest_per_column = 1};
  hints.families.emplace();
  hints.columns.emplace();
  ByteRanges columns;
  for (const ReadModifyWriteRule& rule : rules_) {
    const FamilySchema* family = schema_.FindFamily(rule.family);
    if (family == nullptr) continue;  // Run says so
    hints.families->push_back(family->id);
    columns.push_back(ByteRange::Single(rule.qualifier));
  }
  std::sort(hints.families->begin(), hints.families->end());
  hints.families->erase(std::unique(hints.families->begin(), hints.families->end()), hints.families->end());
  AddColumns(std::move(columns), &*hints.columns);
  return hints;
}

absl::Status ReadModifyWriter::Run(const std::vector<FilterCell>& row) {
  columns_.clear();
  for (const ReadModifyWriteRule& rule : rules_) {
    const FamilySchema* family = schema_.FindFamily(rule.family);
    if (family == nullptr) return Error(absl::StatusCode::kNotFound, "Requested column family not found.");
    if (family->aggregate != AggregateKind::kNone) {
      return Error(absl::StatusCode::kInvalidArgument, "Column family type mismatch");
    }
    const auto index = static_cast<uint32_t>(family - schema_.families.data());
    const auto [at, is_new] = columns_.try_emplace({index, std::string(rule.qualifier)});
    if (is_new) at->second = Newest(row, index, rule.qualifier);
    if (absl::Status status = Change(rule, &at->second); !status.ok()) return status;
  }
  return absl::OkStatus();
}

RowDelta ReadModifyWriter::Delta() const {
  std::map<FamilyId, FamilyDelta> families;
  for (const auto& [column, cell] : columns_) {
    const FamilySchema& family = schema_.families[column.first];
    FamilyDelta& delta = families[family.id];
    delta.family = family.id;
    delta.puts.push_back({column.second, cell.timestamp_micros, cell.value});
  }
  RowDelta result;
  for (auto& [id, delta] : families) result.families.push_back(std::move(delta));
  return result;
}

std::vector<Mutation> ReadModifyWriter::Mutations() const {
  std::vector<Mutation> result;
  for (const auto& [column, cell] : columns_) {
    result.push_back(
        SetCell{schema_.families[column.first].name, column.second, cell.timestamp_micros, cell.value});
  }
  return result;
}

std::vector<WrittenCell> ReadModifyWriter::Written() const {
  std::vector<WrittenCell> result;
  for (const auto& [column, cell] : columns_) {
    result.push_back({schema_.families[column.first].name, column.second, cell.timestamp_micros, cell.value});
  }
  return result;
}

absl::Status ReadModifyWriter::Error(absl::StatusCode code, std::string_view what) const {
  return absl::Status(code, fmt::format("Error while mutating the row '{}' ({}) : {}", Printable(row_key_),
                                        schema_.name, what));
}

ReadModifyWriter::Cell ReadModifyWriter::Newest(const std::vector<FilterCell>& row, uint32_t family,
                                                std::string_view qualifier) const {
  const auto cell = std::lower_bound(
      row.begin(), row.end(), std::pair(family, qualifier), [](const FilterCell& a, const auto& column) {
        return std::pair(a.family, std::string_view(a.cell.qualifier)) < column;
      });
  if (cell == row.end() || cell->family != family || cell->cell.qualifier != qualifier) {
    return {now_micros_, "", false};
  }
  return {std::max(now_micros_, cell->cell.timestamp_micros), std::string(cell->cell.value), true};
}

absl::Status ReadModifyWriter::Change(const ReadModifyWriteRule& rule, Cell* cell) const {
  const bool was_set = std::exchange(cell->is_set, true);
  if (const auto* append = std::get_if<ReadModifyWriteRule::Append>(&rule.change)) {
    if (cell->value.size() + append->value.size() > kValueBytesMax) {
      return Error(absl::StatusCode::kInvalidArgument,
                   fmt::format("The value would have {} bytes; the limit is {}",
                               cell->value.size() + append->value.size(), kValueBytesMax));
    }
    cell->value.append(append->value);
    return absl::OkStatus();
  }
  uint64_t number = 0;
  if (was_set) {
    std::string_view bytes = cell->value;
    if (bytes.size() != sizeof(number) || !GetFixed64(&bytes, &number)) {
      return Error(absl::StatusCode::kFailedPrecondition,
                   fmt::format("Cannot increment the cell {}:'{}': its value has {} bytes, not 8",
                               rule.family, Printable(rule.qualifier), cell->value.size()));
    }
  }
  number += static_cast<uint64_t>(std::get<ReadModifyWriteRule::Increment>(rule.change).amount);
  cell->value.clear();
  PutFixed64(&cell->value, number);
  return absl::OkStatus();
}

}  // namespace sonde
