// Prometheus' HTTP API over the series of a store: docs/http-prometheus.md describes it.
//
// All paths lie below /api/v1 and below /prometheus/api/v1.  GET /api/v1/series is Sonde's own without match[].
// Threads: all functions may be called at once.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "promql/http/api_form.h"
#include "promql/syntax/parse_options.h"
#include "series/http/ingest_service.h"
#include "series/http/query_memory.h"
#include "series/metric/metric_reader.h"
#include "web/http/router.h"

namespace sonde::promql {

// The language and the forms are those of this version of Prometheus.
constexpr char kPrometheusVersion[] = "3.14.0";
// Of a range query, as there.
constexpr int64_t kStepsMax = 11'000;
// Values that a query holds at once, as there.
constexpr int64_t kQuerySamplesMax = 50'000'000;
constexpr absl::Duration kQueryTimeMax = absl::Minutes(2);
// Of the lists of status/tsdb, as there.
constexpr int64_t kStatusLimitUsual = 10;
constexpr int64_t kStatusLimitMax = 10'000;
// Series count for status/tsdb that have samples within so much time, unless it is asked for another.
constexpr int64_t kStatusSpanMillis = 24 * 3'600 * 1'000;

struct PrometheusSettings {
  std::string series_instance;  // the resource that holds all series, for access control
  std::string sonde_version;
  ParseOptions parse;
};

class PrometheusApi {
 public:
  // `service` must outlive this.
  PrometheusApi(series::IngestService* service, PrometheusSettings settings)
      : service_(service), settings_(std::move(settings)) {}

  // This must outlive the router.
  void AddRoutes(Router* router) const;

  // GET /api/v1/series with match[], which another route has found.  PERMISSION_DENIED: the caller may list series, but
  // not read them.
  absl::Status AnswerSeriesOfMatchers(const HttpRequest& request, HttpResponse* response) const;

 private:
  using Handler = absl::Status (PrometheusApi::*)(const HttpRequest& request, const ApiForm& form,
                                                  HttpResponse* response) const;
  void AddRoute(const std::string& method, const std::string& path, Handler handler, Router* router) const;

  // Queries (query_routes.cc).
  absl::Status Query(const HttpRequest& request, const ApiForm& form, HttpResponse* response) const;
  absl::Status QueryRange(const HttpRequest& request, const ApiForm& form, HttpResponse* response) const;
  absl::Status FormatQuery(const HttpRequest& request, const ApiForm& form, HttpResponse* response) const;
  absl::Status ParseQuery(const HttpRequest& request, const ApiForm& form, HttpResponse* response) const;
  absl::Status QueryExemplars(const HttpRequest& request, const ApiForm& form, HttpResponse* response) const;

  // Labels and their values (label_routes.cc).
  absl::Status Series(const HttpRequest& request, const ApiForm& form, HttpResponse* response) const;
  absl::Status LabelNames(const HttpRequest& request, const ApiForm& form, HttpResponse* response) const;
  absl::Status LabelValues(const HttpRequest& request, const ApiForm& form, HttpResponse* response) const;

  // What there is of series, and what senders say about them (status_routes.cc).
  absl::Status TsdbStatus(const HttpRequest& request, const ApiForm& form, HttpResponse* response) const;
  absl::Status Metadata(const HttpRequest& request, const ApiForm& form, HttpResponse* response) const;

  // What changes series (admin_routes.cc).
  absl::Status DeleteSeries(const HttpRequest& request, const ApiForm& form, HttpResponse* response) const;

  // What is always the same (prometheus_api.cc).
  absl::Status Rules(const HttpRequest& request, const ApiForm& form, HttpResponse* response) const;
  absl::Status BuildInfo(const HttpRequest& request, const ApiForm& form, HttpResponse* response) const;

  // What a question may take; the matchers and times are the caller's.
  series::MetricRead NewRead(std::function<absl::Status()> interrupted,
                             const std::shared_ptr<series::QueryMemory>& memory) const;
  int64_t now_millis() const { return service_->clock().NowMicros() / 1'000; }

  series::IngestService* const service_;
  const PrometheusSettings settings_;
};

// CANCELLED: the client has gone; DEADLINE_EXCEEDED: the time is over.  In Prometheus' words.
std::function<absl::Status()> InterruptedBy(const HttpRequest& request, absl::Time deadline);

}  // namespace sonde::promql
