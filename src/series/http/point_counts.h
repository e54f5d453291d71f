// How many points came over HTTP: written, by series and by the way that they came; refused, by reason; and the newest of each
// series.
//
// Threads: PointCounts' functions may be called at once; a PointTally is for one thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "metrics/figure.h"

namespace sonde::series {

// The ways by which points come.
inline constexpr std::string_view kSenderInflux = "influx";
inline constexpr std::string_view kSenderPrometheus = "prometheus";
inline constexpr std::string_view kSenderJson = "json";
inline constexpr std::string_view kSenderCsv = "csv";
inline constexpr std::string_view kSenderImport = "import";

class PointCounts {
 public:
  // Further series are counted together, as kOtherSeries.
  static constexpr size_t kSeriesMax = 1'000;
  static constexpr std::string_view kOtherSeries = "(other)";

  enum class Refusal : uint8_t { kUnreadable, kInvalid, kUndeclared, kTooMany, kHistogram, kCount };
  // INVALID_ARGUMENT kInvalid, FAILED_PRECONDITION kUndeclared, RESOURCE_EXHAUSTED kTooMany.
  static Refusal RefusalOf(const absl::Status& status);

  struct Written {
    uint64_t points = 0;
    int64_t newest_micros = 0;
  };
  void AddWritten(std::string_view series, std::string_view sender, const Written& written);
  void AddRefused(Refusal why, uint64_t points);

  // sonde_points_total, sonde_points_refused_total, sonde_points_newest_seconds.
  std::vector<Figure> Figures() const;

 private:
  mutable absl::Mutex mutex_;
  // By series and sender.
  std::map<std::pair<std::string, std::string>, Written> written_ ABSL_GUARDED_BY(mutex_);
  std::array<uint64_t, static_cast<size_t>(Refusal::kCount)> refused_ ABSL_GUARDED_BY(mutex_) = {};
};

// The points of one request, which count as soon as they are written.
class PointTally {
 public:
  // `counts` must outlive it.
  PointTally(PointCounts* counts, std::string_view sender) : counts_(counts), sender_(sender) {}

  void Add(std::string_view series, int64_t time_micros);
  void Refuse(PointCounts::Refusal why, uint64_t points = 1) { counts_->AddRefused(why, points); }
  // All that were added are written.
  void Commit();

 private:
  PointCounts* const counts_;
  const std::string sender_;
  std::map<std::string, PointCounts::Written, std::less<>> added_;
  std::map<std::string, PointCounts::Written, std::less<>>::iterator last_ = added_.end();
};

}  // namespace sonde::series
