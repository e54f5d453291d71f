// Prometheus remote write (1.0 and 2.0) at /api/v1/write, remote read at /api/v1/read.
//
// A metric is a series with the one field `value`; __name__ names it.  The NaN by which Prometheus says that a series has ended
// becomes a point of the field kStaleField, where the series is open or has that field.  Other NaN and infinities are
// passed over: no series has them.  Native histograms are refused,
// and the samples beside them are written; the headers X-Prometheus-Remote-Write-...-Written of 2.0 say how
// many.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "base/bytes.h"
#include "prometheus/remote_messages.h"
#include "promql/evaluate/samples.h"
#include "series/http/ingest_service.h"
#include "series/http/prometheus_read.h"
#include "series/http/query_memory.h"
#include "series/schema/status_text.h"

namespace sonde::series {
namespace {

using prometheus::RemoteCounts;
using prometheus::RemoteLabels;
using prometheus::RemoteSample;
using prometheus::RemoteSamples;
using prometheus::RemoteSeries;
using prometheus::WriteVersion;

constexpr char kSnappy[] = "snappy";
constexpr size_t kNumberBytesMax = 32;
constexpr int kSampleProblemsShownMax = 10;

// Prometheus logs what is said here, and tries again after 5xx only.
void Answer(int code, const std::string& text, HttpResponse* response) {
  response->code = code;
  response->content_type = "text/plain; charset=utf-8";
  response->body = text + "\n";
}

void AnswerError(const absl::Status& status, HttpResponse* response) {
  const std::string text(TextOfStatus(status));
  if (IsPassing(status)) {
    Answer(503, text, response);
    AskToRetry(response);
  } else if (absl::IsInvalidArgument(status) || absl::IsResourceExhausted(status) ||
             absl::IsOutOfRange(status)) {
    Answer(400, text, response);
  } else {
    Answer(500, text, response);
  }
}

class SampleWrite {
 public:
  explicit SampleWrite(IngestService* service)
      : declarations_(&service->declarations()),
        batch_(&service->declarations(), &service->tables(), service->ingest_settings(),
               &service->refresher()),
        tally_(service->points(), kSenderPrometheus) {}

  // `message`: unpacked.
  absl::StatusOr<RemoteCounts> Run(std::string_view message, WriteVersion version) {
    fields_ = {{kMetricField, LineValueType::kFloat, {}}};
    absl::StatusOr<RemoteCounts> counts = prometheus::ReadWrite(
        message, version,
        [this](const RemoteLabels& labels, RemoteSamples samples) { return AddSeries(labels, samples); });
    if (!counts.ok()) return counts;
    if (absl::Status status = Flush(); !status.ok()) return status;
    tally_.Refuse(PointCounts::Refusal::kHistogram, static_cast<uint64_t>(counts->histograms));
    return counts;
  }

  int64_t written() const { return batch_.points(); }
  int64_t refused() const { return refused_; }
  std::string Problems() const {
    return fmt::format("{} samples were refused: {}", refused_, fmt::join(problems_, "; "));
  }

 private:
  absl::Status AddSeries(const RemoteLabels& labels, RemoteSamples samples) {
    IngestPoint point;
    labels_.clear();
    identity_.clear();
    int names = 0;
    for (const auto& [name, value] : labels) {
      if (name == kNameLabel) {
        point.series = value;
        ++names;
      } else {
        labels_.emplace_back(name, value);
      }
      identity_.append(name).append(1, '\0').append(value).append(1, '\0');
    }
    point.labels = &labels_;
    point.fields = &fields_;
    is_identity_kept_ = false;
    for (RemoteSample sample; samples.Next(&sample);) {
      if (point.series.empty() || names > 1) {
        Refuse(PointCounts::Refusal::kUnreadable,
               point.series.empty() ? "a series without __name__" : "a series with more than one __name__");
      } else if (absl::Status status = AddSample(sample, &point); !status.ok()) {
        return status;
      }
    }
    return absl::OkStatus();
  }

