// Queries: query, query_range, format_query, parse_query, query_exemplars.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/time/clock.h"
#include "promql/evaluate/engine.h"
#include "promql/http/api_answer.h"
#include "promql/http/prometheus_api.h"
#include "promql/http/query_answer.h"
#include "promql/http/tree_json.h"
#include "promql/syntax/parser.h"
#include "promql/syntax/printer.h"
#include "promql/syntax/words.h"
#include "series/metric/series_samples.h"

namespace sonde::promql {
namespace {

// A query as it was asked, but for its times.
struct Asked {
  std::string text;
  ExpressionPtr tree;
  absl::Time came = absl::Now();
  absl::Time deadline;
  size_t limit = 0;
  int64_t lookback_millis = EvaluateSettings().lookback_millis;
  std::string stats;
  Notices notices;
};

absl::StatusOr<int64_t> RequiredTime(const ApiForm& form, const std::string& name) {
  absl::StatusOr<int64_t> millis = ParseApiTime(form.Text(name));
  return millis.ok() ? millis : InvalidParameter(name, millis.status());
}

absl::Status ReadLookback(const ApiForm& form, Asked* asked) {
  const std::string text = form.Text("lookback_delta");
  if (text.empty()) return absl::OkStatus();
  const absl::StatusOr<int64_t> nanos = ParseApiDuration(text);
  if (!nanos.ok()) {
    return absl::InvalidArgumentError(
        fmt::format("error parsing lookback delta duration: {}", TextOfError(nanos.status())));
  }
  // Prometheus takes its own lookback where none is asked for.
  if (*nanos >= kNanosPerMilli) asked->lookback_millis = *nanos / kNanosPerMilli;
  return absl::OkStatus();
}

absl::Status ReadTimeout(const ApiForm& form, Asked* asked) {
  asked->deadline = asked->came + kQueryTimeMax;
  const std::string text = form.Text("timeout");
  if (text.empty()) return absl::OkStatus();
  const absl::StatusOr<int64_t> nanos = ParseApiDuration(text);
  if (!nanos.ok()) return InvalidParameter("timeout", nanos.status());
  asked->deadline = std::min(asked->deadline, asked->came + absl::Nanoseconds(*nanos));
  return absl::OkStatus();
}

absl::Status ReadQuery(const ApiForm& form, const ParseOptions& options, Asked* asked) {
  if (absl::Status status = ReadTimeout(form, asked); !status.ok()) return status;
  if (absl::Status status = ReadLookback(form, asked); !status.ok()) return status;
  asked->stats = form.Text("stats");
  if (!asked->stats.empty() && asked->stats != "true" && asked->stats != "all") {
    asked->notices.warnings.push_back(fmt::format(
        "value {} for parameter \"stats\" is deprecated and will be rejected in the next major release, "
        "use \"true\" or \"all\"",
        Quoted(asked->stats)));
  }
  if (asked->deadline <= asked->came) {
    return InvalidParameter("query", absl::InvalidArgumentError("context deadline exceeded"));
  }
  asked->text = form.Text("query");
  absl::StatusOr<ExpressionPtr> tree = promql::ParseQuery(asked->text, options);
  if (!tree.ok()) return InvalidParameter("query", tree.status());
  asked->tree = *std::move(tree);
  return absl::OkStatus();
}

std::string StatsJson(const Asked& asked, const QueryStats& stats, absl::Time began) {
  const double prepared = absl::ToDoubleSeconds(began - asked.came);
  const double evaluated = absl::ToDoubleSeconds(absl::Now() - began);
  nlohmann::ordered_json json = {{"timings",
                                  {{"evalTotalTime", evaluated},
                                   {"resultSortTime", 0},
                                   {"queryPreparationTime", prepared},
                                   {"innerEvalTime", evaluated},
                                   {"execQueueTime", 0},
                                   {"execTotalTime", prepared + evaluated}}},
                                 {"samples",
                                  {{"totalQueryableSamples", stats.samples_total},
                                   {"peakSamples", stats.samples_peak},
                                   {"samplesRead", stats.samples_read}}}};
  return json.dump();
}

void AddSelectors(const Expression& node, size_t* count) {
  if (node.kind == ExpressionKind::kSelector) ++*count;
  for (const ExpressionPtr& operand : node.operands) AddSelectors(*operand, count);
}

class QueryRun {
 public:
  QueryRun(Asked asked, EvaluateSettings settings, std::shared_ptr<series::QueryMemory> memory)
      : asked_(std::move(asked)), settings_(std::move(settings)), memory_(std::move(memory)) {}

  // `read`: as PrometheusApi::NewRead.
  absl::Status Answer(std::vector<series::KnownSeriesRef> known, series::MetricRead read, TableAccess* tables,
                      HttpResponse* response) {
    settings_.lookback_millis = asked_.lookback_millis;
    settings_.samples_max = kQuerySamplesMax;
    settings_.interrupted = read.interrupted;
    settings_.hold = read.hold;
    settings_.idle_workers = read.idle_workers;
    series::SeriesSamples samples(std::move(known), std::move(read), tables);
    const absl::Time began = absl::Now();
    absl::StatusOr<QueryAnswer> answer = EvaluateQuery(asked_.tree.get(), settings_, &samples);
    if (absl::IsInvalidArgument(answer.status())) return InvalidParameter("query", answer.status());
    if (!answer.ok()) return answer.status();
    std::string stats;
    if (!asked_.stats.empty()) stats = StatsJson(asked_, answer->stats, began);
    Notices notices = std::move(asked_.notices);
    for (std::string& text : answer->annotations.Warnings(asked_.text))
      notices.warnings.push_back(std::move(text));
    notices.infos = answer->annotations.Infos(asked_.text);
    const auto text = std::make_shared<QueryAnswerText>(*std::move(answer), std::move(notices), asked_.limit,
                                                        std::move(stats), memory_);
    response->stream = [text](std::string* part) { return text->Next(part); };
    return absl::OkStatus();
  }

