// Writes figures in the text format that Prometheus reads (its documentation, "Exposition formats", version
// 0.0.4).
//
// Threads: not for several threads.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "metrics/figure.h"

namespace sonde {

class MetricText {
 public:
  using Labels = std::vector<std::pair<std::string_view, std::string_view>>;

  // Begins a metric, of which the samples follow.  Counters are called ..._total.
  void Begin(std::string_view name, MetricKind kind, std::string_view help);
  // `suffix`: of a histogram's samples, "_bucket", "_sum", "_count".
  void Sample(double value, const Labels& labels = {}, std::string_view suffix = "");
  // A whole metric; one without samples is left out.
  void Write(const Figure& figure);

  const std::string& text() const { return text_; }
  std::string Take() { return std::move(text_); }

 private:
  std::string name_;
  std::string text_;
};

}  // namespace sonde
