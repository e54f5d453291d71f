// All samples of some series as text, made while somebody takes it.
//
// Series come one by one, in pieces: of each, so many samples at a time as a batch of points has.  Lines of JSON come by the name of
// the known series; OpenMetrics by the name of the metric.  What is written meanwhile may be among them, or not.
//
// Ownership: it owns what it writes, and keeps the tables until it ends.
// Threads: not for several threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/table_access.h"
#include "promql/syntax/matcher.h"
#include "promql/transfer/metric_text.h"
#include "series/known/declarations.h"
#include "series/metric/metric_reader.h"
#include "series/metric/metric_scan.h"
#include "series/query/point_stream.h"

namespace sonde::promql {

enum class TransferFormat : uint8_t { kJsonLines, kOpenMetrics };

class MetricExport {
 public:
  using Metadata = std::map<std::string, series::MetricMetadata>;

  // Series that fulfil all matchers of one of `sets`, each once; a set may be empty, which all series fulfil.  `read`: all but matchers.
  MetricExport(std::vector<series::KnownSeriesRef> known, std::vector<std::vector<Matcher>> sets,
               series::MetricRead read, TransferFormat format, Metadata metadata,
               std::shared_ptr<TableAccess> tables);

  // As HttpResponse::stream.  Errors: those of RunQuery.
  absl::StatusOr<bool> Next(std::string* part);

 private:
  // What is exported one behind the other.
  struct Unit {
    std::vector<series::KnownSeriesRef> known;
    std::string metric;  // the only one; empty: all of them
  };
  struct Scan {
    series::MetricScan scan;
    size_t set = 0;           // which of sets_ has found it
    bool is_derived = false;  // of a derived table
  };

  void ListMetricUnits(const std::vector<series::KnownSeriesRef>& known);
  absl::Status BeginUnit(const Unit& unit);
  // Opens the stream of the next scan; false: there is none.
  absl::StatusOr<bool> BeginScan();
  // Some rows of the batch at hand.
  void AppendRows(std::string* part);
  void AppendMetric(size_t metric, size_t begin, size_t end, std::string* part);
  // Whether a set before that of the scan at hand has the series.
  bool WasBefore(const Labels& labels) const;

  const std::vector<std::vector<Matcher>> sets_;
  const series::MetricRead read_;
  const TransferFormat format_;
  const Metadata metadata_;
  const std::shared_ptr<TableAccess> tables_;
  std::deque<Unit> units_;  // that are still to come
  std::deque<Scan> scans_;  // of the unit at hand; the first is that of stream_
  std::unique_ptr<series::PointStream> stream_;
  rows::Batch batch_;
  size_t row_ = 0;       // of batch_, the first that is to come
  std::string head_of_;  // the metric whose head was written last
  bool has_ended_ = false;
};

}  // namespace sonde::promql
