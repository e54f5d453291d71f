#include "series/known/rollup_marks.h"

#include <fmt/format.h>

#include "model/row_range.h"

namespace sonde::series {

std::string MarkKeyOf(const std::string& series, const std::string& table, std::string_view row_key) {
  return fmt::format("{}#{}#{}", series, table, row_key);
}

absl::Status EnsureMarksTable(TableAccess* tables) {
  return tables->EnsureTable(kMarksTable, {{kMarkFamily, GcRule{GcRule::MaxVersions{1}}}});
}

absl::StatusOr<bool> HasMarks(const std::string& series, const std::string& table, TableAccess* tables) {
  RowRead read;
  read.ranges = {RowRange::Prefix(MarkKeyOf(series, table, ""))};
  read.rows_max = 1;
  bool has_any = false;
  const absl::Status status = tables->ReadRows(kMarksTable, read, [&](ReadRow&&) {
    has_any = true;
    return false;
  });
  if (!status.ok() && !absl::IsNotFound(status)) return status;
  return has_any;
}

}  // namespace sonde::series
