// Measures candidates for a declaration on a sample, and says which to take.
//
// Each candidate is loaded into a store of its own; then the ranked queries run, each several times with tags
// and times of the sample.  Three things are compared: the cells that the queries read, bytes a point, and
// the share of writes on the hottest tablet.  These are counted, so that the same sample always gets the same
// advice.  The time that the queries took is told, but on a small sample it is noise.
//
// Threads: not for several threads.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/table_access.h"
#include "series/advise/candidates.h"
#include "series/advise/sample.h"
#include "series/schema/schema.h"

namespace sonde::series {

// A store that is there for one measure.
class TrialStore {
 public:
  virtual ~TrialStore() = default;
  virtual TableAccess* tables() = 0;
  // The bytes that the stored points take, once the store has settled.
  virtual absl::StatusOr<int64_t> StoredBytes() = 0;
};
using TrialStoreFactory = std::function<absl::StatusOr<std::unique_ptr<TrialStore>>()>;

struct AdviceOptions {
  size_t candidates_max = 12;
  size_t tablets = 10;
  int runs_per_query = 5;
};

struct QueryMeasure {
  std::string text;
  double milliseconds = 0;  // the median of the runs
  // Means of the runs:
  double ranges = 0;
  double rows = 0;
  double cells = 0;
  double value_bytes = 0;
  double results = 0;
  bool is_full_scan = false;
};

struct CandidateMeasure {
  Candidate candidate;
  double bytes_per_point = 0;
  double points_per_second = 0;  // written, in process, not synced
  int64_t rows = 0;              // of the sample
  int64_t cells = 0;
  double rows_per_series_day = 0;
  int64_t largest_row_bytes = 0;  // names, timestamps and values, before packing
  std::string largest_row_key;
  int64_t largest_cell_bytes = 0;
  double hottest_share = 0;
  std::vector<QueryMeasure> queries;
  double cost = 0;  // the smaller, the better
};

struct Advice {
  int64_t points = 0;
  int64_t series = 0;
  // The best first; those whose key is hot come behind all others.
  std::vector<CandidateMeasure> measures;
  std::string recommendation;  // two sentences
};

// Queries of the declaration that say what they fix; where there is none, one series for a day and the newest
// of all. INVALID_ARGUMENT: an empty sample.  Errors of the stores.  `progress`: before each candidate.
absl::StatusOr<Advice> Advise(const SeriesSchema& schema, const Sample& sample,
                              const TrialStoreFactory& stores, const AdviceOptions& options,
                              const std::function<void(const std::string&)>& progress);

// The size of all series of the declaration a day, from a measure: rows, cells, bytes, nodes.  Empty if the
// declaration does not say how many series there are or how often they have points.
std::string SizingText(const SeriesSchema& schema, const CandidateMeasure& measure);

// The whole advice, as tables for people; or as JSON, an object.
std::string AdviceText(const SeriesSchema& schema, const Advice& advice);
std::string AdviceJson(const SeriesSchema& schema, const Advice& advice);

}  // namespace sonde::series
