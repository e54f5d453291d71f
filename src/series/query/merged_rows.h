// Rows of several scans of a table as one: how a question to a salted series is fanned out.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "model/table_access.h"

namespace sonde::series {

// Scans under way at a time; a series with more salts is read salt by salt.
constexpr size_t kScansMax = 64;
// Rows that a scan is ahead of what is taken from it; fewer, when they are large: 2 MiB and two rows.
constexpr size_t kRowsAheadMax = 64;

// Calls `row` with the rows of all `reads`, each of which is a scan and a thread of its own, by the order of
// `key_of` of their keys (descending where the reads are reversed); rows with one key in the order of the
// reads.  Each read gives its rows in that order by itself.  False ends all of them.  The error of the first
// scan that has one.
absl::Status ReadMergedRows(TableAccess* tables, const std::string& table, const std::vector<RowRead>& reads,
                            const std::function<std::string(std::string_view row_key)>& key_of,
                            const std::function<bool(ReadRow&&)>& row);

// The same of numbers; a row comes as often as they give it.
absl::Status ReadMergedNumbers(NumberAccess* tables, const std::string& table,
                               const std::vector<NumberRead>& reads,
                               const std::function<std::string(std::string_view row_key)>& key_of,
                               const std::function<bool(const NumberRow&)>& row);

}  // namespace sonde::series
