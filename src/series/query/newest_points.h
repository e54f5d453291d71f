// The newest points of each series.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "series/query/query_words.h"
#include "series/query/series_scan.h"

namespace sonde::series {

// Whether rows come series by series and by time, so that the newest points of all need a few rows of each.
inline bool IsSeriesByTime(const RowOrder& order) {
  return order.SeriesLieTogether() && order.times_of_series() != RowOrder::Times::kMixed;
}

// Gives the newest `count` points of each series, the newest first: series by their tags, of which a batch has
// several, so that the columns of tags are not constant.
// `scans`: of the versions of a declaration, the oldest first.
absl::Status ReadNewestPoints(const std::vector<std::unique_ptr<SeriesScan>>& scans, int64_t count,
                              const SeriesScan::TakeBatch& take);

// The same, count 1, of a table of newest values (ChooseLatest) of `schema`; what max_age has forgotten at
// `now_micros` is left out.
absl::Status ReadNewestValues(const SeriesSchema& schema, std::optional<int64_t> now_micros, SeriesScan* scan,
                              const SeriesScan::TakeBatch& take);

}  // namespace sonde::series
