// The table of marks: which pieces of roll-ups are to be refreshed, in case their writer dies (rollup_keeper.h).
//
// A mark is a row of table kMarksTable, with a column of family kMarkFamily for each writer; its key is
// MarkKeyOf.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/table_access.h"

namespace sonde::series {

constexpr char kMarksTable[] = "sonde_rollup_marks";
constexpr char kMarkFamily[] = "s";

// SERIES#TABLE#ROW-KEY, where TABLE is the roll-up's and ROW-KEY the key of the piece in it.
std::string MarkKeyOf(const std::string& series, const std::string& table, std::string_view row_key);

absl::Status EnsureMarksTable(TableAccess* tables);
// Whether pieces of roll-up `table` have marks: their rows are to come, as the roll-up was declared then.
absl::StatusOr<bool> HasMarks(const std::string& series, const std::string& table, TableAccess* tables);

}  // namespace sonde::series
