// A first declaration from a sample: what a person would write down, and then change.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "series/input/csv_reader.h"

namespace sonde::series {

struct DraftOptions {
  size_t records_max = 20'000;
  std::string time_format;  // as TimeParser::Create; empty: those that can be told from the values
  char separator = ',';
};

// Reads records of a CSV file with a header.  The time is the column of that name (time, timestamp, datetime,
// date), or else the first whose values are all times.  Tags are the columns, as few as
// will do, that tell points of one time apart; whole numbers are ints, other numbers doubles, the rest
// strings.  Interval, resolution and bucket are those of the sample; times before 1970 get an origin.  The
// text is YAML with comments, and
// ParseSchema takes it. `name`: of the series.  INVALID_ARGUMENT: no header, no record, no column that is
// a time or a field, or no such time format.
absl::StatusOr<std::string> DraftDeclaration(ByteSource source, std::string_view name,
                                             const DraftOptions& options);

}  // namespace sonde::series
