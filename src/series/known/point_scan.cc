#include "series/known/point_scan.h"

#include <numeric>
#include <utility>
#include <vector>

namespace sonde::series {
namespace {

using PointCallback = std::function<absl::StatusOr<bool>(const DecodedKey&, const RowPoint&)>;

// One version; answers whether to go on with the next.
absl::StatusOr<bool> ScanVersion(const SeriesSchema& schema, const Selection& selection,
                                 const std::vector<size_t>& fields, TableAccess* tables,
                                 const PointCallback& callback, ScanStats* stats) {
  const KeyCodec codec(schema);
  absl::StatusOr<ScanPlan> plan = PlanScan(codec, selection);
  if (!plan.ok()) return plan.status();
  if (plan->ranges.empty()) return true;
  stats->ranges += static_cast<int64_t>(plan->ranges.size());
  stats->is_full_scan |= plan->is_full_scan;
  RowPoints points(codec.schema(), fields);
  DecodedKey key;
  absl::Status problem;
  bool goes_on = true;
  const RowRead read = MakeRowRead(codec.schema(), fields, selection.from_micros, selection.to_micros,
                                   std::move(plan->ranges));
  const absl::Status status = tables->ReadRows(schema.table, read, [&](ReadRow&& row) {
    ++stats->rows;
    stats->cells += static_cast<int64_t>(row.cells.size());
    for (const ReadCell& cell : row.cells) stats->value_bytes += static_cast<int64_t>(cell.value.size());
    problem = codec.Decode(row.row_key, &key);
    if (!problem.ok()) return false;
    if (!Matches(codec, selection, key)) return true;
    problem = points.Read(row, key, selection.from_micros, selection.to_micros);
    for (size_t i = 0; problem.ok() && goes_on && i < points.Count(); ++i) {
      ++stats->points;
      const absl::StatusOr<bool> answer = callback(key, points.Get(i));
      problem = answer.status();
      if (answer.ok()) goes_on = *answer;
    }
    return problem.ok() && goes_on;
  });
  if (!problem.ok()) return problem;
  if (!status.ok()) return status;
  return goes_on;
}

}  // namespace

absl::Status ScanPoints(const SeriesSchema& schema, const Selection& selection, TableAccess* tables,
                        const PointCallback& point, ScanStats* stats) {
  ScanStats ignored;
  if (stats == nullptr) stats = &ignored;
  std::vector<size_t> fields = selection.fields;
  if (fields.empty()) {
    fields.resize(schema.fields.size());
    std::iota(fields.begin(), fields.end(), 0);
  }
  for (const VersionSpan& span : schema.VersionsIn(selection.from_micros, selection.to_micros)) {
    Selection part = selection;
    part.from_micros = span.from_micros;
    part.to_micros = span.to_micros;
    const absl::StatusOr<bool> goes_on = ScanVersion(*span.schema, part, fields, tables, point, stats);
    if (!goes_on.ok()) return goes_on.status();
    if (!*goes_on) break;
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> HasAnyPoint(const SeriesSchema& schema, TableAccess* tables) {
  bool has_any = false;
  for (const VersionSpan& span : schema.VersionsIn(kTimeBeginMicros, kTimeEndMicros)) {
    SeriesSchema alone = *span.schema;
    alone.earlier.clear();
    const absl::Status status =
        ScanPoints(alone, {}, tables, [&](const DecodedKey&, const RowPoint&) -> absl::StatusOr<bool> {
          has_any = true;
          return false;
        });
    if (!status.ok() && !absl::IsNotFound(status)) return status;
    if (has_any) break;
  }
  return has_any;
}

}  // namespace sonde::series
