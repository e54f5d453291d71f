// InfluxDB's write API: /write (1.x), /api/v2/write (2.x and later), and the few questions that its senders
// ask first.
//
// Databases, buckets, organisations, retention policies and tokens are taken and not looked at: all
// measurements are one name space.  Answers are those of InfluxDB: 204 when all points were written; 400 when
// some were refused (the others are written), with the reasons; 503 with Retry-After when the server has too
// much to do.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "base/bytes.h"
#include "series/http/ingest_service.h"
#include "series/input/line_protocol.h"
#include "series/schema/status_text.h"

namespace sonde::series {
namespace {

constexpr int kLineProblemsShownMax = 10;
constexpr char kVersion[] = "2.7.0-sonde";  // of the API that is spoken

enum class Api : uint8_t { k1, k2 };

void Answer(Api api, int code, std::string_view code_name, const std::string& text, HttpResponse* response) {
  response->code = code;
  nlohmann::ordered_json body;
  if (api == Api::k1) {
    body["error"] = text;
    response->headers.emplace_back("X-Influxdb-Error", text.substr(0, text.find('\n')).substr(0, 1'000));
  } else {
    body["code"] = code_name;
    body["message"] = text;
  }
  response->body = body.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

void AnswerError(Api api, const absl::Status& status, HttpResponse* response) {
  const std::string text(TextOfStatus(status));
  if (IsPassing(status)) {
    Answer(api, 503, "unavailable", text, response);
    AskToRetry(response);
  } else if (absl::IsInvalidArgument(status)) {
    Answer(api, 400, "invalid", text, response);
  } else if (absl::IsResourceExhausted(status)) {
    Answer(api, 413, "request too large", text, response);
  } else {
    Answer(api, 500, "internal error", text, response);
  }
}

// How many microseconds, or which part of one, a sender's unit is.
struct Unit {
  int64_t micros = 0;
  int64_t per_micro = 1;
  std::string_view name = "ns";
};

std::optional<Unit> UnitOf(const std::string& precision) {
  if (precision.empty() || precision == "ns" || precision == "n") return Unit{0, 1'000};
  if (precision == "us" || precision == "u" || precision == "µ") return Unit{1, 1, "us"};
  if (precision == "ms") return Unit{1'000, 1, "ms"};
  if (precision == "s") return Unit{kMicrosPerSecond, 1, "s"};
  if (precision == "m") return Unit{kMicrosPerMinute, 1, "m"};
  if (precision == "h") return Unit{kMicrosPerHour, 1, "h"};
  return std::nullopt;
}

// INVALID_ARGUMENT: outside of what a time may be.
absl::StatusOr<int64_t> MicrosOf(int64_t timestamp, const Unit& unit) {
  if (unit.micros == 0) return FloorMicros(timestamp, unit.per_micro) / unit.per_micro;
  if (timestamp >= kTimeBeginMicros / unit.micros && timestamp < kTimeEndMicros / unit.micros) {
    return timestamp * unit.micros;
  }
  return absl::InvalidArgumentError(
      fmt::format("time {} in {} since 1970; allowed: the years 0001 to 9999; is it of another precision?",
                  timestamp, unit.name));
}

class LineWrite {
 public:
  LineWrite(IngestService* service, Unit unit)
      : service_(service),
        unit_(unit),
        batch_(&service->declarations(), &service->tables(), service->ingest_settings(),
               &service->refresher(), &service->index_writer()),
        now_micros_(service->clock().NowMicros()),
        tally_(service->points(), kSenderInflux) {}

  // An error of the store; the points before it may be written.
  absl::Status Run(std::string_view text) {
    LineProtocolParser parser(text);
    LinePoint point;
    while (true) {
      const LineProtocolParser::Step step = parser.Next(&point);
      if (step == LineProtocolParser::Step::kEnd) break;
      if (step == LineProtocolParser::Step::kBadLine) {
        Refuse(PointCounts::Refusal::kUnreadable, parser.line(),
               fmt::format("unable to parse '{}': {}", Printable(parser.line_text(), 100), parser.problem()));
        continue;
      }
      const absl::Status status = Add(point, parser.line_text());
      if (IsOfPoint(status)) {
        Refuse(PointCounts::RefusalOf(status), parser.line(), TextOfStatus(status));
      } else if (!status.ok()) {
        return status;
      }
      if (batch_.IsFull()) {
        if (absl::Status flushed = Flush(); !flushed.ok()) return flushed;
      }
    }
    return Flush();
  }

  int64_t refused() const { return refused_; }
  std::string Problems() const {
    std::string text = fmt::format("partial write: {}", fmt::join(problems_, "; "));
    if (refused_ > static_cast<int64_t>(problems_.size())) {
      text += fmt::format("; and {} more", refused_ - static_cast<int64_t>(problems_.size()));
    }
    return text + fmt::format(" dropped={}", refused_);
  }

 private:
  static bool IsOfPoint(const absl::Status& status) {
    return absl::IsInvalidArgument(status) || absl::IsFailedPrecondition(status) ||
           absl::IsResourceExhausted(status);
  }

  absl::Status Add(const LinePoint& point, std::string_view line) {
    // Measurement and tags as they stand in the line: the same text is the same series.
    size_t end = 0;
    while (end < line.size() && line[end] != ' ') end += line[end] == '\\' ? 2 : 1;
    IngestPoint ingest;
    ingest.series = point.measurement;
    ingest.identity = line.substr(0, end);
    ingest.labels = &point.tags;
    ingest.fields = &point.fields;
    ingest.time_micros = now_micros_;
    if (point.timestamp) {
      const absl::StatusOr<int64_t> time_micros = MicrosOf(*point.timestamp, unit_);
      if (!time_micros.ok()) return time_micros.status();
      ingest.time_micros = *time_micros;
    }
    absl::Status status = batch_.Add(ingest);
    if (status.ok()) tally_.Add(ingest.series, ingest.time_micros);
    return status;
  }

  absl::Status Flush() {
    absl::Status status = batch_.Flush();
    if (status.ok()) tally_.Commit();
    return status;
  }

  void Refuse(PointCounts::Refusal kind, int64_t line, std::string_view why) {
    ++refused_;
    tally_.Refuse(kind);
    if (problems_.size() < kLineProblemsShownMax) problems_.push_back(fmt::format("line {}: {}", line, why));
  }

  IngestService* const service_;
  const Unit unit_;
  IngestBatch batch_;
  const int64_t now_micros_;
  PointTally tally_;
  int64_t refused_ = 0;
  std::vector<std::string> problems_;
};

absl::Status Write(IngestService* service, Api api, const HttpRequest& request, HttpBody* body,
                   HttpResponse* response) {
  const std::string precision = request.Query("precision").value_or("");
  const std::optional<Unit> unit = UnitOf(precision);
  if (!unit) {
    Answer(api, 400, "invalid",
           fmt::format("precision '{}'; allowed: ns, us, ms, s, m, h", Printable(precision)), response);
    return absl::OkStatus();
  }
  absl::StatusOr<Admission::Place> place = service->Admit(request);
  if (!place.ok()) {
    AnswerError(api, place.status(), response);
    return absl::OkStatus();
  }
  const absl::StatusOr<std::string> text = ReadBody(body, &*place);
  if (!text.ok()) {
    AnswerError(api, text.status(), response);
    return absl::OkStatus();
  }
  LineWrite write(service, *unit);
  const absl::Status status = write.Run(*text);
  if (!status.ok()) {
    AnswerError(api, status, response);
  } else if (write.refused() > 0) {
    Answer(api, 400, "invalid", write.Problems(), response);
  } else {
    response->code = 204;
  }
  response->headers.emplace_back("X-Influxdb-Version", kVersion);
  return absl::OkStatus();
}

absl::Status Ping(const HttpRequest&, HttpBody*, HttpResponse* response) {
  response->code = 204;
  response->headers.emplace_back("X-Influxdb-Version", kVersion);
  response->headers.emplace_back("X-Influxdb-Build", "sonde");
  return absl::OkStatus();
}

absl::Status Health(const HttpRequest&, HttpBody*, HttpResponse* response) {
  const nlohmann::ordered_json body = {
      {"name", "influxdb"}, {"message", "ready for writes"}, {"status", "pass"}, {"version", kVersion}};
  response->body = body.dump() + "\n";
  return absl::OkStatus();
}

// CREATE DATABASE and SHOW DATABASES are what senders ask before they write; no other InfluxQL is spoken.
absl::Status AnswerQuery(const HttpRequest& request, HttpBody* body, HttpResponse* response) {
  std::string text = request.Query("q").value_or("");
  if (text.empty() && request.method == "POST") {
    const absl::StatusOr<std::string> form = body->ReadAll();
    if (!form.ok()) return form.status();
    const auto fields = ParseQueryOfTarget("?" + *form);
    const auto query = fields.find("q");
    text = query == fields.end() ? *form : query->second;
  }
  std::string words = text.substr(0, 16);
  std::transform(words.begin(), words.end(), words.begin(), [](unsigned char c) { return std::toupper(c); });
  nlohmann::ordered_json result = {{"statement_id", 0}};
  if (words.starts_with("SHOW DATABASES")) {
    result["series"] = {{{"name", "databases"}, {"columns", {"name"}}, {"values", {{"sonde"}}}}};
  } else if (!words.starts_with("CREATE DATABASE")) {
    Answer(Api::k1, 400, "invalid",
           fmt::format("InfluxQL '{}': this server answers CREATE DATABASE and SHOW DATABASES only; ask "
                       "/api/v1/series/NAME/query",
                       Printable(text, 100)),
           response);
    return absl::OkStatus();
  }
  const nlohmann::ordered_json answer = {{"results", {result}}};
  response->body = answer.dump() + "\n";
  return absl::OkStatus();
}

}  // namespace

void AddInfluxRoutes(IngestService* service, Router* router) {
  for (const auto& [path, api] : {std::pair{"/write", Api::k1}, {"/api/v2/write", Api::k2}}) {
    router->Add({"POST", path,
                 [service, api = api](const HttpRequest& request, HttpBody* body, HttpResponse* response) {
                   return Write(service, api, request, body, response);
                 },
                 kIngestBodyBytesMax});
  }
  router->Add({"GET", "/ping", Ping});
  router->Add({"GET", "/health", Health});
  router->Add({"GET", "/query", AnswerQuery});
  router->Add({"POST", "/query", AnswerQuery});
}

}  // namespace sonde::series
