// Prometheus remote write (1.0 and 2.0) at /api/v1/write, remote read at /api/v1/read.
//
// Samples become points as sample_write.h says, and what is said about metrics is kept (metric_metadata.h).  Native histograms are
// refused, and the samples beside them are written; the headers X-Prometheus-Remote-Write-...-Written of 2.0 say how many.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "prometheus/remote_messages.h"
#include "series/http/ingest_service.h"
#include "series/http/metric_metadata.h"
#include "series/http/prometheus_read.h"
#include "series/http/query_memory.h"
#include "series/http/sample_write.h"
#include "series/schema/status_text.h"

namespace sonde::series {
namespace {

using prometheus::RemoteCounts;
using prometheus::RemoteLabels;
using prometheus::RemoteMetadata;
using prometheus::RemoteSample;
using prometheus::RemoteSamples;
using prometheus::RemoteSeries;
using prometheus::WriteVersion;

constexpr char kSnappy[] = "snappy";
constexpr size_t kSampleProblemsShownMax = 10;

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

// A write that was unpacked.
class RemoteWrite {
 public:
  explicit RemoteWrite(IngestService* service)
      : service_(service), samples_(service, kSenderPrometheus, [this](const std::string& why) {
          if (problems_.size() < kSampleProblemsShownMax) problems_.push_back(why);
        }) {}

  absl::StatusOr<RemoteCounts> Run(std::string_view message, WriteVersion version) {
    absl::StatusOr<RemoteCounts> counts = prometheus::ReadWrite(
        message, version,
        [this](const RemoteLabels& labels, RemoteSamples samples) { return AddSeries(labels, samples); },
        [this](const RemoteLabels& labels, const RemoteMetadata& metadata) {
          AddMetadata(labels, metadata);
        });
    if (!counts.ok()) return counts;
    if (absl::Status status = samples_.Flush(); !status.ok()) return status;
    samples_.tally().Refuse(PointCounts::Refusal::kHistogram, static_cast<uint64_t>(counts->histograms));
    if (absl::Status status = service_->metadata().Keep(std::move(metadata_)); !status.ok()) return status;
    return counts;
  }

  int64_t written() const { return samples_.written(); }
  int64_t refused() const { return samples_.refused(); }
  std::string Problems() const {
    return fmt::format("{} samples were refused: {}", refused(), fmt::join(problems_, "; "));
  }

 private:
  absl::Status AddSeries(const RemoteLabels& labels, RemoteSamples samples) {
    samples_.Begin(labels);
    for (RemoteSample sample; samples.Next(&sample);) {
      if (absl::Status status = samples_.Add(sample.timestamp_millis, sample.value); !status.ok())
        return status;
    }
    return absl::OkStatus();
  }

  void AddMetadata(const RemoteLabels& labels, const RemoteMetadata& from) {
    const std::string_view type =
        prometheus::kMetricTypes[from.type < prometheus::kMetricTypes.size() ? from.type : 0];
    std::string metric(from.family);
    for (const auto& [name, value] : labels) {
      if (name == kNameLabel) metric = FamilyOf(value, type);
    }
    if (from.type == 0 && from.help.empty() && from.unit.empty()) return;  // nothing is said
    if (metadata_.size() >= kMetricsWithMetadataMax) return;
    metadata_[std::move(metric)] = {std::string(type), std::string(from.help.substr(0, kHelpBytesMax + 1)),
                                    std::string(from.unit.substr(0, kUnitBytesMax + 1))};
  }

  IngestService* const service_;
  std::vector<std::string> problems_;
  SampleWrite samples_;
  std::map<std::string, MetricMetadata> metadata_;
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
  RemoteWrite samples(service);
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