 private:
  Asked asked_;
  EvaluateSettings settings_;
  std::shared_ptr<series::QueryMemory> memory_;
};

}  // namespace

absl::Status PrometheusApi::Query(const HttpRequest& request, const ApiForm& form,
                                  HttpResponse* response) const {
  Asked asked;
  const absl::StatusOr<size_t> limit = form.Limit();
  if (!limit.ok()) return limit.status();
  asked.limit = *limit;
  const absl::StatusOr<int64_t> time = form.TimeOr("time", now_millis());
  if (!time.ok()) return time.status();
  if (absl::Status status = ReadQuery(form, settings_.parse, &asked); !status.ok()) return status;
  EvaluateSettings settings;
  settings.start_millis = settings.end_millis = *time;
  const auto memory = std::make_shared<series::QueryMemory>(&service_->admission());
  series::MetricRead read = NewRead(InterruptedBy(request, asked.deadline), memory);
  return QueryRun(std::move(asked), std::move(settings), memory)
      .Answer(service_->declarations().List(), std::move(read), service_->TablesFor(request).get(), response);
}

absl::Status PrometheusApi::QueryRange(const HttpRequest& request, const ApiForm& form,
                                       HttpResponse* response) const {
  Asked asked;
  const absl::StatusOr<size_t> limit = form.Limit();
  if (!limit.ok()) return limit.status();
  asked.limit = *limit;
  const absl::StatusOr<int64_t> start = RequiredTime(form, "start");
  if (!start.ok()) return start.status();
  const absl::StatusOr<int64_t> end = RequiredTime(form, "end");
  if (!end.ok()) return end.status();
  if (*end < *start) {
    return InvalidParameter("end", absl::InvalidArgumentError("end timestamp must not be before start time"));
  }
  const absl::StatusOr<int64_t> step = ParseApiDuration(form.Text("step"));
  if (!step.ok()) return InvalidParameter("step", step.status());
  if (*step <= 0) {
    return InvalidParameter("step",
                            absl::InvalidArgumentError("zero or negative query resolution step widths are "
                                                       "not accepted. Try a positive integer"));
  }
  if (*step < kNanosPerMilli) {
    return InvalidParameter("step",
                            absl::InvalidArgumentError("the step is below one millisecond, the least"));
  }
  if ((*end - *start) / (*step / kNanosPerMilli) > kStepsMax) {
    return absl::InvalidArgumentError(
        "exceeded maximum resolution of 11,000 points per timeseries. Try decreasing the query resolution "
        "(?step=XX)");
  }
  if (absl::Status status = ReadQuery(form, settings_.parse, &asked); !status.ok()) return status;
  EvaluateSettings settings;
  settings.start_millis = *start;
  settings.end_millis = *end;
  settings.step_millis = *step / kNanosPerMilli;
  const auto memory = std::make_shared<series::QueryMemory>(&service_->admission());
  series::MetricRead read = NewRead(InterruptedBy(request, asked.deadline), memory);
  return QueryRun(std::move(asked), std::move(settings), memory)
      .Answer(service_->declarations().List(), std::move(read), service_->TablesFor(request).get(), response);
}

absl::Status PrometheusApi::FormatQuery(const HttpRequest& /*request*/, const ApiForm& form,
                                        HttpResponse* response) const {
  const absl::StatusOr<ExpressionPtr> tree = promql::ParseQuery(form.Text("query"), settings_.parse);
  if (!tree.ok()) return InvalidParameter("query", tree.status());
  std::string data;
  AppendJsonTextForHtml(PrintLines(**tree), &data);
  Answer(data, {}, response);
  return absl::OkStatus();
}

absl::Status PrometheusApi::ParseQuery(const HttpRequest& /*request*/, const ApiForm& form,
                                       HttpResponse* response) const {
  const absl::StatusOr<ExpressionPtr> tree = promql::ParseQuery(form.Text("query"), settings_.parse);
  if (!tree.ok()) return InvalidParameter("query", tree.status());
  Answer(TreeJson(**tree).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace), {}, response);
  return absl::OkStatus();
}

// No series has exemplars.
absl::Status PrometheusApi::QueryExemplars(const HttpRequest& /*request*/, const ApiForm& form,
                                           HttpResponse* response) const {
  const absl::StatusOr<int64_t> start = form.TimeOr("start", -kApiMillisMax);
  if (!start.ok()) return start.status();
  const absl::StatusOr<int64_t> end = form.TimeOr("end", kApiMillisMax);
  if (!end.ok()) return end.status();
  if (*end < *start) return absl::InvalidArgumentError("end timestamp must not be before start timestamp");
  const absl::StatusOr<ExpressionPtr> tree = promql::ParseQuery(form.Text("query"), settings_.parse);
  if (!tree.ok()) return absl::InvalidArgumentError(tree.status().message());
  size_t selectors = 0;
  AddSelectors(**tree, &selectors);
  if (selectors == 0) {
    response->code = 204;
    return absl::OkStatus();
  }
  Answer("[]", {}, response);
  return absl::OkStatus();
}

}  // namespace sonde::promql
