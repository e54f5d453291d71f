// A line of a text that is imported: JSON as it is exported (metric_text.h) and as VictoriaMetrics exports it, or OpenMetrics.
//
// Threads: the functions are pure.
// Errors: INVALID_ARGUMENT: what is wrong with the line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "promql/transfer/metric_text.h"

namespace sonde::promql {

constexpr size_t kImportLabelsMax = 1'000;  // of a series

// A series in the order of its text; the name is one of the labels.
struct ImportedSeries {
  std::vector<std::pair<std::string, std::string>> labels;
  SampleRun run;
};

// Values are numbers, "NaN", "+Inf", "-Inf", "stale", or null, which is NaN.
absl::Status ParseJsonLine(std::string_view line, ImportedSeries* series);

struct OpenMetricsLine {
  enum class Kind : uint8_t { kSample, kType, kHelp, kUnit, kEnd, kComment };
  Kind kind = Kind::kComment;
  std::string family;     // kType, kHelp, kUnit
  std::string text;       // kType, kHelp, kUnit: what is said
  ImportedSeries series;  // kSample: one sample
};

// A sample without a time is of `now_millis`; exemplars are passed over.
absl::Status ParseOpenMetricsLine(std::string_view line, int64_t now_millis, OpenMetricsLine* parsed);

}  // namespace sonde::promql
