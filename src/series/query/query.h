// Questions to a declared series: points of some tags and a range of time, raw, the newest, or aggregated.
//
// Rows are read as a stream.  Raw points go out as they come, in the order of the row keys and, within a row,
// by time.  The newest N keep N points a series.  Aggregates keep the buckets of one series where all tags
// stand in front of the time in the key, and else all buckets; never the points themselves.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/table_access.h"
#include "series/key/scan_plan.h"
#include "series/query/aggregate.h"

namespace sonde::series {

struct Query {
  Selection selection;
  std::vector<size_t> fields;         // indexes; empty: all (of aggregates: all numbers)
  std::optional<int64_t> latest;      // only the newest so many points of each series, newest first
  std::optional<BucketWidth> every;   // aggregated over these, aligned to the UTC calendar
  std::vector<Aggregate> aggregates;  // with `every`
  std::optional<int64_t> rows_max;    // of the answer
};

struct ResultHeader {
  struct Column {
    std::string name;
    bool is_number = true;
  };
  std::vector<std::string> tags;
  std::vector<Column> values;
  // The times of the answer are starts of these: how exactly people want to see them.
  BucketWidth time_unit;
};

using ResultValue = std::variant<std::monostate, int64_t, double, std::string>;

struct ResultRow {
  std::vector<std::string> tags;
  int64_t time_micros = 0;
  std::vector<ResultValue> values;  // monostate: the point has none
};

struct QueryStats {
  std::string table;
  std::vector<RowRange> ranges;
  bool is_full_scan = false;
  int64_t requests = 0;
  int64_t rows_read = 0;
  int64_t cells_read = 0;
  int64_t value_bytes_read = 0;
  int64_t results = 0;
};

// INVALID_ARGUMENT: `latest` with `every`, no aggregate, an aggregate other than count of a text.
absl::StatusOr<ResultHeader> HeaderOf(const SeriesSchema& schema, const Query& query);

// Calls `row` for each result; false ends the query early.
// INVALID_ARGUMENT as PlanScan and HeaderOf; DATA_LOSS: a row or cell that this declaration never writes;
// else what `tables` answers. The newest point of each series (latest = 1, all times) comes from the
// declaration's first table of newest values, when it has one; each value is then the newest of its field,
// and the time is the newest of these.
absl::StatusOr<QueryStats> RunQuery(const SeriesSchema& schema, const Query& query, TableAccess* tables,
                                    const std::function<bool(const ResultRow&)>& row);

}  // namespace sonde::series
