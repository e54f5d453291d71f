// Reads the text of /metrics (Prometheus' exposition format, version 0.0.4), as far as Sonde writes it.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace sonde {

struct MetricSample {
  std::string name;
  std::map<std::string, std::string, std::less<>> labels;
  double value = 0;

  // Empty: there is no such label.
  std::string_view Label(std::string_view label) const;
};

// Samples of one answer, in its order.
class MetricSamples {
 public:
  // A text of more samples is no answer of /metrics.
  static constexpr size_t kSamplesMax = 1'000'000;

  // INVALID_ARGUMENT, with the number of the line: it is no sample.  RESOURCE_EXHAUSTED: there are too many.
  static absl::StatusOr<MetricSamples> Parse(std::string_view text);

  const std::vector<MetricSample>& all() const { return samples_; }
  // The samples of a name.
  std::vector<const MetricSample*> Find(std::string_view name) const;
  // The only sample of a name; `otherwise` if there is none.
  double Value(std::string_view name, double otherwise = 0) const;
  // The sum of the samples of a name.
  double Sum(std::string_view name) const;

 private:
  std::vector<MetricSample> samples_;
};

}  // namespace sonde
