#include "series/metric/metric_visit.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "promql/samples/labels.h"
#include "rows/batch.h"
#include "rows/held_memory.h"
#include "series/metric/found_samples.h"
#include "series/metric/metric_batch.h"
#include "series/query/query.h"

namespace sonde::series {
namespace {

using promql::SeriesSink;
using promql::SeriesVisit;

// So many entities have their sink taken where there are no parts.
constexpr int64_t kGivenMax = 1'000;

// The series of one entity.
class Entity {
 public:
  bool is_there() const { return is_there_; }
  bool Is(const std::string& tags) const { return is_there_ && tags == tags_; }
  bool IsSame(const Entity& other) const { return Is(other.tags_); }
  int64_t samples() const { return samples_; }

  // Keeps the memory of the entity before.
  void Begin(std::string tags, const MetricScan& scan, const rows::Batch& batch, size_t row) {
    tags_ = std::move(tags);
    is_there_ = true;
    series_.resize(scan.metrics.size());
    series_[0].series.labels = LabelsOf(scan, 0, batch, row);
    for (size_t i = 1; i < series_.size(); ++i) {
      series_[i].series.labels = series_[0].series.labels;
      promql::SetLabel(kNameLabel, scan.metrics[i], &series_[i].series.labels);
    }
  }
  // Adds to `counts` how many samples of each metric there are.
  void Add(const MetricScan& scan, const rows::Batch& batch, size_t begin, size_t end,
           std::vector<int64_t>* counts) {
    absl::Span<const int64_t> rising;
    for (size_t i = 0; i < series_.size(); ++i) {
      const int64_t count = series_[i].Add(scan, i, batch, begin, end, &rising);
      samples_ += count;
      (*counts)[i] += count;
    }
  }
  // Points of the same entity.
  void Append(const Entity& more) {
    for (size_t i = 0; i < series_.size(); ++i) series_[i].Append(more.series_[i]);
    samples_ += more.samples_;
  }
  // Gives its series, and forgets them.
  absl::Status GiveTo(SeriesSink* sink) {
    for (FoundSamples& found : series_) {
      if (found.series.times.empty()) continue;
      found.Sort();
      if (absl::Status status = sink->Take(&found.series); !status.ok()) return status;
    }
    Clear();
    return absl::OkStatus();
  }
  void Clear() {
    is_there_ = false;
    samples_ = 0;
    for (FoundSamples& found : series_) {
      found.series.times.clear();
      found.series.values.clear();
      found.is_sorted = true;
    }
  }

 private:
  bool is_there_ = false;
  std::string tags_;
  std::vector<FoundSamples> series_;  // one a metric
  int64_t samples_ = 0;
};

// The entities of a part.
class PartEntities final : public PartFold {
 public:
  // `is_whole`: it is all of the scan, so that the first entity is whole, too.
  PartEntities(const MetricScan& scan, const MetricRead& read, const SeriesVisit& visit, bool is_whole)
      : scan_(scan),
        read_(read),
        visit_(visit),
        is_whole_(is_whole),
        counts_(scan.metrics.size()),
        memory_(read.hold) {}

  absl::Status Add(const rows::Batch& batch) override {
    const size_t tags = scan_.view.tags.size();
    for (size_t begin = 0; begin < batch.rows;) {
      const size_t end = EndOfTags(batch, tags, begin);
      if (absl::Status status = FindEntity(batch, begin); !status.ok()) return status;
      last_.Add(scan_, batch, begin, end, &counts_);
      if (absl::Status status = CheckSamples(); !status.ok()) return status;
      if (absl::Status status = Hold(); !status.ok()) return status;
      begin = end;
    }
    return absl::OkStatus();
  }
  void Clear() override {
    first_.Clear();
    last_.Clear();
    sink_.reset();
    std::ranges::fill(counts_, 0);
    entities_ = held_samples_ = 0;
    memory_.Clear();
  }

