// Points as they come from series (tags, time, fields) as the columns of a plan.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "base/arena.h"
#include "rows/batch.h"
#include "series/query/query_words.h"
#include "sql/plan/plan.h"

namespace sonde::sql {

class PointColumns {
 public:
  // `query`: what the points were asked for with (point_selection.h).  Both must outlive this.
  PointColumns(const Plan::SeriesScan& scan, const series::Query& query);

  // Replaces *batch by the columns of the scan, of `points`, whose columns are those of series/query/point_stream.h.
  // They view `points` and the arena.  OUT_OF_RANGE: a tag or a field that is an int leaves 64 bits.
  absl::Status Make(const rows::Batch& points, Arena* arena, rows::Batch* batch) const;

 private:
  absl::Status AddTag(const SeriesColumn& column, const rows::Batch& points, Arena* arena,
                      rows::Batch* batch) const;
  absl::Status AddField(size_t place, const rows::Batch& points, Arena* arena, rows::Batch* batch) const;
  void AddLabels(const rows::Batch& points, Arena* arena, rows::Batch* batch) const;

  const Plan::SeriesScan& scan_;
  const series::Query& query_;
  const size_t tags_;
  std::vector<size_t> places_;          // by column of the scan: that of a field among those of the query
  std::vector<size_t> labels_by_name_;  // of an open series
};

}  // namespace sonde::sql
