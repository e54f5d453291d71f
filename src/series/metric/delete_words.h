// Which samples of known series are to be deleted, and what was (metric_delete.h).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/clock.h"
#include "promql/syntax/matcher.h"
#include "rows/work_check.h"
#include "series/known/known_series.h"

namespace sonde::series {

class EntityIndex;

struct MetricDelete {
  std::vector<std::vector<promql::Matcher>> sets;  // series that fulfil all matchers of one of them
  int64_t start_millis = 0;
  int64_t end_millis = 0;  // included
  rows::Interrupted interrupted;
  EntityIndex* index = nullptr;  // as MetricRead's
  const Clock* clock = nullptr;  // of roll-ups; null: the machine's
  // Told before the first deletion of an open series.  May be null.
  std::function<absl::Status(const KnownSeries& series)> deleting;
  // Told of each entity of an open series behind its last row from which something was deleted: what keeps facts about entities looks there whether
  // the entity has rows still.  `labels`: the values of series.labels, "" where it has none.  May be null.
  std::function<absl::Status(const KnownSeries& series, const std::vector<std::string>& labels)> deleted;
};

struct DeletedCounts {
  // Of which there were samples in the time, once for each set that means them; of a declared series as often as rows of others lie between.
  int64_t entities = 0;
  int64_t rows = 0;
};

}  // namespace sonde::series
