#include "metrics/query_metrics.h"

#include <algorithm>
#include <utility>

namespace sonde {

void QueryMetrics::Record(EndedQuery query) {
  constexpr auto kOrder = std::memory_order_relaxed;
  rows_.fetch_add(query.rows, kOrder);
  bytes_.fetch_add(query.bytes, kOrder);
  rows_scanned_.fetch_add(query.rows_scanned, kOrder);
  if (query.took < kSlow) return;
  const absl::MutexLock lock(&mutex_);
  std::erase_if(slow_, [&](const EndedQuery& one) { return query.ended - one.ended > kSlowFor; });
  const auto behind = std::upper_bound(slow_.begin(), slow_.end(), query,
                                       [](const auto& a, const auto& b) { return a.took > b.took; });
  slow_.insert(behind, std::move(query));
  if (slow_.size() > kSlowMax) slow_.pop_back();
}

std::vector<EndedQuery> QueryMetrics::Slowest(absl::Time now) const {
  const absl::MutexLock lock(&mutex_);
  std::vector<EndedQuery> slow = slow_;
  std::erase_if(slow, [&](const EndedQuery& one) { return now - one.ended > kSlowFor; });
  return slow;
}

std::vector<Figure> QueryMetrics::Figures() const {
  const auto number = [](const auto& count) {
    return static_cast<double>(count.load(std::memory_order_relaxed));
  };
  return {Figure::Counter("sonde_sql_rows_returned_total", "Rows that queries in SQL have returned.")
              .Add(number(rows_)),
          Figure::Counter("sonde_sql_bytes_returned_total", "Bytes of the answers of queries in SQL.")
              .Add(number(bytes_)),
          Figure::Counter("sonde_sql_rows_scanned_total",
                          "Rows of tables that queries in SQL have read, also those that a filter dropped.")
              .Add(number(rows_scanned_)),
          Figure::Gauge("sonde_sql_memory_bytes", "Memory that the operators of running queries hold.")
              .Add(number(held_bytes_))};
}

}  // namespace sonde
