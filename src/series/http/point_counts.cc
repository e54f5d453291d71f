#include "series/http/point_counts.h"

#include <algorithm>
#include <string>
#include <utility>

namespace sonde::series {
namespace {

constexpr std::array<const char*, static_cast<size_t>(PointCounts::Refusal::kCount)> kRefusalNames = {
    "unreadable", "invalid", "undeclared", "too_many", "histogram"};

}  // namespace

PointCounts::Refusal PointCounts::RefusalOf(const absl::Status& status) {
  if (absl::IsFailedPrecondition(status)) return Refusal::kUndeclared;
  if (absl::IsResourceExhausted(status)) return Refusal::kTooMany;
  return Refusal::kInvalid;
}

void PointCounts::AddWritten(std::string_view series, std::string_view sender, const Written& written) {
  if (written.points == 0) return;
  const absl::MutexLock lock(&mutex_);
  std::pair<std::string, std::string> key(series, sender);
  if (written_.size() >= kSeriesMax && !written_.contains(key)) key.first = kOtherSeries;
  Written& sum = written_[key];
  sum.newest_micros =
      sum.points == 0 ? written.newest_micros : std::max(sum.newest_micros, written.newest_micros);
  sum.points += written.points;
}

void PointCounts::AddRefused(Refusal why, uint64_t points) {
  const absl::MutexLock lock(&mutex_);
  refused_[static_cast<size_t>(why)] += points;
}

std::vector<Figure> PointCounts::Figures() const {
  Figure written = Figure::Counter(
      "sonde_points_total", "Points of series that were written over HTTP, by series and kind of sender.");
  Figure refused = Figure::Counter("sonde_points_refused_total",
                                   "Points that came over HTTP and were refused, by reason.");
  Figure newest = Figure::Gauge("sonde_points_newest_seconds",
                                "Time of the newest point that came over HTTP since the start, in seconds "
                                "since 1970, by series.");
  const absl::MutexLock lock(&mutex_);
  std::map<std::string_view, int64_t> newest_micros;
  for (const auto& [key, one] : written_) {
    const auto& [series, sender] = key;
    written.Add(static_cast<double>(one.points), {{"series", series}, {"sender", sender}});
    const auto [at, is_new] = newest_micros.emplace(series, one.newest_micros);
    if (!is_new) at->second = std::max(at->second, one.newest_micros);
  }
  for (const auto& [series, micros] : newest_micros)
    newest.Add(static_cast<double>(micros) * 1e-6, {{"series", std::string(series)}});
  for (size_t i = 0; i < refused_.size(); ++i)
    refused.Add(static_cast<double>(refused_[i]), {{"reason", kRefusalNames[i]}});
  return {std::move(written), std::move(refused), std::move(newest)};
}

void PointTally::Add(std::string_view series, int64_t time_micros) {
  // Points mostly have the series of the point before.
  if (last_ == added_.end() || last_->first != series) {
    last_ = added_.try_emplace(std::string(series), PointCounts::Written{0, time_micros}).first;
  }
  PointCounts::Written& sum = last_->second;
  ++sum.points;
  sum.newest_micros = std::max(sum.newest_micros, time_micros);
}

void PointTally::Commit() {
  for (const auto& [series, written] : added_) counts_->AddWritten(series, sender_, written);
  added_.clear();
  last_ = added_.end();
}

}  // namespace sonde::series
