// How many requests there were, how they ended and how long they took.
//
// Threads: all functions may be called at once.  Cost of one request: a look-up and some atomic additions.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "metrics/failed_calls.h"
#include "metrics/recent_callers.h"
#include "metrics/slow_calls.h"
#include "metrics/text_writer.h"

namespace sonde {

class RequestMetrics {
 public:
  static constexpr size_t kMethodsMax = 256;
  // Upper bounds of the histogram's buckets, in seconds; one more is without bound.
  static constexpr std::array<double, 16> kBounds = {
      0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60};
  static constexpr size_t kCodes = 17;

  void Record(std::string_view method, absl::StatusCode code, int64_t micros);
  // The slow ones among the requests, which whoever records a request notes by himself.
  SlowCalls* slow_calls() { return &slow_calls_; }
  const SlowCalls& slow_calls() const { return slow_calls_; }
  // The same of those that failed.
  FailedCalls* failed_calls() { return &failed_calls_; }
  const FailedCalls& failed_calls() const { return failed_calls_; }
  // Who asks, noted likewise.
  RecentCallers* callers() { return &callers_; }
  const RecentCallers& callers() const { return callers_; }

  using Buckets = std::array<uint64_t, kBounds.size() + 1>;
  // The time within which a part `q` in [0, 1] of the requests ended; about: somewhere in its bucket.
  static double QuantileSeconds(const Buckets& buckets, double q);
  struct Method {
    std::string name;
    std::array<uint64_t, kCodes> by_code{};  // absl::StatusCode
    Buckets buckets{};                       // not cumulative
    uint64_t micros = 0;                     // sum
    uint64_t requests() const;
    double QuantileSeconds(double q) const { return RequestMetrics::QuantileSeconds(buckets, q); }
  };
  // By name.
  std::vector<Method> Snapshot() const;

  // sonde_requests_total{method,code} and sonde_request_duration_seconds{method}.
  void Write(MetricText* text) const;

 private:
  struct Counters {
    std::array<std::atomic<uint64_t>, kCodes> by_code{};
    std::array<std::atomic<uint64_t>, kBounds.size() + 1> buckets{};
    std::atomic<uint64_t> micros = 0;
  };
  Counters* Find(std::string_view method);

  SlowCalls slow_calls_;
  FailedCalls failed_calls_;
  RecentCallers callers_;
  mutable absl::Mutex mutex_;
  std::map<std::string, std::unique_ptr<Counters>, std::less<>> methods_
      ABSL_GUARDED_BY(mutex_);  // never shrinks
};

}  // namespace sonde
