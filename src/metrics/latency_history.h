// How long requests took, over time: 10 s by 10 s for an hour, minute by minute for two weeks.
//
// The history is kept on disk (docs/formats/latency.md), so that it outlives a restart; nothing of it is synced.
//
// Threads: all functions may be called at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "metrics/request_metrics.h"

namespace sonde {

// Requests of a stretch of time.
struct LatencyCounts {
  uint64_t errors = 0;
  RequestMetrics::Buckets buckets{};  // as RequestMetrics::Method's

  uint64_t requests() const;
  void Add(const LatencyCounts& other);
};

class LatencyHistory {
 public:
  static constexpr int64_t kShortStep = 10, kShortKept = 3'600;
  static constexpr int64_t kLongStep = 60, kLongKept = 14 * 24 * 3'600;
  // Points of an answer.
  static constexpr size_t kPointsMax = 720;
  // More methods than so many in a minute are counted together, as "other".
  static constexpr size_t kMethodsMax = 64;

  // Takes up what an earlier run has left in `directory`, which is made if it is not there; what is torn or damaged is left out.
  // An empty `directory`: nothing is kept on disk.  PERMISSION_DENIED, RESOURCE_EXHAUSTED as the file system says.
  static absl::StatusOr<std::unique_ptr<LatencyHistory>> Open(std::filesystem::path directory,
                                                              int64_t now_seconds);
  // Writes the minute that is not over.
  ~LatencyHistory();

  // Takes over what the requests have come to since the last call: once in kShortStep.  `now_seconds` ascends.
  void Tick(const RequestMetrics& requests, int64_t now_seconds);

  struct Point {
    int64_t start_seconds = 0;  // since 1970
    LatencyCounts counts;
  };
  struct Answer {
    int64_t step_seconds = 0;
    std::vector<Point> points;  // ascending; those without requests are left out
  };
  // What ended in [end - seconds, end), in steps of which there are at most kPointsMax.  An empty method: all but
  // those that a page makes by itself, which are GETs of other things than answers to queries.
  Answer Read(int64_t end_seconds, int64_t seconds, std::string_view method) const;
  // Those with requests in that time, by name.
  std::vector<std::string> ListMethods(int64_t end_seconds, int64_t seconds) const;

 private:
  using ByMethod = std::map<std::string, LatencyCounts, std::less<>>;
  struct Slot {
    int64_t start_seconds = 0;
    ByMethod methods;
  };
  explicit LatencyHistory(std::filesystem::path directory) : directory_(std::move(directory)) {}

  void Load(int64_t now_seconds) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void EndMinute() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Write(const Slot& slot) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Expire(int64_t now_seconds) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  template <typename See>
  void Visit(int64_t end_seconds, int64_t seconds, const See& visit) const ABSL_SHARED_LOCKS_REQUIRED(mutex_);

  const std::filesystem::path directory_;
  mutable absl::Mutex mutex_;
  ByMethod before_ ABSL_GUARDED_BY(mutex_);               // the sums at the last tick
  std::deque<Slot> short_ ABSL_GUARDED_BY(mutex_);        // ascending
  std::deque<std::string> long_ ABSL_GUARDED_BY(mutex_);  // packed, ascending
  Slot minute_ ABSL_GUARDED_BY(mutex_);                   // not over yet
};

}  // namespace sonde
