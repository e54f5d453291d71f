// Whether rows that one schema has written are rows of another.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "model/table_access.h"
#include "series/schema/schema.h"

namespace sonde::series {

// A thing that two schemas say differently about how a row is written.
struct RowDifference {
  std::string what;  // "the key"; empty: there is none
  int line = 0;      // where the second schema says it
};

// The first difference between rows of `a` and rows of `b`.  Other types of fields are no difference.
RowDifference HowRowsDiffer(const SeriesSchema& a, const SeriesSchema& b);

// FAILED_PRECONDITION: the first or the last row of the table is none that this schema writes.
absl::Status CheckRows(const SeriesSchema& schema, TableAccess* tables);

// FAILED_PRECONDITION: a declaration does not read what is stored.  The message says where the declaration says
// so (`line`, or the file where that is 0), what is wrong, and what to declare.
absl::Status Unreadable(const SeriesSchema& schema, std::string_view what, std::string_view remedy,
                        int line = 0);

}  // namespace sonde::series
