// The name by which people know a query: in findings about full scans, and in the list of slow queries.
#pragma once

#include <string>
#include <string_view>

namespace sonde::sql {

// The first 200 bytes of a query, to the end of a character, on one line: white space and control characters are one blank.
std::string NameOfQuery(std::string_view text);

}  // namespace sonde::sql
