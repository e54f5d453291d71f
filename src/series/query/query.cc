#include "series/query/query.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "series/query/bucket_fold.h"
#include "series/query/newest_points.h"
#include "series/query/numbers.h"
#include "series/query/series_scan.h"
#include "series/query/top_rows.h"

namespace sonde::series {
namespace {

using RowCallback = std::function<bool(const ResultRow&)>;

// Points one by one.
absl::Status ReadRaw(SeriesScan* scan, const RowCallback& emit) {
  return scan->Read(scan->MakeRead(scan->ranges()), [&]() -> absl::StatusOr<bool> {
    for (size_t i = 0; i < scan->points().Count(); ++i) {
      const absl::StatusOr<ResultRow> result = scan->MakeResult(scan->points().Get(i));
      if (!result.ok()) return result.status();
      if (!emit(*result)) return false;
    }
    return true;
  });
}

// Values of all series become changes; each series' come by time.
class Changes {
 public:
  Changes(const Query& query, const SeriesSchema& schema)
      : change_(query.change), is_by_series_(IsBySeries(schema)) {}

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

// Changes need each series by time: where the newest is first, rows are read from their end.
RowRead MakeReadByTime(const Query& query, const SeriesScan& scan) {
  RowRead read = scan.MakeRead(scan.ranges());
  read.reversed = query.change && IsNewestFirst(scan.schema());
  return read;
}

absl::Status ReadRawChanges(const Query& query, SeriesScan* scan, const RowCallback& emit) {
  Changes changes(query, scan->schema());
  Numbers numbers;
  return scan->Read(MakeReadByTime(query, *scan), [&]() -> absl::StatusOr<bool> {
    if (absl::Status status = scan->ReadNumbers(&numbers); !status.ok()) return status;
    changes.Apply(scan->tags(), &numbers);
    for (size_t i = 0; i < numbers.times_micros.size(); ++i) {
      ResultRow result{scan->tags(), numbers.times_micros[i],
                       std::vector<ResultValue>(numbers.columns.size())};
      bool has_any = false;
      for (size_t column = 0; column < numbers.columns.size(); ++column) {
        const double value = numbers.columns[column].values[i];
        if (!IsNumber(value)) continue;
        has_any = true;
        result.values[column] = value;
      }
      if (has_any && !emit(result)) return false;
    }
    return true;
  });
}

// Whether the rows of a group lie one behind the other in the order of the keys.
bool IsByGroup(const SeriesSchema& schema, bool is_open, const Query& query) {
  if (!IsBySeries(schema)) return false;
  if (!query.group_by || is_open) return !query.group_by;
  size_t tags_in_front = 0;
  for (const KeyPart& part : schema.key) {
    if (part.kind != KeyPart::Kind::kTag) continue;
    const auto& group = *query.group_by;
    if (std::find(group.begin(), group.end(), part.tag) == group.end()) break;
    ++tags_in_front;
  }
  return tags_in_front == query.group_by->size();
}

absl::Status ReadAggregates(const Query& query, SeriesScan* scan, const RowCallback& emit) {
  const bool is_by_group = IsByGroup(scan->schema(), scan->is_open(), query);
  BucketFold fold(query, scan->fields().size());
  Changes changes(query, scan->schema());
  Numbers numbers;
  std::vector<std::string> group;
  bool is_enough = false;
  const absl::Status status = scan->Read(MakeReadByTime(query, *scan), [&]() -> absl::StatusOr<bool> {
    if (scan->points().Count() == 0) return true;
    if (absl::Status read = scan->ReadNumbers(&numbers); !read.ok()) return read;
    changes.Apply(scan->tags(), &numbers);
    if (query.group_by) {
      group.clear();
      for (const size_t tag : *query.group_by) group.push_back(scan->tags()[tag]);
    } else {
      group = scan->tags();
    }
    if (is_by_group && !fold.IsEmpty() && fold.first_group() != group) {
      const absl::StatusOr<bool> goes_on = fold.Emit(emit);
      is_enough = goes_on.ok() && !*goes_on;
      if (!goes_on.ok() || is_enough) return goes_on;
    }
    if (absl::Status added = fold.Add(group, numbers); !added.ok()) return added;
    return true;
  });
  if (!status.ok() || is_enough) return status;
  return fold.Emit(emit).status();
}

// Windows look back behind the first bucket that is asked for.
Selection SelectionOf(const Query& query) {
  Selection selection = query.selection;
  if (query.windows.empty() || selection.from_micros <= 0) return selection;
  const int longest = *std::max_element(query.windows.begin(), query.windows.end());
  if (longest > 1) {
    selection.from_micros =
        BucketsBefore(*query.every, query.every->Start(selection.from_micros), longest - 1);
  }
  return selection;
}

absl::Status ReadSelected(const Query& query, bool is_latest_table, SeriesScan* scan,
                          const RowCallback& emit) {
  if (is_latest_table) return ReadNewestValues(scan, emit);
  if (query.latest) return ReadNewestPoints(scan, *query.latest, emit);
  if (!query.aggregates.empty()) return ReadAggregates(query, scan, emit);
  return query.change ? ReadRawChanges(query, scan, emit) : ReadRaw(scan, emit);
}

absl::StatusOr<QueryStats> Run(const SeriesSchema& schema, const KnownSeries* open, const Query& query,
                               const ResultHeader& header, bool is_latest_table, TableAccess* tables,
                               const RowCallback& row) {
  absl::StatusOr<std::unique_ptr<SeriesScan>> scan =
      SeriesScan::Plan(schema, open, query, SelectionOf(query), tables);
  if (!scan.ok()) return scan.status();
  QueryStats& stats = (*scan)->stats();
  // The newest points of all series need a few rows of each: that is what was asked for.
  if (is_latest_table || (query.latest && IsBySeries(schema))) stats.is_full_scan = false;
  if (stats.ranges.empty() || query.rows_max == 0) return std::move(stats);
  const RowCallback emit = [&](const ResultRow& result) {
    ++stats.results;
    return row(result) && !(query.rows_max && stats.results >= *query.rows_max);
  };
  absl::Status status;
  if (query.top) {
    TopRows top(*query.top, header);
    status = ReadSelected(query, is_latest_table, scan->get(), [&](const ResultRow& result) {
      top.Add(result);
      return true;
    });
    if (status.ok()) top.Emit(emit);
  } else {
    status = ReadSelected(query, is_latest_table, scan->get(), emit);
  }
  if (!status.ok()) return status;
  return std::move(stats);
}

// Whether rows of one series come out of the order of time: salt by salt.
bool IsInTurns(const SeriesSchema& schema) {
  const KeyPart* salt = schema.FindPart(KeyPart::Kind::kSalt);
  return salt != nullptr && salt->salt_tags.empty();
}

}  // namespace

absl::StatusOr<QueryStats> RunQuery(const SeriesSchema& schema, const Query& query, TableAccess* tables,
                                    const std::function<bool(const ResultRow&)>& row) {
  const absl::StatusOr<ResultHeader> header = HeaderOf(schema, query);
  if (!header.ok()) return header.status();
  if (!schema.earlier.empty()) {
    return absl::UnimplementedError(
        fmt::format("{}: queries over several versions of a declaration", schema.file));
  }
  if (query.change && IsInTurns(schema)) {
    return absl::UnimplementedError(
        fmt::format("{}: changes of a series whose rows are not in the order of time", schema.file));
  }
  const bool is_all_time = query.selection.from_micros <= 0 && query.selection.to_micros >= kTimeEndMicros;
  if (query.latest == 1 && is_all_time && !schema.latest.empty()) {
    return Run(MakeLatestSchema(schema, schema.latest[0]), nullptr, query, *header, true, tables, row);
  }
  return Run(schema, nullptr, query, *header, false, tables, row);
}

absl::StatusOr<QueryStats> RunQuery(const KnownSeries& series, const Query& query, TableAccess* tables,
                                    const std::function<bool(const ResultRow&)>& row) {
  if (!series.is_open()) return RunQuery(series.schema, query, tables, row);
  const absl::StatusOr<ResultHeader> header = HeaderOf(LabelsAsTags(series), query);
  if (!header.ok()) return header.status();
  return Run(series.schema, &series, query, *header, false, tables, row);
}

}  // namespace sonde::series
