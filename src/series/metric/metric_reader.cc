#include "series/metric/metric_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "base/bytes.h"
#include "rows/aggregate.h"
#include "rows/batch.h"
#include "rows/value.h"
#include "series/metric/metric_batch.h"
#include "series/metric/metric_mark.h"
#include "series/metric/metric_scan.h"
#include "series/query/query.h"

namespace sonde::series {
namespace {

using promql::Labels;
using promql::SampleSeries;

int64_t BytesOf(const Labels& labels) {
  size_t bytes = sizeof(Labels);
  for (const auto& [name, value] : labels)
    bytes += 2 * sizeof(std::string) + name.capacity() + value.capacity();
  return static_cast<int64_t>(bytes);
}

absl::Status TooManySeries(int64_t series_max) {
  return absl::ResourceExhaustedError(
      fmt::format("the query selects more than {} series; ask for a shorter time or add conditions on labels",
                  series_max));
}

absl::Status Run(const MetricScan& scan, TableAccess* tables, const TakeAnswer& take) {
  const absl::Status status = RunQueryInBatches(scan.series, scan.query, tables, take).status();
  return absl::IsNotFound(status) ? absl::OkStatus() : status;  // no point has come yet
}

// Tells of memory in steps, which stays held.
class Account {
 public:
  explicit Account(const rows::Hold& hold) : hold_(hold) {}

  absl::Status Add(int64_t bytes) {
    bytes_ += bytes;
    return bytes_ < kStepBytes ? absl::OkStatus() : Tell();
  }
  // What was told until now.
  int64_t told_bytes() const { return told_bytes_; }

 private:
  static constexpr int64_t kStepBytes = int64_t{1} << 20;

  absl::Status Tell() {
    if (hold_) {
      if (absl::Status status = hold_(bytes_); !status.ok()) return status;
      told_bytes_ += bytes_;
    }
    bytes_ = 0;
    return absl::OkStatus();
  }

  const rows::Hold& hold_;
  int64_t bytes_ = 0;
  int64_t told_bytes_ = 0;
};

class SampleReader {
 public:
  explicit SampleReader(const MetricRead& read) : read_(read), account_(read.hold) {}

  absl::Status ReadScan(MetricScan scan, TableAccess* tables);
  MetricSamples Take();
  int64_t told_bytes() const { return account_.told_bytes(); }

 private:
  struct Found {
    SampleSeries series;
    bool is_sorted = true;
  };

  absl::Status Add(const MetricScan& scan, const rows::Batch& batch);
  absl::Status FindSeries(const MetricScan& scan, const rows::Batch& batch, size_t row);
  void AddColumn(const rows::Batch& batch, size_t tags, size_t column, size_t begin, size_t end,
                 Found* found);
  void AddMarks(const rows::Batch& batch, size_t tags, size_t begin, size_t end, Found* found);
  static void AddSample(int64_t time_micros, double value, Found* found);
  static void Sort(SampleSeries* series);

