#include "promql/samples/annotations.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "absl/time/time.h"
#include "promql/syntax/words.h"

namespace sonde::promql {
namespace {

std::vector<std::string> Texts(const std::map<std::string, Range, std::less<>>& annotations,
                               std::string_view query) {
  std::vector<std::string> result;
  for (const auto& [text, place] : annotations) {
    result.push_back(fmt::format("{} ({})", text, PlaceText(query, place.start)));
  }
  return result;
}

std::string TimeText(int64_t millis) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", absl::FromUnixSeconds(millis / 1'000), absl::UTCTimeZone());
}

// Go's %.2g.
std::string TwoDigits(double value) {
  std::string text = fmt::format("{:.2g}", value);
  if (std::isinf(value)) text = value > 0 ? "+Inf" : "-Inf";
  return std::isnan(value) ? "NaN" : text;
}

}  // namespace

void Annotations::Warn(std::string_view text, Range place) {
  warnings_.insert_or_assign(fmt::format("PromQL warning: {}", text), place);
}

void Annotations::Inform(std::string_view text, Range place) {
  infos_.insert_or_assign(fmt::format("PromQL info: {}", text), place);
}

void Annotations::InformOfFalls(Range place, int64_t time_millis, double least, double most,
                                double difference) {
  if (falls_.has_value()) {
    ++falls_->count;
    Join({place.start, time_millis, time_millis, least, most, difference, 0});
  } else {
    falls_ = Falls{place.start, time_millis, time_millis, least, most, difference, 1};
  }
}

void Annotations::Join(const Falls& later) {
  falls_->from_millis = std::min(falls_->from_millis, later.from_millis);
  falls_->to_millis = std::max(falls_->to_millis, later.to_millis);
  falls_->least = std::min(falls_->least, later.least);
  falls_->most = std::max(falls_->most, later.most);
  falls_->difference = std::max(falls_->difference, later.difference);
}

void Annotations::Add(const Annotations& later) {
  for (const auto& [text, place] : later.warnings_) warnings_.insert_or_assign(text, place);
  for (const auto& [text, place] : later.infos_) infos_.insert_or_assign(text, place);
  if (!later.falls_.has_value()) return;
  if (!falls_.has_value()) {
    falls_ = later.falls_;
    return;
  }
  falls_->count += later.falls_->count + 1;  // the first of `later` is one more here
  Join(*later.falls_);
}

std::vector<std::string> Annotations::Warnings(std::string_view query) const {
  return Texts(warnings_, query);
}

std::vector<std::string> Annotations::Infos(std::string_view query) const {
  std::vector<std::string> result = Texts(infos_, query);
  if (falls_.has_value()) {
    result.push_back(fmt::format(
        "PromQL info: input to histogram_quantile needed to be fixed for monotonicity (see "
        "https://prometheus.io/docs/prometheus/latest/querying/functions/#histogram_quantile), from buckets "
        "{} to {}, "
        "with a max diff of {}, over {} samples from {} to {} ({})",
        GeneralNumber(falls_->least), GeneralNumber(falls_->most), TwoDigits(falls_->difference),
        falls_->count, TimeText(falls_->from_millis), TimeText(falls_->to_millis),
        PlaceText(query, falls_->start)));
  }
  return result;
}

}  // namespace sonde::promql
