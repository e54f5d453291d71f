#include "engine/hbase/stored_row.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "absl/time/clock.h"
#include "base/bytes.h"
#include "base/varint.h"
#include "engine/hbase/log/stored_log.h"
#include "engine/hbase/packed/packed_cells.h"
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

// Where the packed cells are of the families that these columns belong to.
std::vector<hbase::QualifierRange> PackedRangesOf(const StoredChoice& choice) {
  std::vector<hbase::QualifierRange> ranges;
  std::set<FamilyId> families;
  for (const hbase::QualifierRange& columns : choice.qualifiers) {
    std::string_view start = columns.start;
    FamilyId family = 0;
    if (!GetFixed32(&start, &family)) return {AllPackedRange()};  // columns of all families
    if (IsExpiringFamily(family) || !families.insert(family).second) continue;
    for (hbase::QualifierRange& range : PackedRanges(family, choice.storage))
      ranges.push_back(std::move(range));
  }
  return ranges;
}

// Adds packed cells to what is asked for.
void AddPacked(const StoredChoice& choice, bool reverse, hbase::CellChoice* wanted) {
  for (std::string& family : PackedFamilies(choice.storage)) wanted->families.push_back(std::move(family));
  wanted->times_of_family = kCellsFamily;
  std::vector<hbase::QualifierRange> ranges = PackedRangesOf(choice);
  // A reverse scan has one range, which cannot say that some of it comes whole.
  if (reverse) wanted->keys_only = false;
  if (wanted->keys_only) {
    wanted->whole = FewerRanges(std::move(ranges), kRangesAskedMax);
    return;
  }
  if (wanted->qualifiers.empty()) return;
  ranges.insert(ranges.end(), choice.qualifiers.begin(), choice.qualifiers.end());
  wanted->qualifiers = FewerRanges(std::move(ranges), reverse ? kRangesAskedInReverse : kRangesAskedMax);
}

}  // namespace

StoredChoice ChoiceOf(const ReadHints& hints, CellStorage storage) {
  StoredChoice choice{.time_range = hints.time_range,
                      .newest_per_column = hints.newest_per_column,
                      .keys_only = hints.keys_only,
                      .storage = storage};
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

void KeepAsked(const ReadHints& hints, std::vector<RowFamily>* families) {
  const auto is_asked = [&](const CellView& cell) {
    if (!hints.time_range.Contains(cell.timestamp_micros)) return false;
    return !hints.columns.has_value() ||
           std::any_of(hints.columns->begin(), hints.columns->end(),
                       [&](const ReadHints::ColumnRange& columns) {
                         return cell.qualifier >= columns.start &&
                                (columns.end.empty() || cell.qualifier < columns.end);
                       });
  };
  for (RowFamily& family : *families) {
    std::erase_if(family.cells, [&](const CellView& cell) { return !is_asked(cell); });
    if (!hints.newest_per_column.has_value()) continue;
    std::optional<std::string_view> column;
    int64_t of_column = 0;
    std::erase_if(family.cells, [&](const CellView& cell) {
      if (column != cell.qualifier) of_column = 0;
      column = cell.qualifier;
      return ++of_column > std::max<int64_t>(*hints.newest_per_column, 1);
    });
  }
  std::erase_if(*families, [](const RowFamily& family) { return family.cells.empty(); });
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
  if (HasPacked(choice.storage)) AddPacked(choice, reverse, &wanted);
  return wanted;
}

absl::Status StoredRow::Add(const hbase::Cell& cell) {
  if (cell.family == kVersionFamily) {
    (cell.qualifier == kNewestRecordQualifier ? newest_record_ : version_) = std::string(cell.value);
    return absl::OkStatus();
  }
  if (IsPacked(cell)) return packed_.Add(cell);
  hbase::Cell kept = cell;
  std::string& bytes = bytes_.emplace_back();
  bytes.reserve(cell.qualifier.size() + cell.value.size());
  bytes.append(cell.qualifier).append(cell.value);
  kept.qualifier = std::string_view(bytes).substr(0, cell.qualifier.size());
  kept.value = std::string_view(bytes).substr(cell.qualifier.size());
  SeamCell& read = cells_.emplace_back();
  return ReadStoredCell(kept, &bytes_, &read);
}

absl::Status StoredRow::Finish() {
  if (packed_.is_empty()) return absl::OkStatus();
  if (absl::Status status = packed_.Read({}); !status.ok()) return status;
  std::vector<SeamCell> alone = std::move(cells_);
  cells_.clear();
  const auto is_before = [](const SeamCell& a, const SeamCell& b) {
    return a.family != b.family ? a.family < b.family : IsCellBefore(a.cell, b.cell);
  };
  auto next = alone.begin();
  for (const std::unique_ptr<PackedRow::Family>& family : packed_.families()) {
    for (const CellView& view : family->cells) {
      const SeamCell cell{family->family, view, true};
      while (next != alone.end() && is_before(*next, cell)) cells_.push_back(*next++);
      if (next == alone.end() || is_before(cell, *next)) cells_.push_back(cell);
    }
  }
  cells_.insert(cells_.end(), next, alone.end());
  return absl::OkStatus();
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
      if (!*more) return row->Finish();
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