  absl::Status AddSample(const RemoteSample& sample, IngestPoint* point) {
    const bool is_mark = promql::IsStale(sample.value);
    if (is_mark ? !TakesMarks(point->series) : !std::isfinite(sample.value)) return absl::OkStatus();
    if (!std::exchange(is_identity_kept_, true)) point->identity = identities_.emplace_back(identity_);
    char digits[kNumberBytesMax];
    const auto [end, error] = std::to_chars(digits, digits + kNumberBytesMax, sample.value);
    fields_[0] = {kMetricField, LineValueType::kFloat, {digits, static_cast<size_t>(end - digits)}};
    if (is_mark) fields_[0] = {kStaleField, LineValueType::kInt, "1"};
    const absl::Status status = Add(sample.timestamp_millis, point);
    if (absl::IsInvalidArgument(status) || absl::IsFailedPrecondition(status) ||
        absl::IsResourceExhausted(status)) {
      Refuse(PointCounts::RefusalOf(status),
             fmt::format("{}: {}", Printable(point->series), TextOfStatus(status)));
    } else if (!status.ok()) {
      return status;
    }
    return batch_.IsFull() ? Flush() : absl::OkStatus();
  }

  // A mark opens no series, and no declaration is asked for what it does not have.
  bool TakesMarks(std::string_view series) {
    const KnownSeriesRef known = declarations_->Find(series);
    if (known == nullptr || known->is_open()) return known != nullptr;
    return std::any_of(known->schema.fields.begin(), known->schema.fields.end(),
                       [](const Field& field) { return field.name == kStaleField; });
  }

  absl::Status Flush() {
    absl::Status status = batch_.Flush();
    if (status.ok()) tally_.Commit();
    identities_.clear();
    is_identity_kept_ = false;
    return status;
  }

  absl::Status Add(int64_t timestamp_millis, IngestPoint* point) {
    if (timestamp_millis < kTimeBeginMicros / 1'000 || timestamp_millis >= kTimeEndMicros / 1'000) {
      return absl::InvalidArgumentError(
          fmt::format("time {} in ms since 1970; allowed: the years 0001 to 9999", timestamp_millis));
    }
    point->time_micros = timestamp_millis * 1'000;
    absl::Status status = batch_.Add(*point);
    if (status.ok()) tally_.Add(point->series, point->time_micros);
    return status;
  }

  void Refuse(PointCounts::Refusal kind, std::string why) {
    ++refused_;
    tally_.Refuse(kind);
    if (problems_.size() < kSampleProblemsShownMax) problems_.push_back(std::move(why));
  }

