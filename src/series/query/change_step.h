// The step of a query that puts changes (rate, ...) in the place of values.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "rows/batch.h"
#include "rows/change.h"
#include "rows/column.h"
#include "series/query/query_words.h"
#include "series/query/series_scan.h"

namespace sonde::series {

// Values of all series become changes; each series' come by time.
class ChangeStep {
 public:
  ChangeStep(const Query& query, const Scans& scans)
      : change_(query.change), is_by_series_(scans.size() == 1 && scans[0]->order().SeriesLieTogether()) {}

  // Batches of a scan, those of a series by time; what it gives holds until the next one.
  const rows::Batch& Apply(const std::vector<std::string>& tags, const rows::Batch& batch) {
    if (!change_) return batch;
    // A series whose rows lie together never comes again.
    if (is_by_series_ && !series_.contains(tags)) series_.clear();
    const size_t times = tags.size();
    std::vector<rows::Changes>& changes = series_[tags];
    changes.resize(batch.columns.size() - times - 1);
    changed_.resize(changes.size());
    batch_ = batch;
    for (size_t i = 0; i < changes.size(); ++i) {
      ColumnView& column = batch_.columns[times + 1 + i];
      changes[i].Apply(*change_, {batch.columns[times].ints(), batch.rows}, column, &changed_[i]);
      column = changed_[i].View();
    }
    return batch_;
  }

 private:
  const std::optional<Change> change_;
  const bool is_by_series_;
  std::map<std::vector<std::string>, std::vector<rows::Changes>> series_;
  std::vector<rows::Column> changed_;
  rows::Batch batch_;
};

}  // namespace sonde::series
