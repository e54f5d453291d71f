// What all routes of series share: the store, the series that are known, and how much may be under way.
//
// Threads: all functions may be called at once.
#pragma once

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/admission.h"
#include "base/clock.h"
#include "model/table_access.h"
#include "series/write/declarations.h"
#include "series/write/ingest_batch.h"
#include "web/router.h"

namespace sonde::series {

// Of a request's body, decoded.
constexpr size_t kIngestBodyBytesMax = 64 << 20;
// What a body is counted as whose length is not known beforehand.
constexpr int64_t kIngestBodyBytesUsual = 8 << 20;
constexpr int64_t kIngestRequestsMax = 64;
constexpr int kRetryAfterSeconds = 1;

class IngestService {
 public:
  struct Settings {
    IngestSettings ingest;
    int64_t bytes_under_way_max = 256 << 20;
  };

  // `clock` must outlive it.  An error of the store, or DATA_LOSS, as Declarations::Load.
  static absl::StatusOr<std::unique_ptr<IngestService>> Open(std::unique_ptr<TableAccess> tables,
                                                             const Clock* clock, Settings settings);

  // Line protocol, Prometheus and JSON; it must outlive the router.
  void AddRoutes(Router* router);

  TableAccess& tables() { return *tables_; }
  Declarations& declarations() { return declarations_; }
  const Clock& clock() const { return *clock_; }
  const IngestSettings& ingest_settings() const { return settings_.ingest; }

  // Room for the body of this request.  UNAVAILABLE: there is none now.
  absl::StatusOr<Admission::Place> Admit(const HttpRequest& request);

 private:
  IngestService(std::unique_ptr<TableAccess> tables, const Clock* clock, Settings settings);

  const std::unique_ptr<TableAccess> tables_;
  const Clock* const clock_;
  const Settings settings_;
  Declarations declarations_;
  Admission admission_;
};

// `status` came from the store or from Admit: whether the same request may succeed later.
bool IsPassing(const absl::Status& status);
// Adds Retry-After.
void AskToRetry(HttpResponse* response);

void AddInfluxRoutes(IngestService* service, Router* router);
void AddPrometheusRoutes(IngestService* service, Router* router);
void AddSeriesRoutes(IngestService* service, Router* router);

}  // namespace sonde::series
