#include "promql/transfer/transfer_routes.h"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "promql/http/api_answer.h"
#include "promql/http/api_form.h"
#include "promql/syntax/words.h"
#include "promql/transfer/metric_export.h"
#include "promql/transfer/metric_import.h"
#include "series/http/query_memory.h"

namespace sonde::promql {
namespace {

using nlohmann::ordered_json;

constexpr char kJsonLinesType[] = "application/x-ndjson; charset=utf-8";
constexpr char kOpenMetricsType[] = "application/openmetrics-text";
// A text of any length: it is written as it comes.
constexpr size_t kImportBytesMax = size_t{1} << 50;

absl::StatusOr<TransferFormat> FormatOf(std::string_view name) {
  if (name.empty() || name == "json") return TransferFormat::kJsonLines;
  if (name == "openmetrics") return TransferFormat::kOpenMetrics;
  return absl::InvalidArgumentError(fmt::format("format '{}'; allowed: json, openmetrics", Printable(name)));
}

absl::Status Export(series::IngestService* service, const HttpRequest& request, const ApiForm& form,
                    HttpResponse* response) {
  const absl::StatusOr<TransferFormat> format = FormatOf(form.Text("format"));
  if (!format.ok()) return format.status();
  const absl::StatusOr<int64_t> start = form.TimeOr("start", -kApiMillisMax);
  if (!start.ok()) return start.status();
  const absl::StatusOr<int64_t> end = form.TimeOr("end", kApiMillisMax);
  if (!end.ok()) return end.status();
  if (*end < *start) return absl::InvalidArgumentError("end timestamp must not be before start timestamp");
  absl::StatusOr<std::vector<std::vector<Matcher>>> sets = ParseMatchers(form.All("match[]"));
  if (!sets.ok()) return InvalidParameter("match[]", sets.status());
  if (sets->empty()) sets->emplace_back();  // everything
  const std::shared_ptr<TableAccess> tables = service->TablesFor(request);
  MetricExport::Metadata metadata;
  if (*format == TransferFormat::kOpenMetrics) {
    absl::StatusOr<MetricExport::Metadata> all = series::ReadMetadata("", tables.get());
    if (!all.ok()) return all.status();
    metadata = *std::move(all);
  }
  const auto memory = std::make_shared<series::QueryMemory>(&service->admission());
  series::MetricRead read;
  read.start_millis = *start;
  read.end_millis = *end;
  read.now_micros = service->clock().NowMicros();
  read.interrupted = InterruptedWhenGone(request);
  read.hold = [memory](int64_t more_bytes) { return memory->Hold(more_bytes); };
  read.index = &service->index();
  const auto all = std::make_shared<MetricExport>(service->declarations().List(), *std::move(sets),
                                                  std::move(read), *format, std::move(metadata), tables);
  // The first part before the head: an error in it is an answer of its own.
  const auto first = std::make_shared<std::string>();
  const absl::StatusOr<bool> has_more = all->Next(first.get());
  if (!has_more.ok()) return has_more.status();
  response->content_type = *format == TransferFormat::kOpenMetrics
                               ? std::string(kOpenMetricsType) + "; version=1.0.0; charset=utf-8"
                               : kJsonLinesType;
  response->stream = [all, first](std::string* part) -> absl::StatusOr<bool> {
    if (first->empty()) return all->Next(part);
    part->append(std::exchange(*first, {}));
    return true;
  };
  return absl::OkStatus();
}

std::string AnswerOf(const MetricImport& import, HttpResponse* response) {
  ordered_json answer = {{"lines", import.lines()},
                         {"samples", import.samples()},
                         {"passed_over", import.passed_over()},
                         {"refused_lines", import.refused_lines()},
                         {"refused_samples", import.refused_samples()}};
  if (import.refused_lines() > 0) {
    response->code = 400;
    answer["error"] = {
        {"code", 400},
        {"status", "INVALID_ARGUMENT"},
        {"message", fmt::format("{} lines were refused; the others are written", import.refused_lines())}};
    ordered_json problems = ordered_json::array();
    for (const ImportProblem& problem : import.problems()) {
      problems.push_back({{"line", problem.line}, {"reason", problem.reason}});
    }
    answer["problems"] = std::move(problems);
  }
  return answer.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

absl::Status Import(series::IngestService* service, const HttpRequest& request, HttpBody* body,
                    HttpResponse* response) {
  const std::string type = request.Header("content-type").value_or("");
  const std::string name =
      request.Query("format").value_or(type.starts_with(kOpenMetricsType) ? "openmetrics" : "");
  const absl::StatusOr<TransferFormat> format = FormatOf(name);
  if (!format.ok()) return format.status();
  absl::StatusOr<Admission::Place> place = service->admission().Admit(series::kIngestBodyBytesUsual);
  if (!place.ok()) return place.status();
  MetricImport import(service, *format, &*place);
  absl::Status status = body->Read([&import](std::string_view bytes) { return import.Add(bytes); });
  if (status.ok()) status = import.Finish();
  if (!status.ok()) {
    return absl::Status(status.code(),
                        fmt::format("{}; {} lines before it were read, and what they hold may be written: "
                                    "send the text again",
                                    TextOfError(status), import.lines()));
  }
  response->body = AnswerOf(import, response);
  return absl::OkStatus();
}

}  // namespace

void AddTransferRoutes(series::IngestService* service, Router* router) {
  for (const char* const path : {"/api/v1/export", "/prometheus/api/v1/export"}) {
    for (const char* const method : {"GET", "POST"}) {
      router->Add(
          {method, path,
           [service](const HttpRequest& request, HttpBody* body, HttpResponse* response) -> absl::Status {
             const absl::StatusOr<ApiForm> form = ApiForm::Read(service, request, body);
             const absl::Status status =
                 form.ok() ? Export(service, request, *form, response) : form.status();
             return status.ok() ? status : AnswerError(status, response);
           },
           kFormBytesMax});
    }
  }
  router->Add({"POST", "/api/v1/import",
               [service](const HttpRequest& request, HttpBody* body, HttpResponse* response) {
                 return Import(service, request, body, response);
               },
               kImportBytesMax});
}

}  // namespace sonde::promql