  // Takes what `part` has, whose points lie behind those that are here, and gives the entities that are whole.
  absl::Status Join(PartEntities* part) {
    const bool has_several = part->first_.is_there();
    Entity& front = has_several ? part->first_ : part->last_;
    if (!front.is_there()) return absl::OkStatus();
    const bool goes_on = last_.IsSame(front);
    for (size_t i = 0; i < counts_.size(); ++i) counts_[i] += part->counts_[i];
    entities_ += part->entities_ - (goes_on ? 1 : 0);
    if (absl::Status status = CheckSamples(); !status.ok()) return status;
    if (absl::Status status = CheckEntities(); !status.ok()) return status;
    if (goes_on) {
      last_.Append(front);
    } else {
      if (absl::Status status = GiveLast(); !status.ok()) return status;
      std::swap(last_, front);
    }
    if (has_several) {
      if (absl::Status status = GiveLast(); !status.ok()) return status;
      if (part->sink_ != nullptr) {
        if (absl::Status status = visit_.take(part->sink_.get()); !status.ok()) return status;
      }
      std::swap(last_, part->last_);
    }
    return Hold();
  }
  // All points are here.
  absl::Status Finish() {
    if (absl::Status status = GiveLast(); !status.ok()) return status;
    return sink_ == nullptr ? absl::OkStatus() : visit_.take(sink_.get());
  }

 private:
  absl::Status FindEntity(const rows::Batch& batch, size_t row) {
    std::string tags = TagsText(batch, scan_.view.tags.size(), row);
    if (last_.Is(tags)) return absl::OkStatus();
    if (last_.is_there()) {
      if (!is_whole_ && !first_.is_there()) {
        std::swap(first_, last_);
      } else if (absl::Status status = GiveLast(); !status.ok()) {
        return status;
      }
    }
    ++entities_;
    last_.Begin(std::move(tags), scan_, batch, row);
    return CheckEntities();
  }

  absl::Status GiveLast() {
    if (!last_.is_there()) return absl::OkStatus();
    if (sink_ == nullptr) sink_ = visit_.make();
    if (absl::Status status = last_.GiveTo(sink_.get()); !status.ok()) return status;
    if (!is_whole_ || ++given_ < kGivenMax) return absl::OkStatus();
    given_ = 0;
    return visit_.take(std::exchange(sink_, nullptr).get());
  }

  absl::Status CheckSamples() const {
    const int64_t samples = scan_.is_of_several ? *std::ranges::max_element(counts_)
                                                : std::accumulate(counts_.begin(), counts_.end(), int64_t{0});
    return samples > read_.samples_max ? TooManySamples(read_.samples_max) : absl::OkStatus();
  }

  absl::Status CheckEntities() const {
    const int64_t metrics = scan_.is_of_several ? 1 : static_cast<int64_t>(scan_.metrics.size());
    return entities_ * metrics > read_.series_max ? TooManySeries(read_.series_max) : absl::OkStatus();
  }

  // Tells of the memory of samples, which later entities use again.
  absl::Status Hold() {
    const int64_t samples = first_.samples() + last_.samples();
    if (samples <= held_samples_) return absl::OkStatus();
    const int64_t more = samples - std::exchange(held_samples_, samples);
    return memory_.Add(more * read_.sample_bytes);
  }

  const MetricScan& scan_;
  const MetricRead& read_;
  const SeriesVisit& visit_;
  const bool is_whole_;
  Entity first_;  // if there are several
  Entity last_;
  std::unique_ptr<SeriesSink> sink_;  // of the entities between, or of all that are whole
  std::vector<int64_t> counts_;       // of samples, by metric
  int64_t entities_ = 0;
  int64_t given_ = 0;  // to sink_
  int64_t held_samples_ = 0;
  rows::HeldMemory memory_;
};

absl::StatusOr<bool> GoOn(absl::Status status) {
  if (!status.ok()) return status;
  return true;
}

}  // namespace

bool CanVisit(const std::vector<MetricScan>& scans) {
  if (scans.size() != 1 || !scans[0].series.is_open()) return false;
  const std::vector<std::string>& labels = scans[0].series.labels;
  return std::find(labels.begin(), labels.end(), promql::kMetricLabel) == labels.end();
}

absl::Status VisitMetrics(MetricScan scan, const MetricRead& read, TableAccess* tables,
                          const SeriesVisit& visit) {
  PrepareForSamples(read, &scan);
  PartEntities whole(scan, read, visit, /*is_whole=*/true);
  const absl::Status status =
      RunQueryInParts(
          scan.series, scan.query, tables,
          [&](const rows::Interrupted& /*interrupted*/) {
            return std::make_unique<PartEntities>(scan, read, visit, /*is_whole=*/false);
          },
          [&](PartFold* part) { return GoOn(whole.Join(static_cast<PartEntities*>(part))); },
          [&](const rows::Batch& batch) { return GoOn(whole.Add(batch)); })
          .status();
  if (absl::IsNotFound(status)) return absl::OkStatus();  // no point has come yet
  if (!status.ok()) return status;
  return whole.Finish();
}

}  // namespace sonde::series
