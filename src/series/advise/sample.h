// Points to measure with: of a file, or made as the declaration says that they will be.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/table_access.h"
#include "series/schema/schema.h"

namespace sonde::series {

struct SamplePoint {
  std::vector<std::string> tags;
  int64_t time_micros = 0;
  std::vector<std::string> fields;  // texts; empty: the point has none
};

// In the order of their time.
using Sample = std::vector<SamplePoint>;

// Points that were loaded into the tables of `schema`.  RESOURCE_EXHAUSTED: more than points_max.
absl::StatusOr<Sample> SampleOfTables(const SeriesSchema& schema, TableAccess* tables, size_t points_max);

// About points_max points: of at most series_max series, with the counts and skew that the tags declare (10
// values of a tag that declares none), one each interval (time.interval, or the resolution, 1 s at least)
// from 2026-01-05 on. Values are random walks.  The same declaration gives the same points.
Sample MakeSample(const SeriesSchema& schema, size_t points_max, size_t series_max);

}  // namespace sonde::series
