// The routes of series, called without a server.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "series/http/ingest_service.h"
#include "series/input/csv_reader.h"
#include "series/write/memory_tables_test_support.h"

namespace sonde::series {

inline constexpr int64_t kNow = 1'700'000'000 * kMicrosPerSecond;

class FixedClock final : public Clock {
 public:
  int64_t NowMicros() const override { return kNow; }
};

// Calls the routes without a server.
class Fixture {
 public:
  explicit Fixture(IngestSettings settings = {}, int64_t bytes_under_way_max = 256 << 20) {
    auto tables = std::make_unique<MemoryTables>();
    tables_ = tables.get();
    service_ = IngestService::Open(std::move(tables), &clock_,
                                   {.ingest = settings, .bytes_under_way_max = bytes_under_way_max})
                   .value();
    service_->AddRoutes(&router_);
  }

  HttpResponse Call(const std::string& method, const std::string& path, const std::string& body = "",
                    std::map<std::string, std::string> headers = {}) {
    HttpRequest request;
    request.method = method;
    request.headers = std::move(headers);
    request.is_client_gone = is_client_gone_;
    const size_t question = path.find('?');
    request.path = path.substr(0, question);
    for (size_t at = question; at != std::string::npos;) {
      const size_t end = path.find('&', at + 1);
      const std::string pair = path.substr(at + 1, end == std::string::npos ? end : end - at - 1);
      request.query.emplace(pair.substr(0, pair.find('=')), pair.substr(pair.find('=') + 1));
      at = end;
    }
    const Router::Match match = router_.Find(method, request.path);
    EXPECT_NE(match.route, nullptr) << method << " " << path;
    if (match.route == nullptr) return {};
    request.parts = match.parts;
    HttpBody source(SourceOfText(body), match.route->body_bytes_max);
    HttpResponse response;
    const absl::Status status = match.route->handler(request, &source, &response);
    if (!status.ok()) return ErrorResponse(status);
    while (response.stream && *response.stream(&response.body)) {
    }
    return response;
  }

  std::function<bool()> is_client_gone_;
  FixedClock clock_;
  MemoryTables* tables_ = nullptr;
  std::unique_ptr<IngestService> service_;
  Router router_;
};

inline std::string Rows(const HttpResponse& response) {
  return nlohmann::json::parse(response.body)["rows"].dump();
}

inline constexpr char kMeters[] =
    "series: meters\ntags: { meter: string }\nfields: { kwh: int }\nkey: [meter, bucket]\nbucket: day\n"
    "retention: { max_age: 30d }\nderive:\n  - latest: now\n  - order: { table: by_time, key: [{ salt: 2 }, "
    "time, meter] "
    "}\n"
    "  - period: { table: \"m_{yyyymmdd}\", every: day }\n  - rollup: { table: hourly, every: 1h, "
    "aggregates: [count, "
    "max], retention: 5y }\n";

inline std::string MeterLine(std::string_view meter, int64_t micros, int kwh) {
  return fmt::format("{{\"meter\":\"{}\",\"time\":{},\"kwh\":{}}}\n", meter, micros / 1000, kwh);
}

}  // namespace sonde::series
