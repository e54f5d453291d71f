// Facts about queries in SQL that have ended, and the slowest of them.  How many there were, how they ended and how long they
// took is in RequestMetrics, as of all requests.
//
// Threads: all functions may be called at once.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "metrics/figure.h"

namespace sonde {

struct EndedQuery {
  std::string text;    // as much of the query as is to be shown
  std::string method;  // "ExecuteQuery", "POST /api/v1/sql"
  absl::StatusCode code = absl::StatusCode::kOk;
  absl::Time ended;
  absl::Duration took;
  uint64_t rows = 0;          // that were returned
  uint64_t bytes = 0;         // of the answer
  uint64_t rows_scanned = 0;  // of tables
  uint64_t memory_bytes = 0;  // the most that its operators held
};

class QueryMetrics {
 public:
  // The list of slow queries has so many, each for so long.
  static constexpr size_t kSlowMax = 50;
  static constexpr absl::Duration kSlowFor = absl::Hours(24);
  // A query that took less is not slow.
  static constexpr absl::Duration kSlow = absl::Milliseconds(100);

  void Record(EndedQuery query);
  // The operators of a query hold so many bytes more, or fewer.
  void Hold(int64_t more_bytes) { held_bytes_.fetch_add(more_bytes, std::memory_order_relaxed); }

  // The slowest of the last kSlowFor; the slowest comes first.
  std::vector<EndedQuery> Slowest(absl::Time now) const;
  // sonde_sql_rows_returned_total, ...
  std::vector<Figure> Figures() const;

 private:
  std::atomic<uint64_t> rows_ = 0;
  std::atomic<uint64_t> bytes_ = 0;
  std::atomic<uint64_t> rows_scanned_ = 0;
  std::atomic<int64_t> held_bytes_ = 0;
  mutable absl::Mutex mutex_;
  std::vector<EndedQuery> slow_ ABSL_GUARDED_BY(mutex_);  // the slowest comes first
};

}  // namespace sonde
