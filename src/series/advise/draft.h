// A first declaration from a sample: what a person would write down, and then change.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "series/write/csv_reader.h"

namespace sonde::series {

// Reads up to records_max records of a CSV file with a header.  The time is the column of that name (time,
// timestamp, datetime, date), or else the first whose values are all times.  Tags are the columns, as few as
// will do, that tell points of one time apart; whole numbers are ints, other numbers doubles, the rest
// strings.  Interval, resolution and bucket are those of the sample.  The text is YAML with comments, and
// ParseSchema takes it. `name`: of the series.  INVALID_ARGUMENT: no header, no record, or no column that is
// a time or a field.
absl::StatusOr<std::string> DraftDeclaration(ByteSource source, std::string_view name, size_t records_max);

}  // namespace sonde::series
