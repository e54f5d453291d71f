// What queries read: series with their samples, and where they come from.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "promql/samples/labels.h"
#include "promql/syntax/matcher.h"
#include "work/idle_workers.h"

namespace sonde::promql {

// The bits of the NaN that says that a series has ended; every other NaN is a value.
constexpr uint64_t kStaleBits = 0x7FF0000000000002;

inline bool IsStale(double value) { return std::bit_cast<uint64_t>(value) == kStaleBits; }

struct SampleSeries {
  Labels labels;
  std::vector<int64_t> times;  // milliseconds since 1970, rising
  std::vector<double> values;  // one a time
};

// Takes the samples out that are stale markers.
void DropStale(SampleSeries* series);

// What becomes of series, one after the other.  Not for several threads.
class SeriesSink {
 public:
  virtual ~SeriesSink() = default;
  // `series` has all its samples.  It may be changed, and is the caller's again when this returns.
  virtual absl::Status Take(SampleSeries* series) = 0;
};

// How series are visited in parts, by several threads at once.
struct SeriesVisit {
  // Makes a sink for the series of a part; called by several threads at once.
  std::function<std::unique_ptr<SeriesSink>()> make;
  // Gets the sinks that have all series of their part, one after the other, on the thread of the visit.
  std::function<absl::Status(SeriesSink* sink)> take;
  // Told how many samples are in memory, where all of them are before the first sink gets any; an error ends the visit.  May be null.
  std::function<absl::Status(int64_t samples)> loaded;
  // What a series costs a sink beside its samples, about in samples that are looked at once.
  size_t series_work = 0;
  IdleWorkers* idle_workers = nullptr;  // null: one thread does all
};

class SampleSource {
 public:
  virtual ~SampleSource() = default;

  // Series that fulfil all `matchers`, sorted by their labels, each once, with their samples of [start, end], both
  // inclusive.  A series without samples there may be left out.  Errors of the store; INVALID_ARGUMENT: the
  // series cannot be told apart; RESOURCE_EXHAUSTED: there are too many of them.
  virtual absl::StatusOr<std::vector<SampleSeries>> Select(const std::vector<Matcher>& matchers,
                                                           int64_t start_millis, int64_t end_millis) = 0;

  // Gives the series of Select to sinks, in any order: for questions that make little of many samples, which need not be in memory at
  // once.  A sink whose series had an error may be made again.  Errors: those of Select, of the sinks and of visit.take.
  virtual absl::Status ForEach(const std::vector<Matcher>& matchers, int64_t start_millis, int64_t end_millis,
                               const SeriesVisit& visit);

  // The name of the rows that all series of a metric lie in.  Metrics whose rows have one name are read at once by ForEachOf.  Nothing:
  // series of the metric may lie elsewhere, too.
  virtual std::optional<std::string> RowsOf(std::string_view metric);
  // As ForEach, the series of all these metrics, each once, whose labels fulfil `matchers`, which are of labels but for the metric's.
  // There is a metric, and RowsOf gives one name for all.  What a source refuses of each selector, it refuses of each metric.
  virtual absl::Status ForEachOf(const std::vector<std::string>& metrics,
                                 const std::vector<Matcher>& matchers, int64_t start_millis,
                                 int64_t end_millis, const SeriesVisit& visit);
};

// SeriesVisit::series_work of rows with so many steps.
size_t SeriesWork(size_t steps);

}  // namespace sonde::promql
