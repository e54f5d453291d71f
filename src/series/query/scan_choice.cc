#include "series/query/scan_choice.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "rows/bucket_fold.h"
#include "series/query/read_aggregates.h"
#include "series/query/table_choice.h"

namespace sonde::series {
namespace {

// Windows look back behind the first bucket that is asked for.
Selection SelectionOf(const Query& query) {
  Selection selection = query.selection;
  if (query.windows.empty() || selection.from_micros <= kTimeBeginMicros) return selection;
  const int longest = *std::max_element(query.windows.begin(), query.windows.end());
  if (longest > 1) {
    selection.from_micros =
        rows::BucketsBefore(BucketsOf(*query.every), query.every->Start(selection.from_micros), longest - 1);
  }
  return selection;
}

// The part of `selection` that a version holds, which begins at `from_micros`.
Selection PartOf(Selection selection, const SeriesSchema& version, int64_t from_micros) {
  selection.from_micros = std::max(selection.from_micros, from_micros);
  selection.to_micros = std::min(selection.to_micros, version.until_micros);
  return selection;
}

// Scans of copies that narrow the query more than the series' own tables do; none if there are no such
// copies.
absl::StatusOr<Scans> PlanCopies(const SeriesSchema& schema, const QueryPlan& plan,
                                 const Selection& selection, TableAccess* tables) {
  const absl::StatusOr<std::vector<TablePart>> parts = ChooseCopies(schema, plan, selection, tables);
  if (!parts.ok()) return parts.status();
  Scans scans;
  for (const TablePart& part : *parts) {
    absl::StatusOr<std::unique_ptr<SeriesScan>> scan =
        SeriesScan::Plan(part.schema, nullptr, plan, part.selection, tables);
    // What a copy's keys can't do, those of the series may.
    if (!scan.ok()) return Scans();
    if (part.may_be_missing) (*scan)->TakeMissingAsEmpty();
    scans.push_back(*std::move(scan));
  }
  return scans;
}

}  // namespace

absl::StatusOr<Scans> PlanScans(const SeriesSchema& schema, const KnownSeries* open, const QueryPlan& plan,
                                TableAccess* tables) {
  const Selection selection = SelectionOf(plan.query);
  if (open == nullptr) {
    absl::StatusOr<Scans> copies = PlanCopies(schema, plan, selection, tables);
    if (!copies.ok() || !copies->empty()) return copies;
  }
  Scans scans;
  int64_t from_micros = kTimeBeginMicros;
  const auto add = [&](SeriesSchema version, bool is_last) -> absl::Status {
    const Selection part = PartOf(selection, version, from_micros);
    from_micros = version.until_micros;
    version.is_indexed = schema.is_indexed;
    // The first scan is there even if nothing is asked for: values are checked by its plan.
    if (part.from_micros >= part.to_micros && !is_last) return absl::OkStatus();
    absl::StatusOr<std::unique_ptr<SeriesScan>> scan = SeriesScan::Plan(version, open, plan, part, tables);
    if (!scan.ok()) return scan.status();
    scans.push_back(*std::move(scan));
    return absl::OkStatus();
  };
  for (const SeriesSchema& version : schema.earlier) {
    if (absl::Status status = add(version, false); !status.ok()) return status;
  }
  if (absl::Status status = add(schema, true); !status.ok()) return status;
  return scans;
}

}  // namespace sonde::series
