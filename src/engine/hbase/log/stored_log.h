// Where HBase keeps the change log of a table: in the rows themselves, so that a record is one commit with its change.
//
//   l   pieces of records.  qualifier: position (8 bytes, big-endian), index (4 bytes, big-endian).  time: the position, in milliseconds
//   v   qualifier "l": the position of the row's newest record (8 bytes, big-endian), time 1
// HBase's times let a scan by time pass over whole files, and let HBase's own TTL forget records.  A table gets the family `l` when it is
// first logged.
//
// Pure: no state, no clock.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "hbase/wire/cell_block.h"
#include "hbase/wire/change_messages.h"
#include "hbase/wire/read_messages.h"
#include "hbase/wire/table_messages.h"
#include "model/mutation.h"

namespace sonde {

constexpr char kLogFamily[] = "l";
constexpr char kNewestRecordFamily[] = "v";
constexpr char kNewestRecordQualifier[] = "l";
constexpr int64_t kNewestRecordTime = 1;
// As long as HBase keeps records beyond what was asked for: clocks differ, and a reader may be about to read them.
constexpr absl::Duration kLogKeptLonger = absl::Hours(1);

// The family as a table gets it.  Records are to be kept for `kept`.
hbase::FamilySchema LogFamily(absl::Duration kept);

// Where a piece is: positions first.
struct LogPlace {
  int64_t position = 0;
  uint32_t index = 0;

  auto operator<=>(const LogPlace&) const = default;
};

std::string LogQualifier(const LogPlace& place);
// DATA_LOSS: it is none.
absl::StatusOr<LogPlace> ParseLogQualifier(std::string_view qualifier);

// Which cells are to be read for the places in [start, end).
hbase::CellChoice LogChoice(const LogPlace& start, const LogPlace& end);

// Adds a record at a position to a change.  The values view the record; `bytes` gets the rest.
void PutRecord(const LogRecord& record, int64_t position, hbase::RowChange* change,
               std::deque<std::string>* bytes);

// Deletes a record that is at a position.
void DeleteRecord(const LogRecord& record, int64_t position, hbase::RowChange* change,
                  std::deque<std::string>* bytes);

// The value of kNewestRecordQualifier.  DATA_LOSS: it is no position.
absl::StatusOr<int64_t> ParseNewestRecord(std::string_view value);

}  // namespace sonde
