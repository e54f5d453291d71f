#include "engine/hbase/log/stored_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/bytes.h"
#include "base/varint.h"

namespace sonde {
namespace {

constexpr int64_t kMicrosAMilli = 1'000;
// HBase counts a TTL in seconds, as an int.
constexpr int64_t kTtlSecondsMax = std::numeric_limits<int32_t>::max();

int64_t TimeOf(int64_t position) { return position / kMicrosAMilli; }

}  // namespace

hbase::FamilySchema LogFamily(absl::Duration kept) {
  const int64_t seconds = std::clamp<int64_t>(absl::ToInt64Seconds(kept + kLogKeptLonger), 1, kTtlSecondsMax);
  return {kLogFamily,
          {{"VERSIONS", "1"},
           {"TTL", fmt::format("{}", seconds)},
           {"NEW_VERSION_BEHAVIOR", "true"},
           {"KEEP_DELETED_CELLS", "FALSE"},
           {"BLOOMFILTER", "NONE"},
           {"DATA_BLOCK_ENCODING", "FAST_DIFF"},
           {"IN_MEMORY_COMPACTION", "NONE"}}};
}

std::string LogQualifier(const LogPlace& place) {
  std::string qualifier;
  PutFixed64(&qualifier, static_cast<uint64_t>(place.position));
  PutFixed32(&qualifier, place.index);
  return qualifier;
}

absl::StatusOr<LogPlace> ParseLogQualifier(std::string_view qualifier) {
  std::string_view rest = qualifier;
  uint64_t position = 0;
  LogPlace place;
  if (!GetFixed64(&rest, &position) || !GetFixed32(&rest, &place.index) || !rest.empty() ||
      position > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
    return absl::DataLossError(
        fmt::format("HBase has a piece of a change log that Sonde did not put: '{}'", Printable(qualifier)));
  }
  place.position = static_cast<int64_t>(position);
  return place;
}

hbase::CellChoice LogChoice(const LogPlace& start, const LogPlace& end) {
  hbase::CellChoice choice{.families = {kLogFamily}};
  choice.qualifiers = {{LogQualifier(start), LogQualifier(end)}};
  choice.time_start = TimeOf(start.position);
  choice.time_end = TimeOf(end.position) + 1;
  return choice;
}

void PutRecord(const LogRecord& record, int64_t position, hbase::RowChange* change,
               std::deque<std::string>* bytes) {
  for (uint32_t i = 0; i < record.pieces.size(); ++i) {
    const std::string& qualifier = bytes->emplace_back(LogQualifier({position, i}));
    change->puts.push_back(
        {{}, kLogFamily, qualifier, TimeOf(position), hbase::CellType::kPut, record.pieces[i]});
  }
  std::string& newest = bytes->emplace_back();
  PutFixed64(&newest, static_cast<uint64_t>(position));
  change->puts.push_back(
      {{}, kNewestRecordFamily, kNewestRecordQualifier, kNewestRecordTime, hbase::CellType::kPut, newest});
}

void DeleteRecord(const LogRecord& record, int64_t position, hbase::RowChange* change,
                  std::deque<std::string>* bytes) {
  for (uint32_t i = 0; i < record.pieces.size(); ++i) {
    const std::string& qualifier = bytes->emplace_back(LogQualifier({position, i}));
    change->markers.push_back({{}, kLogFamily, qualifier, TimeOf(position), hbase::CellType::kDeleteCell});
  }
}

absl::StatusOr<int64_t> ParseNewestRecord(std::string_view value) {
  uint64_t position = 0;
  if (!GetFixed64(&value, &position) || !value.empty())
    return absl::DataLossError("HBase has a position of a row's newest record that is none");
  return static_cast<int64_t>(position);
}

}  // namespace sonde