  const MetricRead& read_;
  Account account_;
  int64_t samples_ = 0;
  absl::flat_hash_map<Labels, size_t> place_of_;
  std::vector<Found> found_;
  // Of the tags that came last: one place in found_ for each metric.
  std::string last_tags_;
  std::vector<size_t> last_places_;
};

absl::Status SampleReader::ReadScan(MetricScan scan, TableAccess* tables) {
  PrepareQuery(read_, &scan.query);
  scan.query.takes_numbers = true;
  if (scan.stale) scan.query.fields.push_back(scan.stale->second);
  last_places_.clear();
  return Run(scan, tables, [&](const rows::Batch& batch) -> absl::StatusOr<bool> {
    if (absl::Status status = Add(scan, batch); !status.ok()) return status;
    return true;
  });
}

absl::Status SampleReader::Add(const MetricScan& scan, const rows::Batch& batch) {
  const size_t tags = scan.view.tags.size();
  for (size_t begin = 0; begin < batch.rows;) {
    const size_t end = EndOfTags(batch, tags, begin);
    if (absl::Status status = FindSeries(scan, batch, begin); !status.ok()) return status;
    const int64_t before = samples_;
    // In front of the samples, one of which takes the place of a mark of its time.
    if (scan.stale) AddMarks(batch, tags, begin, end, &found_[last_places_[scan.stale->first]]);
    for (size_t i = 0; i < scan.metrics.size(); ++i) {
      AddColumn(batch, tags, tags + 1 + i, begin, end, &found_[last_places_[i]]);
    }
    if (samples_ > read_.samples_max) {
      return absl::ResourceExhaustedError(
          fmt::format("the query asks for more than {} samples; ask for a shorter time or fewer series",
                      read_.samples_max));
    }
    if (absl::Status status = account_.Add((samples_ - before) * read_.sample_bytes); !status.ok()) {
      return status;
    }
    begin = end;
  }
  return absl::OkStatus();
}

absl::Status SampleReader::FindSeries(const MetricScan& scan, const rows::Batch& batch, size_t row) {
  std::string tags;
  for (size_t tag = 0; tag < scan.view.tags.size(); ++tag) {
    const std::string_view value = TagOf(batch.columns[tag], row);
    tags.append(std::to_string(value.size())).append(1, ':').append(value);
  }
  if (!last_places_.empty() && tags == last_tags_) return absl::OkStatus();
  last_tags_ = std::move(tags);
  last_places_.clear();
  for (size_t i = 0; i < scan.metrics.size(); ++i) {
    Labels labels = LabelsOf(scan, i, batch, row);
    const auto [at, is_new] = place_of_.try_emplace(labels, found_.size());
    last_places_.push_back(at->second);
    if (!is_new) continue;
    if (static_cast<int64_t>(found_.size()) >= read_.series_max) return TooManySeries(read_.series_max);
    if (absl::Status status = account_.Add(2 * BytesOf(labels)); !status.ok()) return status;
    found_.emplace_back().series.labels = std::move(labels);
  }
  return absl::OkStatus();
}

void SampleReader::AddColumn(const rows::Batch& batch, size_t tags, size_t column, size_t begin, size_t end,
                             Found* found) {
  const int64_t* const times = batch.columns[tags].ints();
  const ColumnView& values = batch.columns[column];
  const bool is_double = values.type() == ColumnType::kDouble && !values.is_constant();
  for (size_t row = begin; row < end; ++row) {
    if (!values.IsThere(row)) continue;
    const double value = is_double ? values.doubles()[row] : *rows::NumberOf(values, row);
    AddSample(times[batch.columns[tags].PlaceOf(row)], value, found);
    ++samples_;
  }
}

// Their column is the last one.
void SampleReader::AddMarks(const rows::Batch& batch, size_t tags, size_t begin, size_t end, Found* found) {
  for (size_t row = begin; row < end; ++row) {
    const std::optional<double> mark = rows::NumberOf(batch.columns.back(), row);
    if (!mark) continue;
    AddSample(batch.columns[tags].ints()[batch.columns[tags].PlaceOf(row)], ValueOfMark(*mark), found);
    ++samples_;
  }
}

void SampleReader::AddSample(int64_t time_micros, double value, Found* found) {
  const int64_t millis = FloorMicros(time_micros, 1'000) / 1'000;
  std::vector<int64_t>& times = found->series.times;
  if (!times.empty() && millis <= times.back()) {
    if (millis == times.back()) {
      found->series.values.back() = value;  // the last one of a time counts
      return;
    }
    found->is_sorted = false;
  }
  times.push_back(millis);
  found->series.values.push_back(value);
}

// If several samples have one time, the last one counts: series come by name, so its name has the most of the
// metric's.
void SampleReader::Sort(SampleSeries* series) {
  std::vector<size_t> order(series->times.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [series](size_t a, size_t b) { return series->times[a] < series->times[b]; });
  SampleSeries sorted;
  for (const size_t i : order) {
    if (!sorted.times.empty() && sorted.times.back() == series->times[i]) {
      sorted.values.back() = series->values[i];
      continue;
    }
    sorted.times.push_back(series->times[i]);
    sorted.values.push_back(series->values[i]);
  }
  series->times = std::move(sorted.times);
  series->values = std::move(sorted.values);
}

MetricSamples SampleReader::Take() {
  MetricSamples result;
  place_of_.clear();
  result.series.reserve(found_.size());
  for (Found& found : found_) {
    if (found.series.times.empty()) continue;
    if (!found.is_sorted) Sort(&found.series);
    result.series.push_back(std::move(found.series));
  }
  std::sort(result.series.begin(), result.series.end(),
            [](const SampleSeries& a, const SampleSeries& b) { return a.labels < b.labels; });
  result.held_bytes = account_.told_bytes();
  return result;
}

}  // namespace

absl::StatusOr<MetricSamples> ReadMetrics(const std::vector<KnownSeriesRef>& known, const MetricRead& read,
                                          TableAccess* tables) {
  SampleReader reader(read);
  absl::Status status = ForEachMetricScan(
      known, read.matchers, [&](MetricScan scan) { return reader.ReadScan(std::move(scan), tables); });
  if (status.ok()) return reader.Take();
  if (reader.told_bytes() > 0) read.hold(-reader.told_bytes()).IgnoreError();
  return status;
}

absl::Status ForEachMetric(const std::vector<KnownSeriesRef>& known, const MetricRead& read,
                           TableAccess* tables, const std::function<absl::Status(Labels labels)>& take) {
  return ForEachMetricScan(known, read.matchers, [&](MetricScan scan) -> absl::Status {
    PrepareQuery(read, &scan.query);
    scan.query.aggregates = {rows::Aggregate::kCount};
    if (scan.stale) scan.query.fields.push_back(scan.stale->second);
    const size_t tags = scan.view.tags.size();
    return Run(scan, tables, [&](const rows::Batch& batch) -> absl::StatusOr<bool> {
      const auto has_points = [&](size_t field, size_t row) {
        return rows::NumberOf(batch.columns[tags + 1 + field], row).value_or(0) > 0;
      };
      for (size_t row = 0; row < batch.rows; ++row) {
        for (size_t i = 0; i < scan.metrics.size(); ++i) {
          const bool has_marks = scan.stale && scan.stale->first == i;
          if (!has_points(i, row) && !(has_marks && has_points(scan.metrics.size(), row))) continue;
          if (absl::Status status = take(LabelsOf(scan, i, batch, row)); !status.ok()) return status;
        }
      }
      return true;
    });
  });
}

absl::StatusOr<std::vector<Labels>> ListMetrics(const std::vector<KnownSeriesRef>& known,
                                                const MetricRead& read, TableAccess* tables) {
  std::vector<Labels> all;
  rows::HeldMemory memory(read.hold);
  const absl::Status status = ForEachMetric(known, read, tables, [&](Labels labels) -> absl::Status {
    if (static_cast<int64_t>(all.size()) >= read.series_max) return TooManySeries(read.series_max);
    all.push_back(std::move(labels));
    return memory.Add(BytesOf(all.back()));
  });
  if (!status.ok()) return status;
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

}  // namespace sonde::series
