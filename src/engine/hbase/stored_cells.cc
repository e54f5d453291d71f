#include "engine/hbase/stored_cells.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/bytes.h"
#include "base/check.h"
#include "base/varint.h"
#include "engine/hbase/log/stored_log.h"
#include "model/expiring_family.h"

namespace sonde {
namespace {

constexpr char kLastEnd = 0;
constexpr char kUsualEnd = 1;
constexpr char kEscape = 2;  // bytes up to it have it in front
constexpr char kBehindColumn = 2;
constexpr size_t kFamilyIdBytes = 4;
constexpr size_t kTimeBytes = 8;
constexpr int64_t kMicrosAMilli = 1'000;

bool IsEscaped(char byte) { return static_cast<unsigned char>(byte) <= static_cast<unsigned char>(kEscape); }

absl::Status BadCell(const hbase::Cell& stored) {
  return absl::DataLossError(fmt::format("HBase has a cell that Sonde did not put: row '{}', column '{}:{}'",
                                         Printable(stored.row), Printable(stored.family),
                                         Printable(stored.qualifier)));
}

std::string WithEnd(std::string column, char end) {
  column.push_back(end);
  return column;
}

}  // namespace

std::string StoredColumn(FamilyId family, std::string_view qualifier) {
  std::string column;
  column.reserve(kFamilyIdBytes + qualifier.size() + 1);
  PutFixed32(&column, family);
  for (const char byte : qualifier) {
    if (IsEscaped(byte)) column.push_back(kEscape);
    column.push_back(byte);
  }
  return column;
}

std::string UsualColumn(FamilyId family, std::string_view qualifier) {
  return WithEnd(StoredColumn(family, qualifier), kUsualEnd);
}

std::string LastColumn(FamilyId family, std::string_view qualifier) {
  return WithEnd(StoredColumn(family, qualifier), kLastEnd);
}

StoredPlace PlaceOf(FamilyId family, std::string_view qualifier, int64_t timestamp_micros) {
  if (IsExpiringFamily(family)) {
    StoredPlace place{kExpiringFamily, UsualColumn(family, qualifier), timestamp_micros / kMicrosAMilli};
    PutFixed64(&place.qualifier, ~static_cast<uint64_t>(timestamp_micros));
    return place;
  }
  if (timestamp_micros == INT64_MAX)
    return {kCellsFamily, LastColumn(family, qualifier), hbase::kTimestampMax};
  return {kCellsFamily, UsualColumn(family, qualifier), timestamp_micros};
}

hbase::QualifierRange StoredFamilyRange(FamilyId family) {
  hbase::QualifierRange range;
  PutFixed32(&range.start, family);
  range.end = PrefixEnd(range.start);
  return range;
}

hbase::QualifierRange StoredColumnRange(FamilyId family, std::string_view qualifier) {
  const std::string column = StoredColumn(family, qualifier);
  return {WithEnd(column, kLastEnd), WithEnd(column, kBehindColumn)};
}

hbase::QualifierRange StoredColumnsRange(FamilyId family, const ReadHints::ColumnRange& columns) {
  hbase::QualifierRange range = StoredFamilyRange(family);
  range.start = StoredColumn(family, columns.start);
  if (!columns.end.empty()) range.end = StoredColumn(family, columns.end);
  return range;
}

hbase::QualifierRange VersionRange() {
  static_assert(std::string_view(kNewestRecordQualifier) < std::string_view(kVersionQualifier));
  return {kNewestRecordQualifier, Successor(kVersionQualifier)};
}

void SetStoredTimes(const TimeRange& range, hbase::CellChoice* choice) {
  choice->time_start = std::clamp<int64_t>(range.start_micros, 0, hbase::kTimestampMax);
  choice->time_end = range.End() > hbase::kTimestampMax ? std::numeric_limits<int64_t>::max()
                                                        : static_cast<int64_t>(range.End());
  choice->time_end = std::max(choice->time_end, choice->time_start);
}

absl::Status ReadStoredCell(const hbase::Cell& stored, std::deque<std::string>* bytes, SeamCell* cell) {
  std::string_view rest = stored.qualifier;
  uint32_t family = 0;
  if (!GetFixed32(&rest, &family)) return BadCell(stored);
  uint64_t inverted = 0;
  if (IsExpiringFamily(family)) {
    if (stored.family != kExpiringFamily || rest.size() < kTimeBytes + 1) return BadCell(stored);
    std::string_view time = rest.substr(rest.size() - kTimeBytes);
    rest.remove_suffix(kTimeBytes);
    if (!GetFixed64(&time, &inverted)) return BadCell(stored);
  } else if (stored.family != kCellsFamily) {
    return BadCell(stored);
  }
  if (rest.empty() || (rest.back() != kUsualEnd && rest.back() != kLastEnd)) return BadCell(stored);
  const bool is_last = rest.back() == kLastEnd;
  rest.remove_suffix(1);
  cell->family = family;
  cell->cell.timestamp_micros = IsExpiringFamily(family) ? static_cast<int64_t>(~inverted)
                                : is_last                ? INT64_MAX
                                                         : stored.timestamp;
  cell->cell.value = stored.value;
  if (std::none_of(rest.begin(), rest.end(), IsEscaped)) {
    cell->cell.qualifier = rest;
    return absl::OkStatus();
  }
  std::string& qualifier = bytes->emplace_back();
  qualifier.reserve(rest.size());
  for (size_t i = 0; i < rest.size(); ++i) {
    if (rest[i] == kEscape)
      ++i;
    else if (IsEscaped(rest[i]))
      return BadCell(stored);
    if (i == rest.size()) return BadCell(stored);
    qualifier.push_back(rest[i]);
  }
  cell->cell.qualifier = qualifier;
  return absl::OkStatus();
}

}  // namespace sonde
