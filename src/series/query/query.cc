#include "series/query/query.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/wide_int.h"
#include "rows/bucket_fold.h"
#include "rows/change.h"
#include "rows/select.h"
#include "series/query/answer.h"
#include "series/query/change_step.h"
#include "series/query/newest_points.h"
#include "series/query/query_plan.h"
#include "series/query/raw_parts.h"
#include "series/query/read_aggregates.h"
#include "series/query/scan_choice.h"
#include "series/query/series_scan.h"
#include "series/query/table_choice.h"
#include "series/query/value_conditions.h"

namespace sonde::series {
namespace {

using TakeBatch = SeriesScan::TakeBatch;

// How the caller folds parts of the points.
struct CallersFold {
  const MakeFold& make;
  const TakePart& take;
};

// Points one by one.  `fold`: null where the caller does not fold parts.
absl::Status ReadRaw(const Query& query, const Scans& scans, const CallersFold* fold, const TakeBatch& take) {
  bool is_enough = false;
  for (const auto& scan : scans) {
    ValueFilter filter(query.value_conditions, scan->fields());
    const auto give = [&](const rows::Batch& batch) -> absl::StatusOr<bool> {
      const rows::Batch& given = filter.Apply(batch, scan->tags_count() + 1);
      if (given.rows == 0) return true;
      const absl::StatusOr<bool> goes_on = take(given);
      is_enough = goes_on.ok() && !*goes_on;
      return goes_on;
    };
    // Where few points of many go out, they are best read as numbers; their order is the same.
    const bool as_numbers = (query.takes_numbers || !query.value_conditions.empty()) &&
                            scan->order().times_of_field() == RowOrder::Times::kAscending &&
                            scan->CanDivide();
    if (as_numbers && query.idle_workers != nullptr && query.idle_workers->helpers() > 0) {
      const absl::StatusOr<bool> goes_on =
          fold == nullptr ? ReadRawInParts(query, scan.get(), take)
                          : FoldRawInParts(query, scan.get(), fold->make, fold->take, take);
      if (!goes_on.ok() || !*goes_on) return goes_on.status();
      continue;
    }
    const absl::Status status =
        as_numbers ? scan->ReadNumbers(NumberOrder::kByTime, give) : scan->ReadPoints(give);
    if (!status.ok() || is_enough) return status;
  }
  return absl::OkStatus();
}

// Gives the rows that have a change.  OUT_OF_RANGE: one of ints leaves 64 bits; the rows before it are given.
absl::StatusOr<bool> GiveChanges(const QueryPlan& plan, const SeriesScan& scan, const rows::Batch& batch,
                                 const TakeBatch& take) {
  const size_t times = scan.tags().size();
  rows::Batch given = batch;
  std::vector<ColumnType> types;
  for (size_t i = times; i < batch.columns.size(); ++i) types.push_back(batch.columns[i].type());
  rows::HeldBatch taken(types);
  const std::vector<size_t> with_changes = rows::RowsWithValues(batch, times + 1);
  if (with_changes.size() < batch.rows) {
    rows::TakeRows(batch, with_changes, times, &taken);
    given.Cut(0, with_changes.size());
    given.columns.resize(times);
    taken.View(&given);
  }
  absl::Status status;
  for (size_t i = times + 1; i < given.columns.size(); ++i) {
    const ColumnView column = given.columns[i];
    if (column.type() != ColumnType::kInt128) continue;
    for (size_t row = 0; row < given.rows; ++row) {
      if (!column.IsThere(row) || IsInt(column.wide_ints()[row])) continue;
      const Field& field = scan.schema().fields[scan.fields()[i - times - 1]];
      status = LeavesInt(column.wide_ints()[row], NameOfValues(field, plan.query.change));
      given.Cut(0, row);
    }
  }
  if (given.rows > 0) {
    const absl::StatusOr<bool> goes_on = take(given);
    if (!goes_on.ok() || !*goes_on) return goes_on;
  }
  return status.ok() ? absl::StatusOr<bool>(true) : status;
}

absl::Status ReadRawChanges(const QueryPlan& plan, const Scans& scans, const TakeBatch& take) {
  ChangeStep changes(plan.query, scans);
  bool is_enough = false;
  for (const auto& scan : scans) {
    const absl::Status status = scan->ReadNumbers(NumberOrder::kByTime, [&](const rows::Batch& batch) {
      const absl::StatusOr<bool> goes_on = GiveChanges(plan, *scan, changes.Apply(scan->tags(), batch), take);
      is_enough = goes_on.ok() && !*goes_on;
      return goes_on;
    });
    if (!status.ok() || is_enough) return status;
  }
  return absl::OkStatus();
}

QueryStats StatsOf(const Scans& scans, const Query& query, int64_t results) {
  QueryStats stats;
  for (const auto& scan : scans) {
    const QueryStats& part = scan->stats();
    stats.table = part.table;
    stats.tables.push_back({part.table, part.ranges.size()});
    stats.ranges.insert(stats.ranges.end(), part.ranges.begin(), part.ranges.end());
    // The newest points of all series need a few rows of each: that is what was asked for.
    stats.is_full_scan |= part.is_full_scan && !(query.latest && IsSeriesByTime(scan->order_of_read()));
    stats.indexed_entities = std::max(stats.indexed_entities, part.indexed_entities);
    stats.requests += part.requests;
    stats.rows_read += part.rows_read;
    stats.cells_read += part.cells_read;
    stats.value_bytes_read += part.value_bytes_read;
  }
  stats.results = results;
  return stats;
}

// `of_latest`: where the scan is of its table of newest values; null elsewhere.
absl::Status ReadSelected(const QueryPlan& plan, const SeriesSchema* of_latest, const Scans& scans,
                          const CallersFold* fold, const TakeBatch& take) {
  const Query& query = plan.query;
  if (of_latest != nullptr) return ReadNewestValues(*of_latest, query.now_micros, scans[0].get(), take);
  if (query.latest) return ReadNewestPoints(scans, *query.latest, take);
  if (!query.aggregates.empty()) return ReadAggregates(query, scans, take);
  return query.change ? ReadRawChanges(plan, scans, take) : ReadRaw(query, scans, fold, take);
}

bool HasRanges(const Scans& scans) {
  return std::any_of(scans.begin(), scans.end(), [](const auto& scan) { return !scan->ranges().empty(); });
}

absl::StatusOr<QueryStats> Run(const SeriesSchema& schema, const KnownSeries* open, const QueryPlan& plan,
                               const SeriesSchema* of_latest, TableAccess* tables, const RowCallback& row) {
  const absl::StatusOr<Scans> scans = PlanScans(schema, open, plan, tables);
  if (!scans.ok()) return scans.status();
  if (!HasRanges(*scans) || plan.query.rows_max == 0) return StatsOf(*scans, plan.query, 0);
  Answer answer(plan, row);
  const absl::Status status = ReadSelected(
      plan, of_latest, *scans, nullptr, [&answer](const rows::Batch& batch) { return answer.Take(batch); });
  if (!status.ok()) return status;
  answer.Finish();
  return StatsOf(*scans, plan.query, answer.results());
}

absl::StatusOr<QueryStats> RunInBatches(const SeriesSchema& schema, const KnownSeries* open,
                                        const QueryPlan& plan, const SeriesSchema* of_latest,
                                        TableAccess* tables, const CallersFold* fold, const TakeBatch& take) {
  const absl::StatusOr<Scans> scans = PlanScans(schema, open, plan, tables);
  if (!scans.ok()) return scans.status();
  if (!HasRanges(*scans)) return StatsOf(*scans, plan.query, 0);
  const absl::Status status = ReadSelected(plan, of_latest, *scans, fold, take);
  if (!status.ok()) return status;
  return StatsOf(*scans, plan.query, 0);
}

// Whether conditions did not make less of the keys of an open series.
bool IsWholeSeries(const KnownSeries& series, const Query& query, const QueryStats& stats) {
  const bool is_any =
      query.conditions.empty() && std::all_of(query.selection.tags.begin(), query.selection.tags.end(),
                                              [](const TagFilter& filter) { return filter.IsAny(); });
  const std::string first = series.schema.key[0].text + series.schema.delimiter;
  return !is_any && std::any_of(stats.ranges.begin(), stats.ranges.end(),
                                [&](const RowRange& range) { return range.start == first; });
}

}  // namespace

absl::StatusOr<QueryStats> RunQuery(const SeriesSchema& schema, const Query& query, TableAccess* tables,
                                    const RowCallback& row) {
  absl::StatusOr<ResultHeader> header = HeaderOf(schema, query);
  if (!header.ok()) return header.status();
  const absl::StatusOr<std::optional<LatestTable>> latest = ChooseLatest(schema, query, tables);
  if (!latest.ok()) return latest.status();
  const absl::StatusOr<QueryPlan> plan = QueryPlan::Make(schema, query, *std::move(header));
  if (!plan.ok()) return plan.status();
  if (latest->has_value()) {
    return Run(MakeLatestSchema(schema, **latest), nullptr, *plan, &schema, tables, row);
  }
  return Run(schema, nullptr, *plan, nullptr, tables, row);
}

absl::StatusOr<QueryStats> RunQuery(const KnownSeries& series, const Query& query, TableAccess* tables,
                                    const RowCallback& row) {
  if (!series.is_open()) return RunQuery(series.schema, query, tables, row);
  const SeriesSchema view = LabelsAsTags(series);
  absl::StatusOr<ResultHeader> header = HeaderOf(view, query);
  if (!header.ok()) return header.status();
  const absl::StatusOr<QueryPlan> plan = QueryPlan::Make(view, query, *std::move(header));
  if (!plan.ok()) return plan.status();
  absl::StatusOr<QueryStats> stats = Run(series.schema, &series, *plan, nullptr, tables, row);
  if (stats.ok()) stats->is_whole_series = IsWholeSeries(series, query, *stats);
  return stats;
}

namespace {

absl::StatusOr<QueryStats> RunKnownInBatches(const KnownSeries& series, const Query& query,
                                             TableAccess* tables, const CallersFold* fold,
                                             const TakeAnswer& take) {
  DCHECK(!query.top && !query.rows_max && query.fill == Fill::kNone);
  const SeriesSchema view = LabelsAsTags(series);
  absl::StatusOr<ResultHeader> header = HeaderOf(view, query);
  if (!header.ok()) return header.status();
  std::optional<LatestTable> latest;
  if (!series.is_open()) {
    absl::StatusOr<std::optional<LatestTable>> chosen = ChooseLatest(series.schema, query, tables);
    if (!chosen.ok()) return chosen.status();
    latest = *std::move(chosen);
  }
  const absl::StatusOr<QueryPlan> plan = QueryPlan::Make(view, query, *std::move(header));
  if (!plan.ok()) return plan.status();
  if (latest) {
    return RunInBatches(MakeLatestSchema(series.schema, *latest), nullptr, *plan, &series.schema, tables,
                        fold, take);
  }
  return RunInBatches(series.schema, series.is_open() ? &series : nullptr, *plan, nullptr, tables, fold,
                      take);
}

}  // namespace

absl::StatusOr<QueryStats> RunQueryInBatches(const KnownSeries& series, const Query& query,
                                             TableAccess* tables, const TakeAnswer& take) {
  return RunKnownInBatches(series, query, tables, nullptr, take);
}

absl::StatusOr<QueryStats> RunQueryInParts(const KnownSeries& series, const Query& query, TableAccess* tables,
                                           const MakeFold& make, const TakePart& take_part,
                                           const TakeAnswer& take) {
  DCHECK(query.takes_numbers && query.value_conditions.empty());
  const CallersFold fold{make, take_part};
  return RunKnownInBatches(series, query, tables, &fold, take);
}

}  // namespace sonde::series
