// The series of instances, for the binder of queries.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "series/index/entity_index.h"
#include "series/index/write/index_writer.h"
#include "sql/plan/plan.h"
#include "table/local_tables.h"
#include "table/tables.h"

namespace sonde::sql {

// What it finds has the index of series, for questions and for INSERT.
//
// Threads: all functions may be called at once.
// Cost: a read of one row; a declaration is parsed once.
class SeriesFinder {
 public:
  // `tables` must outlive this.
  explicit SeriesFinder(Tables* tables);

  // `instance`: projects/P/instances/I.  NOT_FOUND: it has no series of this name.
  absl::StatusOr<FoundSeries> Find(const std::string& instance, std::string_view name);
  // Whether the series is still declared so.
  bool IsCurrent(const FoundSeries& series);

 private:
  // Bounds what is kept.
  static constexpr size_t kSeriesMax = 1'000;
  static constexpr size_t kIndexCacheBytes = size_t{32} << 20;

  struct InstanceIndex {
    InstanceIndex(Tables* of_instances, const std::string& instance);

    LocalTables tables;
    series::IndexWriter writer;
  };

  // Made for the first one who asks.
  series::IndexWriter* IndexWriterOf(const std::string& instance) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // Nothing: there is none.
  absl::StatusOr<std::optional<FoundSeries>> FindNow(const std::string& instance, std::string_view name);

  Tables tables_;  // without an observer
  series::EntityIndex index_{kIndexCacheBytes};
  absl::Mutex mutex_;
  // By instance; never taken away.
  std::map<std::string, std::unique_ptr<InstanceIndex>> indexes_ ABSL_GUARDED_BY(mutex_);
  std::map<std::pair<std::string, std::string>, FoundSeries> kept_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sonde::sql
