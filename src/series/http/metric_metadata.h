// What senders say about metrics: their type, a text that explains them, their unit.
//
// It is kept in table kDeclarationsTable, in the row of the metric's name (of a histogram, the name without _bucket), column
// "metadata": {"type": "counter", "help": "...", "unit": ""}, always at time 0.  A metric that has it need not have a series of its
// name.  Nothing is said about a metric of which no sender has said something.
//
// Threads: all functions may be called at once.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "model/table_access.h"

namespace sonde::series {

// Further metrics get none, and longer texts are cut: metadata explains, and nothing depends on it.
constexpr size_t kMetricsWithMetadataMax = 100'000;
constexpr size_t kHelpBytesMax = 4'096;
constexpr size_t kUnitBytesMax = 256;

struct MetricMetadata {
  std::string type;  // as Prometheus names it: counter, gauge, histogram, summary, unknown, ...
  std::string help;
  std::string unit;

  bool operator==(const MetricMetadata&) const = default;
};

class MetadataStore {
 public:
  // `tables` must outlive this.
  explicit MetadataStore(TableAccess* tables) : tables_(tables) {}

  // Keeps what is new, or other than before; most calls find nothing of it, and do not go to the store.  Metrics whose name is empty, too
  // long or not UTF-8 are passed over.
  absl::Status Keep(std::map<std::string, MetricMetadata> all) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  TableAccess* const tables_;
  absl::Mutex mutex_;  // held while the store is read or written: changes come one after the other
  bool is_read_ ABSL_GUARDED_BY(mutex_) = false;
  absl::flat_hash_map<std::string, MetricMetadata> known_ ABSL_GUARDED_BY(mutex_);
};

// What the store has, by metric; only of `metric` unless it is empty.  What this build does not understand is left out.
absl::StatusOr<std::map<std::string, MetricMetadata>> ReadMetadata(std::string_view metric,
                                                                   TableAccess* tables);

// The metric that the metadata of a series is about: of a histogram or summary, without the ending of its parts.
std::string FamilyOf(std::string_view metric, std::string_view type);

}  // namespace sonde::series
