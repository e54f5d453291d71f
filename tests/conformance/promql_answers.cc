// Answers PromQL over samples in memory, in the form of engine.go, for the comparison of both.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <functional>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "promql/evaluate/engine.h"
#include "promql/samples/series_parts.h"
#include "promql/syntax/parser.h"
#include "promql/syntax/printer.h"
#include "promql/syntax/words.h"

namespace sonde::promql {
namespace {

using nlohmann::json;

std::string Bits(double value) {
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return fmt::format("{:016x}", bits);
}

double FromBits(const std::string& text) {
  uint64_t bits = 0;
  std::from_chars(text.data(), text.data() + text.size(), bits, 16);
  double value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

class MemorySource : public SampleSource {
 public:
  void Load(const json& lines) {
    series_.clear();
    for (const json& line : lines) {
      SampleSeries series;
      for (const auto& [name, value] : line["labels"].items()) series.labels.emplace_back(name, value);
      std::sort(series.labels.begin(), series.labels.end());
      for (const json& time : line["t"]) series.times.push_back(time);
      for (const json& value : line["v"]) series.values.push_back(FromBits(value));
      series_.push_back(std::move(series));
    }
    std::sort(series_.begin(), series_.end(),
              [](const SampleSeries& a, const SampleSeries& b) { return a.labels < b.labels; });
  }

  absl::StatusOr<std::vector<SampleSeries>> Select(const std::vector<Matcher>& matchers, int64_t start_millis,
                                                   int64_t end_millis) override {
    return Find(
        [&](const Labels& labels) {
          return std::all_of(matchers.begin(), matchers.end(), [&](const Matcher& matcher) {
            return matcher.Matches(LabelOf(labels, matcher.name()));
          });
        },
        start_millis, end_millis);
  }

  // All series are read at once, so that leaves share their reads where they may.
  std::optional<std::string> RowsOf(std::string_view /*metric*/) override { return "memory"; }
  absl::Status ForEachOf(const std::vector<std::string>& metrics, const std::vector<Matcher>& matchers,
                         int64_t start_millis, int64_t end_millis, const SeriesVisit& visit) override {
    return VisitInParts(
        Find(
            [&](const Labels& labels) {
              return std::find(metrics.begin(), metrics.end(), LabelOf(labels, kMetricLabel)) !=
                         metrics.end() &&
                     std::all_of(matchers.begin(), matchers.end(), [&](const Matcher& matcher) {
                       return matcher.Matches(LabelOf(labels, matcher.name()));
                     });
            },
            start_millis, end_millis),
        visit);
  }

 private:
  std::vector<SampleSeries> Find(const std::function<bool(const Labels& labels)>& is_wanted,
                                 int64_t start_millis, int64_t end_millis) const {
    std::vector<SampleSeries> result;
    for (const SampleSeries& series : series_) {
      if (!is_wanted(series.labels)) continue;
      SampleSeries& found = result.emplace_back();
      found.labels = series.labels;
      for (size_t i = 0; i < series.times.size(); ++i) {
        if (series.times[i] < start_millis || series.times[i] > end_millis) continue;
        found.times.push_back(series.times[i]);
        found.values.push_back(series.values[i]);
      }
    }
    return result;
  }

  std::vector<SampleSeries> series_;
};

json SeriesLine(const Labels& labels, json times, json values) {
  json line = {{"labels", json::object()}, {"t", std::move(times)}, {"v", std::move(values)}};
  for (const auto& [name, value] : labels) line["labels"][name] = value;
  return line;
}

json LinesOf(const QueryAnswer& answer) {
  json lines = json::array();
  for (const Row& row : answer.rows) {
    json times = json::array();
    json values = json::array();
    for (size_t step = 0; step < row.values.size(); ++step) {
      if (!row.present[step]) continue;
      times.push_back(answer.times[step]);
      values.push_back(Bits(row.values[step]));
    }
    if (!times.empty()) lines.push_back(SeriesLine(row.labels, std::move(times), std::move(values)));
  }
  for (const SampleSeries& series : answer.raw) {
    json values = json::array();
    for (const double value : series.values) values.push_back(Bits(value));
    lines.push_back(SeriesLine(series.labels, series.times, std::move(values)));
  }
  return lines;
}

json Answer(const json& line, MemorySource* source) {
  json out = json::object();
  const std::string text = line["query"];
  auto query = ParseQuery(text, {.allows_experimental = true});
  if (!query.ok()) {
    out["error"] = TextOfError(query.status());
    return out;
  }
  out["printed"] = Print(**query);
  out["lines"] = PrintLines(**query);
  EvaluateSettings settings;
  settings.start_millis = line["start"];
  settings.end_millis = line["end"];
  settings.step_millis = line["step"];
  const auto answer = EvaluateQuery(query->get(), settings, source);
  if (!answer.ok()) {
    out["error"] = TextOfError(answer.status());
    return out;
  }
  out["type"] = ShortName(answer->type);
  if (!answer->text.empty()) out["text"] = answer->text;
  out["series"] = LinesOf(*answer);
  out["samples"] = answer->stats.samples_total;
  out["warnings"] = answer->annotations.Warnings(text);
  out["infos"] = answer->annotations.Infos(text);
  return out;
}

}  // namespace
}  // namespace sonde::promql

int main() {
  std::ios::sync_with_stdio(false);
  sonde::promql::MemorySource source;
  for (std::string text; std::getline(std::cin, text);) {
    const nlohmann::json line = nlohmann::json::parse(text);
    if (!line.contains("query") && line.contains("series")) {
      source.Load(line["series"]);
      continue;
    }
    std::cout
        << sonde::promql::Answer(line, &source).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)
        << '\n'
        << std::flush;
  }
  return 0;
}
