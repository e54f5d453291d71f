#include "engine/hbase/stored_row.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/time/clock.h"
#include "base/bytes.h"
#include "engine/hbase/log/stored_log.h"
#include "hbase/attempts.h"
#include "model/expiring_family.h"
#include "model/limits.h"

namespace sonde {
namespace {

// HBase looks at all of them for every cell.
constexpr size_t kRangesAskedMax = 64;
// In a reverse scan a filter of several ranges passes over columns of the later ones.
constexpr size_t kRangesAskedInReverse = 1;

// Joins ranges until there are few, so that they ask for more.
std::vector<hbase::QualifierRange> FewerRanges(std::vector<hbase::QualifierRange> ranges, size_t ranges_max) {
  std::sort(ranges.begin(), ranges.end(), [](const auto& a, const auto& b) { return a.start < b.start; });
  const size_t step = (ranges.size() + ranges_max - 1) / ranges_max;
  std::vector<hbase::QualifierRange> joined;
  for (size_t i = 0; i < ranges.size(); ++i) {
    if (i % step == 0) {
      joined.push_back(std::move(ranges[i]));
      continue;
    }
    std::string& end = joined.back().end;
    if (!end.empty() && (ranges[i].end.empty() || ranges[i].end > end)) end = ranges[i].end;
  }
  return joined;
}

}  // namespace

StoredChoice ChoiceOf(const ReadHints& hints) {
  StoredChoice choice{.time_range = hints.time_range,
                      .newest_per_column = hints.newest_per_column,
                      .keys_only = hints.keys_only};
  if (!hints.families.has_value()) {
    // All but expiring families; which columns of them is left to the reader.
    choice.qualifiers.push_back({std::string(), StoredFamilyRange(kExpiringFamilies).start});
    return choice;
  }
  std::vector<FamilyId> families = *hints.families;
  std::sort(families.begin(), families.end());
  for (const FamilyId family : families) {
    choice.with_expiring |= IsExpiringFamily(family);
    if (!hints.columns.has_value()) {
      choice.qualifiers.push_back(StoredFamilyRange(family));
      continue;
    }
    for (const ReadHints::ColumnRange& columns : *hints.columns)
      choice.qualifiers.push_back(StoredColumnsRange(family, columns));
  }
  return choice;
}

bool MayGive(const ReadHints& hints, FamilyId family) {
  return !IsExpiringFamily(family) ||
         (hints.families.has_value() &&
          std::find(hints.families->begin(), hints.families->end(), family) != hints.families->end());
}

hbase::CellChoice HBaseChoiceOf(const StoredChoice& choice, bool reverse) {
  hbase::CellChoice wanted{.families = {kCellsFamily}, .keys_only = choice.keys_only};
  if (choice.with_expiring) wanted.families.emplace_back(kExpiringFamily);
  // Times of the two families are of different units.
  if (!choice.with_expiring || choice.time_range.IsAll()) {
    SetStoredTimes(choice.time_range, &wanted);
    // In a column of an expiring family each cell is a column of its own to HBase.
    if (choice.newest_per_column.has_value() && !choice.with_expiring) {
      wanted.newest_per_column =
          static_cast<uint32_t>(std::clamp<int64_t>(*choice.newest_per_column, 1, INT32_MAX));
    }
  }
  const bool is_everything = choice.qualifiers.size() == 1 && choice.qualifiers[0].start.empty();
  if (!is_everything)
    wanted.qualifiers = FewerRanges(choice.qualifiers, reverse ? kRangesAskedInReverse : kRangesAskedMax);
  return wanted;
}

absl::Status StoredRow::Add(const hbase::Cell& cell) {
  if (cell.family == kVersionFamily) {
    (cell.qualifier == kNewestRecordQualifier ? newest_record_ : version_) = std::string(cell.value);
    return absl::OkStatus();
  }
  hbase::Cell kept = cell;
  std::string& bytes = bytes_.emplace_back();
  bytes.reserve(cell.qualifier.size() + cell.value.size());
  bytes.append(cell.qualifier).append(cell.value);
  kept.qualifier = std::string_view(bytes).substr(0, cell.qualifier.size());
  kept.value = std::string_view(bytes).substr(cell.qualifier.size());
  SeamCell& read = cells_.emplace_back();
  return ReadStoredCell(kept, &bytes_, &read);
}

std::vector<RowFamily> StoredRow::Families() const {
  std::vector<RowFamily> families;
  for (const SeamCell& cell : cells_) {
    if (families.empty() || families.back().family != cell.family)
      families.push_back({.family = cell.family, .cells = {}});
    families.back().cells.push_back(cell.cell);
  }
  return families;
}

// Reads a row, as often as it is cut off in its middle.
class StoredRowReader {
 public:
  // Adds cells of the row; those that the row had at one moment.
  static absl::Status Read(hbase::Client* client, const hbase::TableName& table, std::string_view row_key,
                           const hbase::CellChoice& choice, absl::Time deadline, StoredRow* row) {
    hbase::Attempts attempts(deadline, absl::Seconds(5));
    const StoredRow before = std::move(*row);
    while (true) {
      *row = StoredRow();
      row->SetVersionOf(before);
      const absl::Status status = ReadOnce(client, table, row_key, choice, deadline, row);
      // A row that was cut off in its middle may be whole the next time.
      if (!absl::IsUnavailable(status) || attempts.count() >= kTriesMax ||
          !attempts.WaitAfter({.remedy = hbase::Remedy::kWait})) {
        return status;
      }
    }
  }

