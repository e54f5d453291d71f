#include "series/http/ingest_service.h"

#include <charconv>
#include <utility>

namespace sonde::series {

IngestService::IngestService(std::unique_ptr<TableAccess> tables, const Clock* clock, Settings settings)
    : tables_(std::move(tables)),
      clock_(clock),
      settings_(settings),
      declarations_(tables_.get(), clock),
      admission_("ingest requests", {kIngestRequestsMax, settings.bytes_under_way_max}) {}

absl::StatusOr<std::unique_ptr<IngestService>> IngestService::Open(std::unique_ptr<TableAccess> tables,
                                                                   const Clock* clock, Settings settings) {
  std::unique_ptr<IngestService> service(new IngestService(std::move(tables), clock, settings));
  if (absl::Status status = service->declarations_.Load(); !status.ok()) return status;
  return service;
}

void IngestService::AddRoutes(Router* router) {
  AddInfluxRoutes(this, router);
  AddPrometheusRoutes(this, router);
  AddSeriesRoutes(this, router);
}

absl::StatusOr<Admission::Place> IngestService::Admit(const HttpRequest& request) {
  int64_t bytes = kIngestBodyBytesUsual;
  const std::optional<std::string> length = request.Header("content-length");
  if (length && !request.Header("content-encoding")) {
    int64_t told = 0;
    const auto [end, error] = std::from_chars(length->data(), length->data() + length->size(), told);
    if (error == std::errc() && told >= 0) bytes = told;
  }
  return admission_.Admit(bytes);
}

bool IsPassing(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsAborted(status) || absl::IsDeadlineExceeded(status);
}

void AskToRetry(HttpResponse* response) {
  response->headers.emplace_back("Retry-After", std::to_string(kRetryAfterSeconds));
}

}  // namespace sonde::series
