// Samples by series, of the points that a MetricScan gives.
//
// Points of one series come by time; several scans may have points of one series (metric_reader.h).  Parts of a scan are collected
// by collectors of their own, on several threads, and joined in the order of the parts.
//
// Memory: `hold` is told of it in steps; what a collector told stays told when it goes, unless it is cleared.
// Threads: a collector belongs to one.
// Errors: RESOURCE_EXHAUSTED: more samples or series than MetricRead allows; those of `hold`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "promql/samples/labels.h"
#include "promql/samples/samples.h"
#include "rows/batch.h"
#include "series/metric/found_samples.h"
#include "series/metric/metric_read.h"
#include "series/metric/metric_scan.h"

namespace sonde::series {

class SampleCollector {
 public:
  // `read` must outlive it.
  explicit SampleCollector(const MetricRead& read) : read_(read) {}

  // Columns of the batch: tags, the time, the fields of scan.query.
  absl::Status Add(const MetricScan& scan, const rows::Batch& batch);
  // Call it where another scan begins.
  void ForgetPlaces() { last_places_.clear(); }
  // Takes all from `part`, whose points lie behind those that are here.
  absl::Status Join(SampleCollector* part);
  // Forgets all, and gives back what was told.
  void Clear();
  // The series that have samples, sorted by labels.  Nothing may be added any more.
  std::vector<promql::SampleSeries> Take();
  int64_t told_bytes() const { return told_bytes_; }

 private:
  absl::Status FindSeries(const MetricScan& scan, const rows::Batch& batch, size_t row);
  // The place of the series with these labels, in found_, which is a new one if there is none.
  absl::StatusOr<size_t> PlaceOf(promql::Labels labels);
  // Tells of memory in steps.
  absl::Status Account(int64_t bytes);

  const MetricRead& read_;
  int64_t samples_ = 0;
  absl::flat_hash_map<promql::Labels, size_t> place_of_;
  std::vector<FoundSamples> found_;
  // Of the tags that came last: one place in found_ for each metric.
  std::string last_tags_;
  std::vector<size_t> last_places_;
  int64_t untold_bytes_ = 0;
  int64_t told_bytes_ = 0;
};

}  // namespace sonde::series
