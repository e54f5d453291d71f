// Which samples of known series are asked for, and within which limits.
#pragma once

#include <cstdint>
#include <vector>

#include "promql/syntax/matcher.h"
#include "rows/held_memory.h"
#include "rows/work_check.h"
#include "work/idle_workers.h"

namespace sonde::series {

class EntityIndex;

struct MetricRead {
  std::vector<promql::Matcher> matchers;
  int64_t start_millis = 0;
  int64_t end_millis = 0;  // included
  int64_t now_micros = 0;  // which points are forgotten goes by it
  int64_t samples_max = 0;
  int64_t series_max = 0;
  int64_t sample_bytes = 0;  // what a sample counts as, told to `hold`
  rows::Interrupted interrupted;
  rows::Hold hold;
  IdleWorkers* idle_workers = nullptr;  // null: one thread does all
  EntityIndex* index = nullptr;         // null: keys alone say which rows are read
};

}  // namespace sonde::series
