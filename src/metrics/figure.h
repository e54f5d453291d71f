// A part of the server tells facts about itself as figures, for /metrics and the page.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sonde {

enum class MetricKind : uint8_t { kCounter, kGauge, kHistogram };

// One figure: a number, or one for each of some things (a table, a kind of user), which labels name.
struct Figure {
  using Labels = std::vector<std::pair<std::string, std::string>>;
  struct Sample {
    Labels labels;
    double value = 0;
  };

  std::string name;  // as Prometheus wants it: sonde_WHAT_UNIT, a counter's ending in _total
  MetricKind kind = MetricKind::kGauge;
  std::string help;
  std::vector<Sample> samples;

  static Figure Counter(std::string name, std::string help, std::vector<Sample> samples = {}) {
    return {std::move(name), MetricKind::kCounter, std::move(help), std::move(samples)};
  }
  static Figure Gauge(std::string name, std::string help, std::vector<Sample> samples = {}) {
    return {std::move(name), MetricKind::kGauge, std::move(help), std::move(samples)};
  }
  Figure& Add(double value, Labels labels = {}) {
    samples.push_back({std::move(labels), value});
    return *this;
  }
};

// Adds them to the list; samples of a figure that is in it already are added to that.
void MergeFigures(std::vector<Figure> more, std::vector<Figure>* figures);

}  // namespace sonde
