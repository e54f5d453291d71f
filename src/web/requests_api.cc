#include "web/requests_api.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/bytes.h"
#include "base/format.h"
#include "web/http/query_reader.h"

namespace sonde {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kRunningMax = 200;
constexpr size_t kNameBytesMax = 256;
constexpr int64_t kCallersUsual = 100, kCallersMax = 1'000;

void Answer(const Json& json, HttpResponse* response) {
  response->body = json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string TimeText(absl::Time time) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", time, absl::UTCTimeZone());
}

absl::Status AnswerRunning(const RequestsFacts& facts, const HttpRequest& request, HttpResponse* response) {
  if (absl::Status status = QueryReader(request).Finish(); !status.ok()) return status;
  std::vector<RunningCall> calls;
  for (const RunningCallsAccess& port : facts.running) {
    std::vector<RunningCall> of_port = port.list(kRunningMax);
    std::move(of_port.begin(), of_port.end(), std::back_inserter(calls));
  }
  std::stable_sort(calls.begin(), calls.end(), [](const auto& a, const auto& b) { return a.came < b.came; });
  if (calls.size() > kRunningMax) calls.resize(kRunningMax);
  const absl::Time now = absl::Now();
  Json list = Json::array();
  for (const RunningCall& call : calls) {
    list.push_back({{"name", call.name},
                    {"port", call.port},
                    {"method", call.method},
                    {"resource", call.resource},
                    {"principal", call.principal},
                    {"client", call.client},
                    {"began", TimeText(call.came)},
                    {"seconds", std::max(absl::ToDoubleSeconds(now - call.came), 0.0)}});
  }
  Answer({{"calls", std::move(list)}, {"calls_max", kRunningMax}}, response);
  return absl::OkStatus();
}

absl::Status Cancel(const RequestsFacts& facts, const HttpRequest& request, HttpResponse* response) {
  QueryReader query(request);
  const std::string name = query.Text("name", kNameBytesMax);
  if (name.empty())
    query.Refuse(
        absl::InvalidArgumentError("name: the name of a call that GET /api/v1/running lists is wanted"));
  if (absl::Status status = query.Finish(); !status.ok()) return status;
  const auto cancels = [&](const RunningCallsAccess& port) { return port.cancel(name); };
  if (std::none_of(facts.running.begin(), facts.running.end(), cancels)) {
    return absl::NotFoundError(
        fmt::format("No call '{}' is under way: it may have ended by itself", Printable(name)));
  }
  Answer({{"cancelled", name}}, response);
  return absl::OkStatus();
}

absl::Status AnswerErrors(const RequestsFacts& facts, const HttpRequest& request, HttpResponse* response) {
  if (absl::Status status = QueryReader(request).Finish(); !status.ok()) return status;
  Json list = Json::array();
  for (const FailedCall& call : facts.failed->List()) {
    list.push_back({{"time", TimeText(call.ended)},
                    {"method", call.method},
                    {"status", std::string(absl::StatusCodeToString(call.code))},
                    {"message", call.message},
                    {"times", call.times},
                    {"request", call.request},
                    {"resource", call.resource},
                    {"principal", call.principal},
                    {"client", call.client}});
  }
  Answer({{"errors", std::move(list)}}, response);
  return absl::OkStatus();
}

absl::Status AnswerLatency(const RequestsFacts& facts, const HttpRequest& request, HttpResponse* response) {
  const int64_t now = absl::ToUnixSeconds(absl::Now());
  QueryReader query(request);
  const int64_t seconds = query.Int("seconds", 300, 60, LatencyHistory::kLongKept);
  const int64_t end = query.Int("end", now, 1, now + 60);
  const std::string method = query.Text("method", kNameBytesMax);
  if (absl::Status status = query.Finish(); !status.ok()) return status;
  const LatencyHistory::Answer answer = facts.latency->Read(end, seconds, method);
  const auto millis = [](const LatencyHistory::Point& point, double q) {
    return std::round(RequestMetrics::QuantileSeconds(point.counts.buckets, q) * 1e6) / 1e3;
  };
  Json points = Json::array();
  for (const LatencyHistory::Point& point : answer.points) {
    points.push_back({point.start_seconds, point.counts.requests(), point.counts.errors, millis(point, 0.5),
                      millis(point, 0.99)});
  }
  Answer({{"end", end},
          {"seconds", seconds},
          {"step_seconds", answer.step_seconds},
          {"methods", facts.latency->ListMethods(end, seconds)},
          {"columns", {"second", "requests", "errors", "p50_ms", "p99_ms"}},
          {"points", std::move(points)}},
         response);
  return absl::OkStatus();
}

absl::Status AnswerCallers(const RequestsFacts& facts, const HttpRequest& request, HttpResponse* response) {
  QueryReader query(request);
  const auto limit = static_cast<size_t>(query.Int("limit", kCallersUsual, 1, kCallersMax));
  if (absl::Status status = query.Finish(); !status.ok()) return status;
  const std::vector<RecentCallers::Counted> callers = facts.callers->List(absl::Now());
  Json list = Json::array();
  for (const RecentCallers::Counted& one : callers) {
    if (list.size() == limit) break;
    list.push_back({{"method", one.caller.method},
                    {"resource", one.caller.resource},
                    {"principal", one.caller.principal},
                    {"client", one.caller.client},
                    {"agent", one.caller.agent},
                    {"calls", one.calls},
                    {"last", TimeText(one.last)}});
  }
  Answer({{"minutes", RecentCallers::kMinutesKept},
          {"callers", std::move(list)},
          {"left_out", callers.size() - std::min(callers.size(), limit)}},
         response);
  return absl::OkStatus();
}

}  // namespace

void AddRequestsApi(RequestsFacts facts, Router* router) {
  const auto shared = std::make_shared<const RequestsFacts>(std::move(facts));
  const auto add = [&](const char* method, const char* path, auto answer) {
    router->Add({.method = method,
                 .path = path,
                 .handler = [shared, answer](const HttpRequest& request, HttpBody*, HttpResponse* response) {
                   return answer(*shared, request, response);
                 }});
  };
  add("GET", "/api/v1/running", AnswerRunning);
  add("POST", "/api/v1/running/cancel", Cancel);
  add("GET", "/api/v1/errors", AnswerErrors);
  add("GET", "/api/v1/latency", AnswerLatency);
  add("GET", "/api/v1/callers", AnswerCallers);
}

}  // namespace sonde
