#include "series/known/series_tables.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "series/known/complete_tables.h"
#include "series/known/declaration_check.h"
#include "series/known/declaration_store.h"
#include "series/known/indexed_series.h"
#include "series/known/rollup_marks.h"
#include "series/known/table_rules.h"

namespace sonde::series {
namespace {

const SystemClock kMachineClock;

}  // namespace

absl::Status EnsureSeriesTables(const SeriesSchema& schema, TableAccess* tables, const Clock* clock) {
  if (clock == nullptr) clock = &kMachineClock;
  if (!schema.text.empty()) {
    if (absl::Status status = CheckAgainstStored(schema, tables); !status.ok()) return status;
  }
  if (absl::Status status = EnsureTablesAndRules(schema, tables, *clock); !status.ok()) return status;
  if (!schema.rollups.empty()) {
    if (absl::Status status = EnsureMarksTable(tables); !status.ok()) return status;
  }
  if (schema.text.empty()) return absl::OkStatus();
  if (absl::Status status = DropWrongNotes(schema, tables); !status.ok()) return status;
  const absl::StatusOr<bool> is_new = DropIndexMark(schema, tables);
  if (!is_new.ok()) return is_new.status();
  if (absl::Status status = StoreDeclaration(schema, tables, *clock); !status.ok()) return status;
  if (absl::Status status = KeepIndexMark(schema, *is_new, tables, *clock); !status.ok()) return status;
  return KeepCompleteNotes(schema, tables, *clock);
}

absl::Status DropOldPeriods(const SeriesSchema& schema, TableAccess* tables, int64_t now_micros) {
  const auto is_aged = [](const PeriodTable& period) { return period.max_age_micros.has_value(); };
  if (std::none_of(schema.periods.begin(), schema.periods.end(), is_aged)) return absl::OkStatus();
  const absl::StatusOr<std::vector<std::string>> all = tables->ListTables();
  if (!all.ok()) return all.status();
  for (const PeriodTable& period : schema.periods) {
    if (!is_aged(period)) continue;
    for (const std::string& table : *all) {
      const std::optional<int64_t> start = period.PeriodOf(table);
      if (!start || period.every.End(*start) > now_micros - *period.max_age_micros) continue;
      const absl::Status status = tables->DropTable(table);
      if (!status.ok() && !absl::IsNotFound(status)) return status;  // another writer may have dropped it
    }
  }
  return absl::OkStatus();
}

}  // namespace sonde::series
