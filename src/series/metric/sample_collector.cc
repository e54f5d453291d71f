#include "series/metric/sample_collector.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "absl/types/span.h"
#include "series/metric/metric_batch.h"

namespace sonde::series {
namespace {

using promql::Labels;
using promql::SampleSeries;

constexpr int64_t kStepBytes = int64_t{1} << 20;

}  // namespace

absl::Status SampleCollector::Account(int64_t bytes) {
  untold_bytes_ += bytes;
  if (untold_bytes_ < kStepBytes) return absl::OkStatus();
  if (read_.hold) {
    if (absl::Status status = read_.hold(untold_bytes_); !status.ok()) return status;
    told_bytes_ += untold_bytes_;
  }
  untold_bytes_ = 0;
  return absl::OkStatus();
}

absl::Status SampleCollector::Add(const MetricScan& scan, const rows::Batch& batch) {
  const size_t tags = scan.view.tags.size();
  for (size_t begin = 0; begin < batch.rows;) {
    const size_t end = EndOfTags(batch, tags, begin);
    if (absl::Status status = FindSeries(scan, batch, begin); !status.ok()) return status;
    const int64_t before = samples_;
    absl::Span<const int64_t> rising;
    for (size_t i = 0; i < scan.metrics.size(); ++i) {
      samples_ += found_[last_places_[i]].Add(scan, i, batch, begin, end, &rising);
    }
    if (samples_ > read_.samples_max) return TooManySamples(read_.samples_max);
    if (absl::Status status = Account((samples_ - before) * read_.sample_bytes); !status.ok()) return status;
    begin = end;
  }
  return absl::OkStatus();
}

absl::StatusOr<size_t> SampleCollector::PlaceOf(Labels labels) {
  const auto [at, is_new] = place_of_.try_emplace(labels, found_.size());
  if (!is_new) return at->second;
  if (static_cast<int64_t>(found_.size()) >= read_.series_max) return TooManySeries(read_.series_max);
  found_.emplace_back().series.labels = std::move(labels);
  return found_.size() - 1;
}

absl::Status SampleCollector::FindSeries(const MetricScan& scan, const rows::Batch& batch, size_t row) {
  std::string tags = TagsText(batch, scan.view.tags.size(), row);
  if (!last_places_.empty() && tags == last_tags_) return absl::OkStatus();
  last_tags_ = std::move(tags);
  last_places_.clear();
  for (size_t i = 0; i < scan.metrics.size(); ++i) {
    Labels labels = LabelsOf(scan, i, batch, row);
    const int64_t bytes = 2 * BytesOf(labels);
    const size_t known = found_.size();
    const absl::StatusOr<size_t> place = PlaceOf(std::move(labels));
    if (!place.ok()) return place.status();
    last_places_.push_back(*place);
    if (*place < known) continue;
    if (absl::Status status = Account(bytes); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status SampleCollector::Join(SampleCollector* part) {
  samples_ += part->samples_;
  told_bytes_ += std::exchange(part->told_bytes_, 0);
  if (absl::Status status = Account(std::exchange(part->untold_bytes_, 0)); !status.ok()) return status;
  if (samples_ > read_.samples_max) return TooManySamples(read_.samples_max);
  for (FoundSamples& more : part->found_) {
    const size_t known = found_.size();
    const absl::StatusOr<size_t> place = PlaceOf(more.series.labels);
    if (!place.ok()) return place.status();
    if (*place == known) {
      found_.back() = std::move(more);
    } else {
      found_[*place].Append(more);
    }
  }
  part->Clear();
  return absl::OkStatus();
}

void SampleCollector::Clear() {
  if (told_bytes_ > 0) read_.hold(-told_bytes_).IgnoreError();
  told_bytes_ = 0;
  untold_bytes_ = 0;
  samples_ = 0;
  place_of_.clear();
  found_.clear();
  last_places_.clear();
}

std::vector<SampleSeries> SampleCollector::Take() {
  std::vector<SampleSeries> all;
  place_of_.clear();
  all.reserve(found_.size());
  for (FoundSamples& found : found_) {
    if (found.series.times.empty()) continue;
    found.Sort();
    all.push_back(std::move(found.series));
  }
  found_.clear();
  std::sort(all.begin(), all.end(),
            [](const SampleSeries& a, const SampleSeries& b) { return a.labels < b.labels; });
  return all;
}

}  // namespace sonde::series
