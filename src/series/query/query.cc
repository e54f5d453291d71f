#include "series/query/query.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "series/query/bucket_fold.h"
#include "series/query/merged_rows.h"
#include "series/query/newest_points.h"
#include "series/query/numbers.h"
#include "series/query/series_scan.h"
#include "series/query/table_choice.h"
#include "series/query/top_rows.h"

namespace sonde::series {
namespace {

using RowCallback = std::function<bool(const ResultRow&)>;
// Of the versions of a declaration, the oldest first: points of one are before those of the next.
using Scans = std::vector<std::unique_ptr<SeriesScan>>;

// Points one by one.
absl::Status ReadRaw(const Scans& scans, const RowCallback& emit) {
  bool is_enough = false;
  for (const auto& scan : scans) {
    const absl::Status status = scan->ReadAll([&]() -> absl::StatusOr<bool> {
      for (size_t i = 0; i < scan->points().Count() && !is_enough; ++i) {
        const absl::StatusOr<ResultRow> result = scan->MakeResult(scan->points().Get(i));
        if (!result.ok()) return result.status();
        is_enough = !emit(*result);
      }
      return !is_enough;
    });
    if (!status.ok() || is_enough) return status;
  }
  return absl::OkStatus();
}

// Values of all series become changes; each series' come by time.
class Changes {
 public:
  Changes(const Query& query, const Scans& scans)
      : change_(query.change), is_by_series_(scans.size() == 1 && scans[0]->order().SeriesLieTogether()) {}

  void Apply(const std::vector<std::string>& tags, Numbers* numbers) {
    if (!change_) return;
    // A series whose rows lie together never comes again.
    if (is_by_series_ && !series_.contains(tags)) series_.clear();
    series_[tags].Apply(*change_, numbers);
  }

