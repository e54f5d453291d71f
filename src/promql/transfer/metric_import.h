// Writes samples that come as text, piece by piece: lines of JSON, or OpenMetrics.
//
// A line that is wrong is refused and told with its number; the others are written.  What is written before an error stays: the
// same text can be sent again.
//
// Threads: not for several threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "base/admission.h"
#include "promql/transfer/import_line.h"
#include "promql/transfer/metric_export.h"
#include "series/http/ingest_service.h"
#include "series/http/sample_write.h"

namespace sonde::promql {

constexpr size_t kImportLineBytesMax = size_t{8} << 20;
constexpr size_t kImportProblemsMax = 20;  // that are told

struct ImportProblem {
  int64_t line = 0;  // from 1 on
  std::string reason;
};

class MetricImport {
 public:
  // `service` must outlive it.  `place`: the room that the request has; it grows with the longest line.
  MetricImport(series::IngestService* service, TransferFormat format, Admission::Place* place);

  // The next bytes of the text.  An error of the store; UNAVAILABLE: there is no room for a line now.
  absl::Status Add(std::string_view bytes);
  // The text has ended.
  absl::Status Finish();

  int64_t lines() const { return lines_; }                  // without empty ones
  int64_t refused_lines() const { return refused_lines_; }  // something of each was refused
  int64_t samples() const { return samples_.written(); }
  int64_t refused_samples() const { return samples_.refused(); }
  int64_t passed_over() const { return samples_.passed_over(); }
  const std::vector<ImportProblem>& problems() const { return problems_; }

 private:
  // Bytes of a line that is not whole.
  absl::Status Keep(std::string_view bytes);
  absl::Status AddLine(std::string_view line);
  absl::Status AddOpenMetrics(std::string_view line);
  absl::Status AddSeries(const ImportedSeries& series);
  void TakeMetadata(OpenMetricsLine line);
  void Refuse(const std::string& why);

  series::IngestService* const service_;
  const TransferFormat format_;
  Admission::Place* const place_;
  std::vector<ImportProblem> problems_;
  series::SampleWrite samples_;
  std::string rest_;           // the begin of a line
  bool is_too_long_ = false;   // ... of which nothing is kept any more
  int64_t line_number_ = 0;    // of the line at hand
  int64_t refused_line_ = -1;  // the last one of which something was refused
  int64_t lines_ = 0;
  int64_t refused_lines_ = 0;
  bool has_ended_ = false;  // OpenMetrics: its end has come
  OpenMetricsLine parsed_;
  std::map<std::string, series::MetricMetadata> metadata_;
};

}  // namespace sonde::promql