  Declarations* const declarations_;
  IngestBatch batch_;
  PointTally tally_;
  std::string identity_;                // of the series at hand
  std::deque<std::string> identities_;  // until the flush
  bool is_identity_kept_ = false;       // ... among these
  std::vector<std::pair<std::string_view, std::string_view>> labels_;
  std::vector<LineField> fields_;
  int64_t refused_ = 0;
  std::vector<std::string> problems_;
};

// Nothing: a content type that is not spoken.
std::optional<WriteVersion> VersionOf(const HttpRequest& request) {
  std::string type = request.Header("content-type").value_or("application/x-protobuf");
  std::erase(type, ' ');
  if (type == "application/x-protobuf" || type == "application/x-protobuf;proto=prometheus.WriteRequest") {
    return WriteVersion::k1;
  }
  if (type == "application/x-protobuf;proto=io.prometheus.write.v2.Request") return WriteVersion::k2;
  return std::nullopt;
}

// The block format, which is what is meant when nothing is said.
bool IsSnappy(const HttpRequest& request) {
  return absl::EqualsIgnoreCase(request.Header("content-encoding").value_or(kSnappy), kSnappy);
}

// The unpacked bytes count as well, before they are unpacked.
absl::StatusOr<std::string> UnpackWrite(std::string_view packed, Admission::Place* place) {
  const absl::StatusOr<size_t> bytes = prometheus::UnpackedBytes(packed);
  if (!bytes.ok()) return bytes.status();
  const size_t unpacked = std::min(*bytes, prometheus::kRemoteBytesMax);
  const auto wanted = static_cast<int64_t>(packed.size() + unpacked);
  if (wanted > place->bytes()) {
    if (absl::Status status = place->Resize(wanted); !status.ok()) return status;
  }
  return prometheus::UnpackWrite(packed);
}

absl::Status Write(IngestService* service, const HttpRequest& request, HttpBody* body,
                   HttpResponse* response) {
  const std::optional<WriteVersion> version = VersionOf(request);
  if (!version || !IsSnappy(request)) {
    Answer(415,
           "Content-Type must be application/x-protobuf, with proto=prometheus.WriteRequest or "
           "proto=io.prometheus.write.v2.Request, and Content-Encoding snappy",
           response);
    return absl::OkStatus();
  }
  absl::StatusOr<Admission::Place> place = service->Admit(request);
  const absl::StatusOr<std::string> bytes =
      place.ok() ? ReadBody(body, &*place) : absl::StatusOr<std::string>(place.status());
  absl::StatusOr<std::string> message =
      bytes.ok() ? UnpackWrite(*bytes, &*place) : absl::StatusOr<std::string>(bytes.status());
  if (!message.ok()) {
    AnswerError(message.status(), response);
    return absl::OkStatus();
  }
  SampleWrite samples(service);
  const absl::StatusOr<RemoteCounts> counts = samples.Run(*message, *version);
  if (!counts.ok()) {
    AnswerError(counts.status(), response);
    return absl::OkStatus();
  }
  response->code = 204;
  if (samples.refused() > 0) {
    Answer(400, samples.Problems(), response);
  } else if (counts->histograms > 0) {
    Answer(400,
           fmt::format("{} native histograms were not written: series have numbers only", counts->histograms),
           response);
  }
  if (*version == WriteVersion::k2) {
    response->headers.emplace_back("X-Prometheus-Remote-Write-Samples-Written",
                                   std::to_string(samples.written()));
    response->headers.emplace_back("X-Prometheus-Remote-Write-Histograms-Written", "0");
    response->headers.emplace_back("X-Prometheus-Remote-Write-Exemplars-Written", "0");
  }
  return absl::OkStatus();
}

absl::Status Read(IngestService* service, const HttpRequest& request, HttpBody* body,
                  HttpResponse* response) {
  absl::StatusOr<Admission::Place> place = service->Admit(request);
  const absl::StatusOr<std::string> bytes =
      place.ok() ? ReadBody(body, &*place) : absl::StatusOr<std::string>(place.status());
  const auto queries = bytes.ok() ? prometheus::DecodeRead(*bytes)
                                  : absl::StatusOr<std::vector<prometheus::RemoteQuery>>(bytes.status());
  if (!queries.ok()) {
    AnswerError(queries.status(), response);
    return absl::OkStatus();
  }
  *place = Admission::Place();  // the body is gone
  const auto memory = std::make_shared<QueryMemory>(&service->admission());
  std::vector<std::vector<RemoteSeries>> results;
  const std::shared_ptr<TableAccess> tables = service->TablesFor(request);
  for (const prometheus::RemoteQuery& query : *queries) {
    absl::StatusOr<std::vector<RemoteSeries>> result =
        ReadForPrometheus(service, tables.get(), query, InterruptedWhenGone(request),
                          [&](int64_t more_bytes) { return memory->Hold(more_bytes); });
    if (!result.ok()) {
      AnswerError(result.status(), response);
      return absl::OkStatus();
    }
    results.push_back(*std::move(result));
  }
  response->content_type = "application/x-protobuf";
  response->headers.emplace_back("Content-Encoding", "snappy");
  response->body = prometheus::EncodeReadResponse(results);
  return absl::OkStatus();
}

}  // namespace

void AddPrometheusRoutes(IngestService* service, Router* router) {
  router->Add({"POST", "/api/v1/write",
               [service](const HttpRequest& request, HttpBody* body, HttpResponse* response) {
                 return Write(service, request, body, response);
               },
               kIngestBodyBytesMax, kSnappy});
  router->Add({"POST", "/api/v1/read",
               [service](const HttpRequest& request, HttpBody* body, HttpResponse* response) {
                 return Read(service, request, body, response);
               },
               size_t{1} << 20, kSnappy});
}

}  // namespace sonde::series