 private:
  const std::optional<Change> change_;
  const bool is_by_series_;
  std::map<std::vector<std::string>, ChangesOfSeries> series_;
};

// The values of an answer to a question for changes alone; false: there is none.
absl::StatusOr<bool> MakeChangeRow(const Query& query, const SeriesScan& scan, const Numbers& numbers,
                                   size_t index, ResultRow* result) {
  *result = {scan.tags(), numbers.times_micros[index], std::vector<ResultValue>(numbers.columns.size())};
  bool has_any = false;
  for (size_t column = 0; column < numbers.columns.size(); ++column) {
    const ExactNumber number = numbers.columns[column].At(index);
    if (!IsNumber(number.value)) continue;
    has_any = true;
    result->values[column] = number.value;
    if (!numbers.columns[column].is_int) continue;
    const absl::int128 integer = number.Int();
    if (!IsInt(integer)) {
      const Field& field = scan.schema().fields[scan.fields()[column]];
      return LeavesInt(integer, NameOfValues(field, query.change));
    }
    result->values[column] = static_cast<int64_t>(integer);
  }
  return has_any;
}

absl::Status ReadRawChanges(const Query& query, const Scans& scans, const RowCallback& emit) {
  Changes changes(query, scans);
  Numbers numbers;
  ResultRow result;
  bool is_enough = false;
  for (const auto& scan : scans) {
    const auto take = [&]() -> absl::StatusOr<bool> {
      changes.Apply(scan->tags(), &numbers);
      for (size_t i = 0; i < numbers.times_micros.size() && !is_enough; ++i) {
        const absl::StatusOr<bool> has_any = MakeChangeRow(query, *scan, numbers, i, &result);
        if (!has_any.ok()) return has_any.status();
        if (*has_any) is_enough = !emit(result);
      }
      return !is_enough;
    };
    const absl::Status status = scan->ReadAllNumbers(NumberOrder::kByTime, &numbers, take);
    if (!status.ok() || is_enough) return status;
  }
  return absl::OkStatus();
}

// Whether the rows of a group lie one behind the other.
bool IsByGroup(const Scans& scans, const Query& query) {
  if (scans.size() > 1) return false;
  const RowOrder& order = scans[0]->order();
  if (!query.group_by) return order.SeriesLieTogether();
  // The labels of an open series are one tag of its keys.
  return !scans[0]->is_open() && order.LieTogether(*query.group_by);
}

std::vector<std::string> GroupOf(const Query& query, const std::vector<std::string>& tags) {
  if (!query.group_by) return tags;
  std::vector<std::string> group;
  for (const size_t tag : *query.group_by) group.push_back(tags[tag]);
  return group;
}

absl::Status ReadAggregates(const Query& query, const Scans& scans, const RowCallback& emit) {
  const bool is_by_group = IsByGroup(scans, query);
  BucketFold fold(query, scans[0]->schema(), scans[0]->fields());
  Changes changes(query, scans);
  Numbers numbers;
  bool is_enough = false;
  for (const auto& scan : scans) {
    const auto take = [&]() -> absl::StatusOr<bool> {
      changes.Apply(scan->tags(), &numbers);
      const std::vector<std::string> group = GroupOf(query, scan->tags());
      if (is_by_group && !fold.IsEmpty() && fold.first_group() != group) {
        const absl::StatusOr<bool> goes_on = fold.Emit(emit);
        is_enough = goes_on.ok() && !*goes_on;
        if (!goes_on.ok() || is_enough) return goes_on;
      }
      if (absl::Status added = fold.Add(group, numbers); !added.ok()) return added;
      return true;
    };
    // Only changes depend on the order of the points.
    const NumberOrder order = query.change ? NumberOrder::kByTime : NumberOrder::kAny;
    const absl::Status status = scan->ReadAllNumbers(order, &numbers, take);
    if (!status.ok() || is_enough) return status;
  }
  return fold.Emit(emit).status();
}

// Windows look back behind the first bucket that is asked for.
Selection SelectionOf(const Query& query) {
  Selection selection = query.selection;
  if (query.windows.empty() || selection.from_micros <= kTimeBeginMicros) return selection;
  const int longest = *std::max_element(query.windows.begin(), query.windows.end());
  if (longest > 1) {
    selection.from_micros =
        BucketsBefore(*query.every, query.every->Start(selection.from_micros), longest - 1);
  }
  return selection;
}

// The part of `selection` that a version holds, which begins at `from_micros`.
Selection PartOf(Selection selection, const SeriesSchema& version, int64_t from_micros) {
  selection.from_micros = std::max(selection.from_micros, from_micros);
  selection.to_micros = std::min(selection.to_micros, version.until_micros);
  return selection;
}

// Of copies that narrow the query more than the series' own tables do; none where there are no such.
absl::StatusOr<Scans> PlanCopies(const SeriesSchema& schema, const Query& query, const Selection& selection,
                                 TableAccess* tables) {
  const absl::StatusOr<std::vector<TablePart>> parts = ChooseCopies(schema, query, selection, tables);
  if (!parts.ok()) return parts.status();
  Scans scans;
  for (const TablePart& part : *parts) {
    absl::StatusOr<std::unique_ptr<SeriesScan>> scan =
        SeriesScan::Plan(part.schema, nullptr, query, part.selection, tables);
    // What a copy's keys can't do, those of the series may.
    if (!scan.ok()) return Scans();
    if (part.may_be_missing) (*scan)->TakeMissingAsEmpty();
    scans.push_back(*std::move(scan));
  }
  return scans;
}

absl::StatusOr<Scans> PlanScans(const SeriesSchema& schema, const KnownSeries* open, const Query& query,
                                TableAccess* tables) {
  const Selection selection = SelectionOf(query);
  if (open == nullptr) {
    absl::StatusOr<Scans> copies = PlanCopies(schema, query, selection, tables);
    if (!copies.ok() || !copies->empty()) return copies;
  }
  Scans scans;
  int64_t from_micros = kTimeBeginMicros;
  const auto add = [&](const SeriesSchema& version) -> absl::Status {
    const Selection part = PartOf(selection, version, from_micros);
    from_micros = version.until_micros;
    // The first scan is there even if nothing is asked for: values are checked by its plan.
    if (part.from_micros >= part.to_micros && &version != &schema) return absl::OkStatus();
    absl::StatusOr<std::unique_ptr<SeriesScan>> scan = SeriesScan::Plan(version, open, query, part, tables);
    if (!scan.ok()) return scan.status();
    scans.push_back(*std::move(scan));
    return absl::OkStatus();
  };
  for (const SeriesSchema& version : schema.earlier) {
    if (absl::Status status = add(version); !status.ok()) return status;
  }
  if (absl::Status status = add(schema); !status.ok()) return status;
  return scans;
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
    stats.requests += part.requests;
    stats.rows_read += part.rows_read;
    stats.cells_read += part.cells_read;
    stats.value_bytes_read += part.value_bytes_read;
  }
  stats.results = results;
  return stats;
}

// `of_latest`: where the scan is of its table of newest values; null elsewhere.
absl::Status ReadSelected(const Query& query, const SeriesSchema* of_latest, const Scans& scans,
                          const RowCallback& emit) {
  if (of_latest != nullptr) return ReadNewestValues(*of_latest, query.now_micros, scans[0].get(), emit);
  if (query.latest) return ReadNewestPoints(scans, *query.latest, emit);
  if (!query.aggregates.empty()) return ReadAggregates(query, scans, emit);
  return query.change ? ReadRawChanges(query, scans, emit) : ReadRaw(scans, emit);
}

absl::StatusOr<QueryStats> Run(const SeriesSchema& schema, const KnownSeries* open, const Query& query,
                               const ResultHeader& header, const SeriesSchema* of_latest, TableAccess* tables,
                               const RowCallback& row) {
  const absl::StatusOr<Scans> scans = PlanScans(schema, open, query, tables);
  if (!scans.ok()) return scans.status();
  int64_t results = 0;
  const bool has_ranges =
      std::any_of(scans->begin(), scans->end(), [](const auto& s) { return !s->ranges().empty(); });
  if (!has_ranges || query.rows_max == 0) return StatsOf(*scans, query, results);
  const RowCallback emit = [&](const ResultRow& result) {
    ++results;
    return row(result) && !(query.rows_max && results >= *query.rows_max);
  };
  absl::Status status;
  if (query.top) {
    TopRows top(*query.top, header);
    status = ReadSelected(query, of_latest, *scans, [&](const ResultRow& result) {
      top.Add(result);
      return true;
    });
    if (status.ok()) top.Emit(emit);
  } else {
    status = ReadSelected(query, of_latest, *scans, emit);
  }
  if (!status.ok()) return status;
  return StatsOf(*scans, query, results);
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

std::optional<double> NumberOf(const ResultValue& value) {
  if (const auto* number = std::get_if<double>(&value)) return *number;
  if (const auto* number = std::get_if<int64_t>(&value)) return static_cast<double>(*number);
  if (const auto* number = std::get_if<absl::int128>(&value)) return static_cast<double>(*number);
  return std::nullopt;
}

absl::StatusOr<QueryStats> RunQuery(const SeriesSchema& schema, const Query& query, TableAccess* tables,
                                    const std::function<bool(const ResultRow&)>& row) {
  const absl::StatusOr<ResultHeader> header = HeaderOf(schema, query);
  if (!header.ok()) return header.status();
  const absl::StatusOr<std::optional<LatestTable>> latest = ChooseLatest(schema, query, tables);
  if (!latest.ok()) return latest.status();
  if (latest->has_value()) {
    return Run(MakeLatestSchema(schema, **latest), nullptr, query, *header, &schema, tables, row);
  }
  return Run(schema, nullptr, query, *header, nullptr, tables, row);
}

absl::StatusOr<QueryStats> RunQuery(const KnownSeries& series, const Query& query, TableAccess* tables,
                                    const std::function<bool(const ResultRow&)>& row) {
  if (!series.is_open()) return RunQuery(series.schema, query, tables, row);
  const absl::StatusOr<ResultHeader> header = HeaderOf(LabelsAsTags(series), query);
  if (!header.ok()) return header.status();
  absl::StatusOr<QueryStats> stats = Run(series.schema, &series, query, *header, nullptr, tables, row);
  if (stats.ok()) stats->is_whole_series = IsWholeSeries(series, query, *stats);
  return stats;
}

}  // namespace sonde::series
