#include "cli/store/check_index.h"

#include <fmt/format.h>

#include <utility>

#include "base/bytes.h"
#include "series/index/write/index_repair.h"
#include "series/known/declaration_store.h"
#include "series/known/known_series.h"

namespace sonde {
namespace {

absl::Status CheckOne(const series::StoredSeries& stored, TableAccess* tables,
                      const std::function<void(const std::string& line)>& tell, IndexCheck* check) {
  const absl::StatusOr<series::KnownSeries> known = series::ParseStored(stored);
  // A declaration of a later build says of no index that this one knows.
  if (!known.ok() && stored.open_record.empty()) return absl::OkStatus();
  if (!known.ok()) return known.status();
  if (!known->is_open() && !known->schema.is_indexed) return absl::OkStatus();
  ++check->series_count;
  const std::string name = Printable(stored.series);
  const series::IndexProgress progress{.tell = [&](const series::IndexReport& so_far) {
    tell(fmt::format("index of series '{}': {} rows read", name, so_far.rows));
  }};
  const absl::StatusOr<series::IndexReport> report = series::CheckIndex(*known, tables, progress);
  if (!report.ok()) return report.status();
  check->rows_count += report->rows;
  if (report->is_given_up) {
    check->notices.push_back(fmt::format(
        "series '{}' has more entities than its server may know, and no index; all of its rows are read",
        name));
  } else if (!report->is_whole) {
    if (report->rows > 0) {
      check->notices.push_back(fmt::format(
          "the index of series '{}' does not have all of it; `sonde series rebuild stored:{}@index` "
          "completes it",
          name, name));
    }
  } else if (!report->is_sound()) {
    check->faults.push_back(
        fmt::format("the index of series '{}' lacks {} entities, and a day or a field of {} rows of others; "
                    "`sonde series rebuild stored:{}@index` completes it",
                    name, report->missing_entities, report->missing_rows, name));
    for (const std::string& problem : report->problems) check->faults.push_back("  " + problem);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<IndexCheck> CheckIndexes(TableAccess* tables,
                                        const std::function<void(const std::string& line)>& tell) {
  const absl::StatusOr<std::vector<series::StoredSeries>> all = series::ListStored(tables);
  if (!all.ok()) return all.status();
  IndexCheck check;
  for (const series::StoredSeries& stored : *all) {
    const absl::Status status = CheckOne(stored, tables, tell, &check);
    if (absl::IsDataLoss(status)) {
      check.faults.push_back(
          fmt::format("series '{}': {}", Printable(stored.series), std::string(status.message())));
    } else if (!status.ok()) {
      return status;
    }
  }
  return check;
}

}  // namespace sonde
