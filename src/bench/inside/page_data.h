// Data sets for page_bench: series of many kinds, generated from a seed or read from files, as Bigtable rows.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "bench/data/series_data.h"
#include "model/cell.h"

namespace sonde::bench {

// Readings of one entity: metrics, ascending, at times, ascending.
struct EntityReadings {
  std::string name;
  std::vector<std::string> metrics;
  std::vector<int64_t> times_micros;
  // values[metric][time]; empty: there was none.
  std::vector<std::vector<std::string>> values;
};

struct DataSet {
  std::string name;
  int64_t bucket_seconds = 3600;
  std::vector<EntityReadings> entities;
};

// A row and its cells, whose qualifiers and values view the data set.
struct PageRow {
  std::string key;
  std::vector<CellView> cells;
};

// How a number becomes a value.
enum class NumberKind : uint8_t { kText, kBigEndianInteger, kBigEndianDouble };

// TSBS's cpu-only data (bench/data/series_data.h): ten whole numbers a host every 10 s.
DataSet MakeCpu(NumberKind kind, int64_t cells);
// Like TSBS's iot: seven metrics a truck with 0 to 5 decimals; readings and fields are missing.
DataSet MakeTrucks(NumberKind kind, int64_t cells);
// Whole numbers that only grow, with jitter of some milliseconds in their times.
DataSet MakeCounters(int64_t cells);

// A CSV file with a header line: one entity for each value of column `entity_column` (-1: one), rows a day
// apart, the metrics in `metric_columns`.  NOT_FOUND: no such file.
absl::StatusOr<DataSet> ReadCsv(const std::string& path, int entity_column,
                                const std::vector<int>& metric_columns);
// Lines TIME_MS METRIC VALUE, as bench/sample-proc writes them.  NOT_FOUND, INVALID_ARGUMENT.
absl::StatusOr<DataSet> ReadLines(const std::string& path);

// The rows of a data set in order: tall, one an entity and time; bucket, one an entity and bucket of time.
std::vector<PageRow> MakeRows(const DataSet& data, Schema schema);

}  // namespace sonde::bench
