#include "promql/evaluate/annotations.h"

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
  const auto [at, is_new] =
      falls_.try_emplace(place.start, Falls{time_millis, time_millis, least, most, difference, 0});
  Falls& falls = at->second;
  ++falls.count;
  if (is_new) return;
  falls.from_millis = std::min(falls.from_millis, time_millis);
  falls.to_millis = std::max(falls.to_millis, time_millis);
  falls.least = std::min(falls.least, least);
  falls.most = std::max(falls.most, most);
  falls.difference = std::max(falls.difference, difference);
}

void Annotations::Add(const Annotations& later) {
  for (const auto& [text, place] : later.warnings_) warnings_.insert_or_assign(text, place);
  for (const auto& [text, place] : later.infos_) infos_.insert_or_assign(text, place);
  for (const auto& [start, falls] : later.falls_) {
    const auto [at, is_new] = falls_.try_emplace(start, falls);
    if (is_new) continue;
    Falls& joined = at->second;
    joined.count += falls.count + 1;  // the first of `later` is one more here
    joined.from_millis = std::min(joined.from_millis, falls.from_millis);
    joined.to_millis = std::max(joined.to_millis, falls.to_millis);
    joined.least = std::min(joined.least, falls.least);
    joined.most = std::max(joined.most, falls.most);
    joined.difference = std::max(joined.difference, falls.difference);
  }
}

std::vector<std::string> Annotations::Warnings(std::string_view query) const {
  return Texts(warnings_, query);
}

std::vector<std::string> Annotations::Infos(std::string_view query) const {
  std::vector<std::string> result = Texts(infos_, query);
  for (const auto& [start, falls] : falls_) {
    result.push_back(fmt::format(
        "PromQL info: input to histogram_quantile needed to be fixed for monotonicity (see "
        "https://prometheus.io/docs/prometheus/latest/querying/functions/#histogram_quantile), from buckets "
        "{} to {}, "
        "with a max diff of {}, over {} samples from {} to {} ({})",
        GeneralNumber(falls.least), GeneralNumber(falls.most), TwoDigits(falls.difference), falls.count,
        TimeText(falls.from_millis), TimeText(falls.to_millis), PlaceText(query, start)));
  }
  return result;
}

}  // namespace sonde::promql
