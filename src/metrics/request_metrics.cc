#include "metrics/request_metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace sonde {

RequestMetrics::Counters* RequestMetrics::Find(std::string_view method) {
  {
    const absl::ReaderMutexLock lock(&mutex_);
    const auto found = methods_.find(method);
    if (found != methods_.end()) return found->second.get();
  }
  const absl::WriterMutexLock lock(&mutex_);
  if (methods_.size() >= kMethodsMax) method = "other";
  std::unique_ptr<Counters>& counters = methods_[std::string(method)];
  if (counters == nullptr) counters = std::make_unique<Counters>();
  return counters.get();
}

void RequestMetrics::Record(std::string_view method, absl::StatusCode code, int64_t micros) {
  Counters* counters = Find(method);
  const double seconds = static_cast<double>(micros) * 1e-6;
  const size_t bucket = std::lower_bound(kBounds.begin(), kBounds.end(), seconds) - kBounds.begin();
  constexpr auto kOrder = std::memory_order_relaxed;
  counters->by_code[std::min<size_t>(static_cast<size_t>(code), kCodes - 1)].fetch_add(1, kOrder);
  counters->buckets[bucket].fetch_add(1, kOrder);
  counters->micros.fetch_add(static_cast<uint64_t>(std::max<int64_t>(micros, 0)), kOrder);
}

uint64_t RequestMetrics::Method::requests() const {
  return std::accumulate(buckets.begin(), buckets.end(), uint64_t{0});
}

double RequestMetrics::QuantileSeconds(const Buckets& buckets, double q) {
  const double rank = q * static_cast<double>(std::accumulate(buckets.begin(), buckets.end(), uint64_t{0}));
  double before = 0;
  for (size_t i = 0; i < buckets.size(); ++i) {
    const auto here = static_cast<double>(buckets[i]);
    if (here == 0 || before + here < rank) {
      before += here;
      continue;
    }
    const double low = i == 0 ? 0 : kBounds[i - 1];
    const double high = i < kBounds.size() ? kBounds[i] : kBounds.back();
    return low + (high - low) * (rank - before) / here;
  }
  return 0;
}

std::vector<RequestMetrics::Method> RequestMetrics::Snapshot() const {
  const absl::ReaderMutexLock lock(&mutex_);
  std::vector<Method> all;
  for (const auto& [name, counters] : methods_) {
    Method method{.name = name};
    for (size_t i = 0; i < method.by_code.size(); ++i) method.by_code[i] = counters->by_code[i];
    for (size_t i = 0; i < method.buckets.size(); ++i) method.buckets[i] = counters->buckets[i];
    method.micros = counters->micros;
    all.push_back(std::move(method));
  }
  return all;
}

void RequestMetrics::Write(MetricText* text) const {
  const std::vector<Method> methods = Snapshot();
  text->Begin("sonde_requests_total", MetricKind::kCounter,
              "Requests that have ended, by method and status code.");
  for (const Method& method : methods) {
    for (size_t code = 0; code < kCodes; ++code) {
      if (method.by_code[code] == 0) continue;
      const std::string name(absl::StatusCodeToString(static_cast<absl::StatusCode>(code)));
      text->Sample(static_cast<double>(method.by_code[code]), {{"method", method.name}, {"code", name}});
    }
  }
  text->Begin("sonde_request_duration_seconds", MetricKind::kHistogram,
              "From the request to the end of its answer.");
  for (const Method& method : methods) {
    uint64_t sum = 0;
    for (size_t i = 0; i < method.buckets.size(); ++i) {
      sum += method.buckets[i];
      const std::string bound = i < kBounds.size() ? fmt::format("{}", kBounds[i]) : "+Inf";
      text->Sample(static_cast<double>(sum), {{"method", method.name}, {"le", bound}}, "_bucket");
    }
    text->Sample(static_cast<double>(method.micros) * 1e-6, {{"method", method.name}}, "_sum");
    text->Sample(static_cast<double>(sum), {{"method", method.name}}, "_count");
  }
}

}  // namespace sonde
