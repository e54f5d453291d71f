// Samples of Prometheus' series into the tables: what remote write and imports have in common.
//
// A metric is a series with the one field `value`; __name__ names it.  NaN and infinities become marks (metric_mark.h), points of the field
// kStaleField, where the series is open or declares that field; else they are passed over.
//
// Threads: not for several threads.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "series/http/ingest_service.h"
#include "series/input/ingest_batch.h"
#include "series/input/line_protocol.h"
#include "series/metric/metric_mark.h"

namespace sonde::series {

class SampleWrite {
 public:
  // Why a sample is not written, and of which kind the reason is; the samples beside it are.
  using Refused = std::function<void(const std::string& why)>;

  // `service` must outlive it.  `sender`: as point_counts.h has them.
  SampleWrite(IngestService* service, std::string_view sender, Refused refused);

  // The series of the samples that follow.  The views must hold until the next call of it, or of Flush.
  void Begin(const std::vector<std::pair<std::string_view, std::string_view>>& labels);
  // An error of the store ends the writing.
  absl::Status Add(int64_t timestamp_millis, double value);
  // Writes what is gathered; Add does so from time to time.
  absl::Status Flush();

  int64_t written() const { return batch_.points(); }
  int64_t refused() const { return refused_; }
  // NaN and infinities where nobody keeps them.
  int64_t passed_over() const { return passed_over_; }
  PointTally& tally() { return tally_; }

 private:
  // Whether the series at hand takes the mark: no declaration is asked for what it does not have, and what says that a series has ended
  // opens none.  Errors: those of Declarations::Extend.
  absl::StatusOr<bool> TakesMark(MetricMark mark);
  absl::Status AddPoint(int64_t timestamp_millis);
  void Refuse(PointCounts::Refusal kind, const std::string& why);

  Declarations* const declarations_;
  const bool takes_undeclared_;
  IngestBatch batch_;
  PointTally tally_;
  const Refused tell_;
  IngestPoint point_;                   // of the series at hand
  std::string problem_;                 // of the series at hand; empty: there is none
  std::string identity_;                // of the series at hand
  std::deque<std::string> identities_;  // until the flush
  bool is_identity_kept_ = false;       // ... among these
  std::vector<std::pair<std::string_view, std::string_view>> labels_;
  std::vector<LineField> fields_;
  int64_t refused_ = 0;
  int64_t passed_over_ = 0;
};

}  // namespace sonde::series
