#include "promql/transfer/metric_export.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "base/bytes.h"
#include "rows/value.h"
#include "series/metric/metric_batch.h"
#include "series/metric/metric_mark.h"

namespace sonde::promql {
namespace {

constexpr size_t kPartBytes = size_t{64} << 10;
// Samples of one call of AppendRows, about.
constexpr size_t kSamplesAPart = 16'384;

bool AllMatch(const std::vector<Matcher>& matchers, const Labels& labels) {
  return std::all_of(matchers.begin(), matchers.end(), [&labels](const Matcher& matcher) {
    return matcher.Matches(LabelOf(labels, matcher.name()));
  });
}

// Whether the matchers name a metric whole.
bool NameMetric(const std::vector<Matcher>& matchers) {
  return std::any_of(matchers.begin(), matchers.end(), [](const Matcher& matcher) {
    return matcher.name() == kMetricLabel && matcher.kind() == MatchKind::kEqual;
  });
}

}  // namespace

MetricExport::MetricExport(std::vector<series::KnownSeriesRef> known, std::vector<std::vector<Matcher>> sets,
                           series::MetricRead read, TransferFormat format, Metadata metadata,
                           std::shared_ptr<TableAccess> tables)
    : sets_(std::move(sets)),
      read_(std::move(read)),
      format_(format),
      metadata_(std::move(metadata)),
      tables_(std::move(tables)) {
  if (format_ == TransferFormat::kOpenMetrics) {
    ListMetricUnits(known);
  } else {
    for (series::KnownSeriesRef& series : known) units_.push_back({{std::move(series)}, ""});
  }
}

// A metric is of the series of its name, or of one whose name it begins with.
void MetricExport::ListMetricUnits(const std::vector<series::KnownSeriesRef>& known) {
  std::set<std::string> metrics;
  for (const std::vector<Matcher>& matchers : sets_) {
    metrics.merge([&] {
      const std::vector<std::string> names = series::MetricNames(known, matchers);
      return std::set<std::string>(names.begin(), names.end());
    }());
    // Of derived tables only those that are named.
    for (const Matcher& matcher : matchers) {
      if (matcher.name() == kMetricLabel && matcher.kind() == MatchKind::kEqual)
        metrics.insert(matcher.value());
    }
  }
  absl::flat_hash_map<std::string_view, const series::KnownSeriesRef*> by_name;
  for (const series::KnownSeriesRef& series : known) by_name[series->schema.name] = &series;
  for (const std::string& metric : metrics) {
    Unit unit{{}, metric};
    for (size_t end = metric.find('_'); end != std::string::npos; end = metric.find('_', end + 1)) {
      const auto found = by_name.find(std::string_view(metric).substr(0, end));
      if (found != by_name.end()) unit.known.push_back(*found->second);
    }
    if (const auto found = by_name.find(metric); found != by_name.end()) unit.known.push_back(*found->second);
    units_.push_back(std::move(unit));
  }
}

absl::Status MetricExport::BeginUnit(const Unit& unit) {
  for (size_t set = 0; set < sets_.size(); ++set) {
    std::vector<Matcher> matchers = sets_[set];
    if (!unit.metric.empty()) {
      absl::StatusOr<Matcher> name = Matcher::Create(MatchKind::kEqual, kMetricLabel, unit.metric);
      if (!name.ok()) return name.status();
      matchers.push_back(*std::move(name));
    }
    for (const series::KnownSeriesRef& known : unit.known) {
      const absl::Status status = series::ForEachMetricScan({known}, matchers, [&](series::MetricScan scan) {
        const bool is_derived = scan.series.schema.name != known->schema.name;
        // A unit of a metric names it, also where the set that was asked for does not.
        if (!is_derived || NameMetric(sets_[set])) scans_.push_back({std::move(scan), set, is_derived});
        return absl::OkStatus();
      });
      if (!status.ok()) return status;
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> MetricExport::BeginScan() {
  while (scans_.empty()) {
    if (units_.empty()) return false;
    const Unit unit = std::move(units_.front());
    units_.pop_front();
    if (absl::Status status = BeginUnit(unit); !status.ok()) return status;
  }
  series::MetricScan& scan = scans_.front().scan;
  series::PrepareQuery(read_, &scan.query);
  if (scan.stale) scan.query.fields.push_back(scan.stale->second);
  absl::StatusOr<std::unique_ptr<series::PointStream>> stream = series::PointStream::Open(
      std::make_shared<const series::KnownSeries>(scan.series), scan.query, tables_.get());
  if (!stream.ok()) return stream.status();
  stream_ = *std::move(stream);
  return true;
}

absl::StatusOr<bool> MetricExport::Next(std::string* part) {
  const size_t before = part->size();
  while (!has_ended_ && part->size() - before < kPartBytes) {
    if (row_ < batch_.rows) {
      AppendRows(part);
      continue;
    }
    if (stream_ == nullptr) {
      const absl::StatusOr<bool> has_scan = BeginScan();
      if (!has_scan.ok() && !absl::IsNotFound(has_scan.status())) return has_scan;
      if (has_scan.ok() && !*has_scan) {
        has_ended_ = true;
        if (format_ == TransferFormat::kOpenMetrics) part->append(kOpenMetricsEnd).push_back('\n');
        break;
      }
      if (!has_scan.ok()) scans_.pop_front();  // no point has come yet
      continue;
    }
    row_ = 0;
    batch_ = {};
    const absl::StatusOr<bool> more = stream_->Next(&batch_);
    if (!more.ok() && !absl::IsNotFound(more.status())) return more;
    if (more.ok() && *more) continue;
    batch_ = {};
    stream_.reset();
    scans_.pop_front();
  }
  return !has_ended_ || part->size() > before;
}

void MetricExport::AppendRows(std::string* part) {
  const Scan& scan = scans_.front();
  const size_t rows_max = std::max<size_t>(1, kSamplesAPart / scan.scan.metrics.size());
  const size_t end = std::min(series::EndOfTags(batch_, scan.scan.view.tags.size(), row_), row_ + rows_max);
  for (size_t metric = 0; metric < scan.scan.metrics.size(); ++metric) AppendMetric(metric, row_, end, part);
  row_ = end;
}

void MetricExport::AppendMetric(size_t metric, size_t begin, size_t end, std::string* part) {
  const series::MetricScan& scan = scans_.front().scan;
  const size_t tags = scan.view.tags.size();
  const ColumnView& times = batch_.columns[tags];
  const ColumnView& values = batch_.columns[tags + 1 + metric];
  const bool has_marks = scan.stale && scan.stale->first == metric;
  SampleRun run;
  for (size_t row = begin; row < end; ++row) {
    std::optional<double> value = rows::NumberOf(values, row);
    if (!value && has_marks) {
      if (const auto mark = rows::NumberOf(batch_.columns.back(), row)) value = series::ValueOfMark(*mark);
    }
    if (!value) continue;
    run.times.push_back(series::FloorMicros(times.ints()[times.PlaceOf(row)], 1'000) / 1'000);
    run.values.push_back(*value);
  }
  if (run.times.empty()) return;
  const Labels labels = series::LabelsOf(scan, metric, batch_, begin);
  if (WasBefore(labels)) return;
  if (format_ == TransferFormat::kJsonLines) return AppendJsonLine(labels, run, part);
  if (head_of_ != scan.metrics[metric]) {
    head_of_ = scan.metrics[metric];
    const auto metadata = metadata_.find(head_of_);
    AppendOpenMetricsHead(head_of_, metadata == metadata_.end() ? nullptr : &metadata->second, part);
  }
  AppendOpenMetrics(labels, run, part);
}

bool MetricExport::WasBefore(const Labels& labels) const {
  const Scan& scan = scans_.front();
  for (size_t set = 0; set < scan.set; ++set) {
    // A pattern means the series, not their copies.
    if (AllMatch(sets_[set], labels) && (!scan.is_derived || NameMetric(sets_[set]))) return true;
  }
  return false;
}

}  // namespace sonde::promql
