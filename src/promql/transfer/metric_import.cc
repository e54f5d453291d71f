#include "promql/transfer/metric_import.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "prometheus/remote_messages.h"
#include "promql/syntax/words.h"

namespace sonde::promql {
namespace {

// What a line takes while it is parsed: its values and times beside its text.
constexpr int64_t kBytesALineByte = 10;

}  // namespace

MetricImport::MetricImport(series::IngestService* service, TransferFormat format, Admission::Place* place)
    : service_(service),
      format_(format),
      place_(place),
      samples_(service, series::kSenderImport, [this](const std::string& why) { Refuse(why); }) {}

absl::Status MetricImport::Add(std::string_view bytes) {
  while (!bytes.empty()) {
    const size_t end = bytes.find('\n');
    if (end == std::string_view::npos) return Keep(bytes);
    absl::Status status;
    if (rest_.empty() && !is_too_long_ && end <= kImportLineBytesMax) {
      ++line_number_;
      status = AddLine(bytes.substr(0, end));
    } else {
      status = Keep(bytes.substr(0, end));
      ++line_number_;
      if (status.ok() && !is_too_long_) status = AddLine(rest_);
      if (is_too_long_) {
        ++lines_;
        Refuse(fmt::format("the line has more than {} bytes, the limit", kImportLineBytesMax));
      }
      rest_.clear();
      is_too_long_ = false;
    }
    if (!status.ok()) return status;
    bytes.remove_prefix(end + 1);
  }
  return absl::OkStatus();
}

absl::Status MetricImport::Keep(std::string_view bytes) {
  if (is_too_long_ || rest_.size() + bytes.size() > kImportLineBytesMax) {
    is_too_long_ = true;
    rest_ = {};
    return absl::OkStatus();
  }
  rest_.append(bytes);
  const int64_t wanted = kBytesALineByte * static_cast<int64_t>(rest_.capacity());
  return wanted <= place_->bytes() ? absl::OkStatus() : place_->Resize(wanted);
}

absl::Status MetricImport::AddLine(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (line.empty()) return absl::OkStatus();
  ++lines_;
  if (format_ == TransferFormat::kOpenMetrics) return AddOpenMetrics(line);
  const absl::Status status = ParseJsonLine(line, &parsed_.series);
  if (status.ok()) return AddSeries(parsed_.series);
  Refuse(std::string(TextOfError(status)));
  return absl::OkStatus();
}

absl::Status MetricImport::AddOpenMetrics(std::string_view line) {
  using Kind = OpenMetricsLine::Kind;
  if (has_ended_) {
    Refuse(fmt::format("a line behind {}", kOpenMetricsEnd));
    return absl::OkStatus();
  }
  const absl::Status status = ParseOpenMetricsLine(line, service_->clock().NowMicros() / 1'000, &parsed_);
  if (!status.ok()) {
    Refuse(std::string(TextOfError(status)));
    return absl::OkStatus();
  }
  if (parsed_.kind == Kind::kSample) return AddSeries(parsed_.series);
  has_ended_ = parsed_.kind == Kind::kEnd;
  if (parsed_.kind == Kind::kType || parsed_.kind == Kind::kHelp || parsed_.kind == Kind::kUnit) {
    TakeMetadata(std::move(parsed_));
  }
  return absl::OkStatus();
}

absl::Status MetricImport::AddSeries(const ImportedSeries& series) {
  std::vector<std::pair<std::string_view, std::string_view>> labels;
  labels.reserve(series.labels.size());
  for (const auto& [name, value] : series.labels) {
    if (!value.empty()) labels.emplace_back(name, value);
  }
  samples_.Begin(labels);
  for (size_t i = 0; i < series.run.times.size(); ++i) {
    absl::Status status = samples_.Add(series.run.times[i], series.run.values[i]);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

void MetricImport::TakeMetadata(OpenMetricsLine line) {
  if (metadata_.size() >= series::kMetricsWithMetadataMax && !metadata_.contains(line.family)) return;
  series::MetricMetadata& metadata = metadata_[line.family];
  if (metadata.type.empty()) metadata.type = "unknown";
  std::string& member = line.kind == OpenMetricsLine::Kind::kType   ? metadata.type
                        : line.kind == OpenMetricsLine::Kind::kHelp ? metadata.help
                                                                    : metadata.unit;
  const size_t bytes_max =
      line.kind == OpenMetricsLine::Kind::kHelp ? series::kHelpBytesMax + 1 : series::kUnitBytesMax + 1;
  member = line.text.substr(0, bytes_max);
}

void MetricImport::Refuse(const std::string& why) {
  if (refused_line_ == line_number_) return;  // one reason of a line
  refused_line_ = line_number_;
  ++refused_lines_;
  if (problems_.size() < kImportProblemsMax) problems_.push_back({line_number_, why});
}

absl::Status MetricImport::Finish() {
  if (!rest_.empty() || is_too_long_) {
    if (absl::Status status = Add("\n"); !status.ok()) return status;
  }
  if (format_ == TransferFormat::kOpenMetrics && !has_ended_) {
    ++line_number_;
    Refuse(fmt::format("the text ends without {}: it may have been cut off", kOpenMetricsEnd));
  }
  if (absl::Status status = samples_.Flush(); !status.ok()) return status;
  std::map<std::string, series::MetricMetadata> all;
  for (auto& [family, metadata] : metadata_) {
    const bool is_known = std::find(prometheus::kMetricTypes.begin(), prometheus::kMetricTypes.end(),
                                    metadata.type) != prometheus::kMetricTypes.end();
    if (!is_known) metadata.type = "unknown";
    if (metadata.type == "unknown" && metadata.help.empty() && metadata.unit.empty()) continue;
    // OpenMetrics names the family, and the ending stands at its samples.
    const bool lacks_ending = metadata.type == "counter" && !family.ends_with(kCounterEnding);
    all.emplace(lacks_ending ? family + std::string(kCounterEnding) : family, std::move(metadata));
  }
  return service_->metadata().Keep(std::move(all));
}

}  // namespace sonde::promql
