#include "promql/transfer/metric_text.h"

#include <cmath>

#include "promql/http/api_answer.h"
#include "promql/http/query_answer.h"
#include "promql/samples/samples.h"
#include "promql/syntax/matcher.h"
#include "promql/syntax/words.h"

namespace sonde::promql {
namespace {

void AppendJsonNumber(double value, std::string* out) {
  if (std::isfinite(value)) {
    AppendApiNumber(value, out);
    if (value == 0 && std::signbit(value)) out->append(".0");  // as a whole number it would lose its sign
    return;
  }
  out->push_back('"');
  if (IsStale(value)) {
    out->append(kStaleText);
  } else {
    AppendApiNumber(value, out);
  }
  out->push_back('"');
}

void AppendEscaped(std::string_view text, std::string* out) {
  for (const char c : text) {
    if (c == '\\' || c == '"') out->push_back('\\');
    if (c == '\n') {
      out->append("\\n");
    } else {
      out->push_back(c);
    }
  }
}

void AppendQuoted(std::string_view text, std::string* out) {
  out->push_back('"');
  AppendEscaped(text, out);
  out->push_back('"');
}

bool IsPlainMetricName(std::string_view name) {
  std::string without_colons(name);
  for (char& c : without_colons) {
    if (c == ':') c = '_';
  }
  return IsPlainLabelName(without_colons);
}

void AppendName(std::string_view name, bool is_plain, std::string* out) {
  if (is_plain) {
    out->append(name);
  } else {
    AppendQuoted(name, out);
  }
}

// up{job="x"}, or {"my.up",job="x"}
void AppendMetric(const Labels& labels, std::string* out) {
  const std::string_view metric = LabelOf(labels, kMetricLabel);
  const bool is_plain = IsPlainMetricName(metric);
  if (is_plain) out->append(metric);
  if (is_plain && labels.size() == 1) return;
  out->push_back('{');
  if (!is_plain) AppendQuoted(metric, out);
  bool is_first = is_plain;
  for (const auto& [name, value] : labels) {
    if (name == kMetricLabel) continue;
    if (!is_first) out->push_back(',');
    is_first = false;
    AppendName(name, IsPlainLabelName(name), out);
    out->push_back('=');
    AppendQuoted(value, out);
  }
  out->push_back('}');
}

}  // namespace

void AppendJsonLine(const Labels& labels, const SampleRun& run, std::string* out) {
  out->append("{\"metric\":");
  AppendLabels(labels, out);
  out->append(",\"values\":[");
  for (size_t i = 0; i < run.values.size(); ++i) {
    if (i > 0) out->push_back(',');
    AppendJsonNumber(run.values[i], out);
  }
  out->append("],\"timestamps\":[");
  for (size_t i = 0; i < run.times.size(); ++i) {
    if (i > 0) out->push_back(',');
    out->append(std::to_string(run.times[i]));
  }
  out->append("]}\n");
}

void AppendOpenMetrics(const Labels& labels, const SampleRun& run, std::string* out) {
  std::string metric;
  AppendMetric(labels, &metric);
  for (size_t i = 0; i < run.values.size(); ++i) {
    if (IsStale(run.values[i])) continue;
    out->append(metric).push_back(' ');
    AppendApiNumber(run.values[i], out);
    out->push_back(' ');
    AppendApiTime(run.times[i], out);
    out->push_back('\n');
  }
}

void AppendOpenMetricsHead(std::string_view metric, const series::MetricMetadata* metadata,
                           std::string* out) {
  std::string_view type = "unknown";
  std::string_view family = metric;
  if (metadata != nullptr && metadata->type == "gauge") type = metadata->type;
  if (metadata != nullptr && metadata->type == "counter" && metric.size() > kCounterEnding.size() &&
      metric.ends_with(kCounterEnding)) {
    type = metadata->type;
    family.remove_suffix(kCounterEnding.size());
  }
  const auto begin = [&](std::string_view what) {
    out->append("# ").append(what).push_back(' ');
    AppendName(family, IsPlainMetricName(family), out);
    out->push_back(' ');
  };
  begin("TYPE");
  out->append(type).push_back('\n');
  if (metadata == nullptr) return;
  const std::string ending = "_" + metadata->unit;
  if (!metadata->unit.empty() && family.ends_with(ending)) {
    begin("UNIT");
    out->append(metadata->unit).push_back('\n');
  }
  if (metadata->help.empty()) return;
  begin("HELP");
  AppendEscaped(metadata->help, out);
  out->push_back('\n');
}

}  // namespace sonde::promql
