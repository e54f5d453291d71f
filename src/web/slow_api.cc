#include "web/slow_api.h"

#include <nlohmann/json.hpp>
#include <string>

#include "absl/time/time.h"
#include "web/http/query_reader.h"

namespace sonde {
namespace {

std::string LineOfCall(const SlowCall& call) {
  nlohmann::ordered_json line = {
      {"time", absl::FormatTime("%Y-%m-%dT%H:%M:%E6SZ", call.ended, absl::UTCTimeZone())},
      {"took_ms", absl::ToDoubleMilliseconds(call.took)},
      {"queue_ms", absl::ToDoubleMilliseconds(call.cost.queued)},
      {"engine_ms", absl::ToDoubleMilliseconds(call.engine())},
      {"method", call.method},
      {"status", std::string(absl::StatusCodeToString(call.code))}};
  const auto add_text = [&](const char* name, const std::string& text) {
    if (!text.empty()) line[name] = text;
  };
  add_text("request", call.request);
  add_text("trace", call.trace);
  add_text("resource", call.resource);
  add_text("app_profile", call.app_profile);
  add_text("principal", call.principal);
  add_text("filter", call.filter);
  line["rows_seen"] = call.cost.rows_seen;
  line["rows"] = call.cost.rows;
  line["cells_seen"] = call.cost.cells_seen;
  line["cells"] = call.cost.cells;
  line["bytes_seen"] = call.cost.bytes_seen;
  line["bytes"] = call.cost.bytes;
  if (call.cost.pages.has_value()) line["pages"] = *call.cost.pages;
  if (call.cost.block_reads.has_value()) line["block_reads"] = *call.cost.block_reads;
  return line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace

void AddSlowApi(const SlowCalls* calls, Router* router) {
  router->Add({"GET", "/api/v1/slow", [calls](const HttpRequest& request, HttpBody*, HttpResponse* response) {
                 if (absl::Status status = QueryReader(request).Finish(); !status.ok()) return status;
                 response->content_type = "application/x-ndjson";
                 for (const SlowCall& call : calls->List()) response->body += LineOfCall(call);
                 return absl::OkStatus();
               }});
}

}  // namespace sonde
