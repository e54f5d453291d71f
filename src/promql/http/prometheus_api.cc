#include "promql/http/prometheus_api.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "absl/time/clock.h"
#include "access/permission.h"
#include "access/rules.h"
#include "promql/http/api_answer.h"
#include "series/metric/series_samples.h"

namespace sonde::promql {

void PrometheusApi::AddRoute(const std::string& method, const std::string& path, Handler handler,
                             Router* router) const {
  Route route;
  route.method = method;
  route.path = path;
  route.body_bytes_max = kFormBytesMax;
  route.handler = [this, handler](const HttpRequest& request, HttpBody* body,
                                  HttpResponse* response) -> absl::Status {
    const absl::StatusOr<ApiForm> form = ApiForm::Read(service_, request, body);
    const absl::Status status = form.ok() ? (this->*handler)(request, *form, response) : form.status();
    return status.ok() ? status : AnswerError(status, response);
  };
  router->Add(std::move(route));
}

void PrometheusApi::AddRoutes(Router* router) const {
  for (const std::string prefix : {"/api/v1", "/prometheus/api/v1"}) {
    for (const char* const method : {"GET", "POST"}) {
      AddRoute(method, prefix + "/query", &PrometheusApi::Query, router);
      AddRoute(method, prefix + "/query_range", &PrometheusApi::QueryRange, router);
      AddRoute(method, prefix + "/query_exemplars", &PrometheusApi::QueryExemplars, router);
      AddRoute(method, prefix + "/format_query", &PrometheusApi::FormatQuery, router);
      AddRoute(method, prefix + "/parse_query", &PrometheusApi::ParseQuery, router);
      AddRoute(method, prefix + "/labels", &PrometheusApi::LabelNames, router);
    }
    for (const char* const method : {"POST", "PUT"}) {
      AddRoute(method, prefix + "/admin/tsdb/delete_series", &PrometheusApi::DeleteSeries, router);
    }
    AddRoute("POST", prefix + "/series", &PrometheusApi::Series, router);
    AddRoute("GET", prefix + "/label/{name}/values", &PrometheusApi::LabelValues, router);
    AddRoute("GET", prefix + "/metadata", &PrometheusApi::Metadata, router);
    AddRoute("GET", prefix + "/status/tsdb", &PrometheusApi::TsdbStatus, router);
    AddRoute("GET", prefix + "/rules", &PrometheusApi::Rules, router);
    AddRoute("GET", prefix + "/status/buildinfo", &PrometheusApi::BuildInfo, router);
  }
  AddRoute("GET", "/prometheus/api/v1/series", &PrometheusApi::Series, router);
}

absl::Status PrometheusApi::AnswerSeriesOfMatchers(const HttpRequest& request, HttpResponse* response) const {
  if (request.check_access) {
    const absl::Status status =
        request.check_access(PermissionOf("bigtable.tables.readRows"), settings_.series_instance);
    if (!status.ok()) return status;
  }
  HttpBody no_body([](char*, size_t) -> absl::StatusOr<size_t> { return 0; }, 0);
  const absl::StatusOr<ApiForm> form = ApiForm::Read(service_, request, &no_body);
  const absl::Status status = form.ok() ? Series(request, *form, response) : form.status();
  return status.ok() ? status : AnswerError(status, response);
}

series::MetricRead PrometheusApi::NewRead(std::function<absl::Status()> interrupted,
                                          const std::shared_ptr<series::QueryMemory>& memory) const {
  series::MetricRead read;
  read.now_micros = service_->clock().NowMicros();
  read.samples_max = kQuerySamplesMax;
  read.series_max = series::kMetricSeriesMax;
  // A time and a value, in vectors that have grown.
  read.sample_bytes = 32;
  read.interrupted = std::move(interrupted);
  read.hold = [memory](int64_t more_bytes) {
    absl::Status status = memory->Hold(more_bytes);
    // The text of the query is right.
    return absl::IsInvalidArgument(status) ? absl::ResourceExhaustedError(status.message()) : status;
  };
  read.idle_workers = service_->idle_workers();
  read.index = &service_->index();
  return read;
}

absl::Status PrometheusApi::Rules(const HttpRequest& /*request*/, const ApiForm& /*form*/,
                                  HttpResponse* response) const {
  Answer(R"({"groups":[]})", {}, response);
  return absl::OkStatus();
}

// Without `features`: Grafana would take it for another database.
absl::Status PrometheusApi::BuildInfo(const HttpRequest& /*request*/, const ApiForm& /*form*/,
                                      HttpResponse* response) const {
  std::string data = fmt::format(R"({{"version":"{}","revision":)", kPrometheusVersion);
  AppendJsonText(settings_.sonde_version, &data);
  data += R"(,"branch":"sonde","buildUser":"","buildDate":"","goVersion":""})";
  Answer(data, {}, response);
  return absl::OkStatus();
}

std::function<absl::Status()> InterruptedBy(const HttpRequest& request, absl::Time deadline) {
  return [is_gone = InterruptedWhenGone(request), deadline]() -> absl::Status {
    if (is_gone && !is_gone().ok())
      return absl::CancelledError("query was canceled in expression evaluation");
    if (absl::Now() < deadline) return absl::OkStatus();
    return absl::DeadlineExceededError("query timed out in expression evaluation");
  };
}

}  // namespace sonde::promql