 private:
  static constexpr int kTriesMax = 4;

  static absl::Status ReadOnce(hbase::Client* client, const hbase::TableName& table, std::string_view row_key,
                               const hbase::CellChoice& choice, absl::Time deadline, StoredRow* row) {
    const std::unique_ptr<hbase::RowScan> scan = client->Scan(
        table, {.start = std::string(row_key), .stop = Successor(row_key)}, choice, {}, deadline);
    size_t bytes = 0;
    hbase::RowScan::Part part;
    while (true) {
      const absl::StatusOr<bool> more = scan->Next(&part);
      if (!more.ok()) return more.status();
      if (!*more) return absl::OkStatus();
      for (const hbase::Cell& cell : part.cells) {
        bytes += cell.qualifier.size() + cell.value.size();
        if (bytes > kRowWholeBytesMax) {
          return absl::FailedPreconditionError(
              fmt::format("Row '{}' has more than {} bytes, which a change that reads it may not see",
                          Printable(row_key), kRowWholeBytesMax));
        }
        if (absl::Status status = row->Add(cell); !status.ok()) return status;
      }
    }
  }
};

absl::StatusOr<StoredRow> ReadStoredRow(hbase::Client* client, const hbase::TableName& table,
                                        std::string_view row_key, const StoredChoice& choice,
                                        absl::Time deadline) {
  StoredRow row;
  hbase::CellChoice wanted = HBaseChoiceOf(choice);
  wanted.times_of_family = kCellsFamily;  // and not the version's
  if (wanted.keys_only || choice.qualifiers.empty()) {
    // A version that is read first, and is still there when the change is made, says that nothing came between.
    const hbase::CellChoice version{.families = {kVersionFamily}};
    if (absl::Status status = StoredRowReader::Read(client, table, row_key, version, deadline, &row);
        !status.ok())
      return status;
    if (choice.qualifiers.empty()) return row;
  } else {
    wanted.families.emplace_back(kVersionFamily);
    if (!wanted.qualifiers.empty()) wanted.qualifiers.push_back(VersionRange());
  }
  if (absl::Status status = StoredRowReader::Read(client, table, row_key, wanted, deadline, &row);
      !status.ok())
    return status;
  return row;
}

}  // namespace sonde
