// `sonde query`: PromQL over the series of a place, at one time or over a range of them.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "cli/commands.h"
#include "cli/reach/access.h"
#include "cli/reach/command_end.h"
#include "cli/reach/plot_flags.h"
#include "promql/evaluate/engine.h"
#include "promql/http/api_form.h"
#include "promql/http/prometheus_api.h"
#include "promql/http/query_answer.h"
#include "promql/syntax/parser.h"
#include "promql/syntax/words.h"
#include "series/index/entity_index.h"
#include "series/known/declarations.h"
#include "series/metric/series_samples.h"
#include "series/output/result_writer.h"

namespace sonde {
namespace {

// A range without a step has so many of them.
constexpr int64_t kStepsUsual = 250;

struct PromqlOptions {
  std::string query;
  std::string time;
  std::string range;
  std::string step;
  std::string lookback;
  std::string format = "table";
  bool allows_experimental = false;
  PlotFlags plot;
  AccessFlags access;
};

int ReportPromql(const absl::Status& status) { return EndOfCommand("sonde query", status); }

absl::StatusOr<int64_t> PromqlMillis(std::string_view flag, const std::string& text) {
  const absl::StatusOr<int64_t> nanos = promql::ParseApiDuration(text);
  if (!nanos.ok()) {
    return absl::InvalidArgumentError(fmt::format("{}: {}", flag, promql::TextOfError(nanos.status())));
  }
  const int64_t millis = *nanos / promql::kNanosPerMilli;
  if (millis >= 1) return millis;
  return absl::InvalidArgumentError(fmt::format("{} '{}'; allowed: one millisecond or more", flag, text));
}

absl::StatusOr<promql::EvaluateSettings> PromqlSettings(const PromqlOptions& options) {
  promql::EvaluateSettings settings;
  settings.samples_max = promql::kQuerySamplesMax;
  settings.start_millis = SystemClock().NowMicros() / 1'000;
  if (!options.time.empty()) {
    const absl::StatusOr<int64_t> time = promql::ParseApiTime(options.time);
    if (!time.ok()) {
      return absl::InvalidArgumentError(fmt::format("--time: {}", promql::TextOfError(time.status())));
    }
    settings.start_millis = *time;
  }
  settings.end_millis = settings.start_millis;
  if (!options.lookback.empty()) {
    const absl::StatusOr<int64_t> lookback = PromqlMillis("--lookback", options.lookback);
    if (!lookback.ok()) return lookback.status();
    settings.lookback_millis = *lookback;
  }
  if (options.range.empty()) return settings;
  const absl::StatusOr<int64_t> range = PromqlMillis("--range", options.range);
  if (!range.ok()) return range.status();
  settings.start_millis = settings.end_millis - *range;
  settings.step_millis = std::max<int64_t>(*range / kStepsUsual / 1'000 * 1'000, 1'000);
  if (!options.step.empty()) {
    const absl::StatusOr<int64_t> step = PromqlMillis("--step", options.step);
    if (!step.ok()) return step.status();
    settings.step_millis = *step;
  }
  if (*range / settings.step_millis > promql::kStepsMax) {
    return absl::InvalidArgumentError(
        fmt::format("--range {} has {} steps of {} ms; allowed: {}; a longer --step makes fewer",
                    options.range, *range / settings.step_millis, settings.step_millis, promql::kStepsMax));
  }
  return settings;
}

// One series of the answer: its labels and points.
struct PromqlLine {
  promql::Labels labels;
  std::vector<std::pair<int64_t, double>> points;  // milliseconds, value
};

std::vector<PromqlLine> PromqlLinesOf(const promql::QueryAnswer& answer) {
  std::vector<PromqlLine> lines;
  for (const promql::Row& row : answer.rows) {
    PromqlLine& line = lines.emplace_back();
    line.labels = row.labels;
    for (size_t step = 0; step < row.values.size(); ++step) {
      if (row.present[step]) line.points.emplace_back(answer.times[step], row.values[step]);
    }
  }
  for (const promql::SampleSeries& series : answer.raw) {
    PromqlLine& line = lines.emplace_back();
    line.labels = series.labels;
    for (size_t i = 0; i < series.times.size(); ++i)
      line.points.emplace_back(series.times[i], series.values[i]);
  }
  return lines;
}

// No number of JSON and of tables says what is not finite.
series::ResultValue PromqlValue(double value) {
  if (std::isfinite(value)) return value;
  std::string text;
  promql::AppendApiNumber(value, &text);
  return text;
}

// Labels are columns, as tags are.
void PrintPromqlLines(const std::vector<PromqlLine>& lines, series::ResultFormat format) {
  std::set<std::string> names;
  for (const PromqlLine& line : lines) {
    for (const auto& [name, value] : line.labels) names.insert(name);
  }
  series::ResultHeader header;
  header.tags.assign(names.begin(), names.end());
  header.values.push_back({"value", true});
  header.time_unit = series::TimeUnit::kMillisecond;
  const bool are_whole = std::all_of(lines.begin(), lines.end(), [](const PromqlLine& line) {
    return std::all_of(line.points.begin(), line.points.end(),
                       [](const auto& point) { return point.first % 1'000 == 0; });
  });
  if (are_whole) header.time_unit = series::TimeUnit::kSecond;
  const auto writer = series::MakeResultWriter(format, header, &std::cout);
  series::ResultRow row;
  for (const PromqlLine& line : lines) {
    ++row.tags_number;
    row.tags.clear();
    for (const std::string& name : names) row.tags.emplace_back(promql::LabelOf(line.labels, name));
    for (const auto& [millis, value] : line.points) {
      row.time_micros = millis * 1'000;
      row.values = {PromqlValue(value)};
      writer->Row(row);
      if (!std::cout) return;
    }
  }
  writer->End();
}

std::string PromqlName(const promql::Labels& labels) {
  const promql::Labels others = promql::WithoutName(labels);
  const std::string name(promql::LabelOf(labels, promql::kMetricLabel));
  return others.empty() && !name.empty() ? name : name + promql::LabelsText(others);
}

void DrawPromql(const PromqlOptions& options, const std::vector<PromqlLine>& lines) {
  std::vector<series::PlotLine> drawn;
  for (const PromqlLine& line : lines) {
    series::PlotLine& one = drawn.emplace_back();
    one.name = PromqlName(line.labels);
    for (const auto& [millis, value] : line.points) {
      if (std::isfinite(value)) one.points.emplace_back(millis * 1'000, value);
    }
  }
  PrintPlot(options.plot, options.query, std::move(drawn));
}

int PrintPromql(const PromqlOptions& options, const promql::QueryAnswer& answer) {
  for (const std::vector<std::string>& notices :
       {answer.annotations.Warnings(options.query), answer.annotations.Infos(options.query)}) {
    for (const std::string& notice : notices) fmt::print(stderr, "sonde query: {}\n", notice);
  }
  if (answer.type == promql::ValueType::kString) {
    fmt::print("{}\n", answer.text);
    return 0;
  }
  const std::vector<PromqlLine> lines = PromqlLinesOf(answer);
  if (!lines.empty() || options.format != "table")
    PrintPromqlLines(lines, series::ResultFormatOfName(options.format).value());
  if (options.plot.has_plot) DrawPromql(options, lines);
  std::cout.flush();
  if (lines.empty()) fmt::print(stderr, "sonde query: 0 series have a value then\n");
  return 0;
}

int RunPromql(PromqlOptions options) {
  if (options.query == "-") {
    options.query.assign(std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>());
  }
  absl::StatusOr<promql::ExpressionPtr> tree =
      promql::ParseQuery(options.query, {.allows_experimental = options.allows_experimental});
  if (!tree.ok()) return ReportPromql(absl::InvalidArgumentError(tree.status().message()));
  const absl::StatusOr<promql::EvaluateSettings> settings = PromqlSettings(options);
  if (!settings.ok()) return ReportPromql(settings.status());
  const absl::StatusOr<AccessFlags> access = ResolveAccess(options.access);
  if (!access.ok()) return ReportPromql(access.status());
  const absl::StatusOr<std::unique_ptr<TableAccess>> tables = OpenAccess(*access);
  if (!tables.ok()) return ReportPromql(tables.status());
  SystemClock clock;
  series::Declarations known(tables->get(), &clock);
  if (absl::Status status = known.Load(); !status.ok()) return ReportPromql(status);
  series::EntityIndex index;
  series::MetricRead read;
  read.index = &index;
  read.now_micros = clock.NowMicros();
  read.samples_max = promql::kQuerySamplesMax;
  read.series_max = series::kMetricSeriesMax;
  series::SeriesSamples samples(known.List(), std::move(read), tables->get());
  const absl::StatusOr<promql::QueryAnswer> answer = promql::EvaluateQuery(tree->get(), *settings, &samples);
  return answer.ok() ? PrintPromql(options, *answer) : ReportPromql(answer.status());
}

constexpr char kPromqlExamples[] =
    "A field of a series is a metric (the field `value` has the name of its series, others SERIES_FIELD), "
    "and "
    "its tags are\n"
    "labels.  docs/http-prometheus.md says more; the same questions are answered at /api/v1/query.\n\n"
    "Examples:\n"
    "  sonde query 'sum by (job) (rate(requests_total[5m]))'\n"
    "  sonde query 'cpu_usage{host=~\"web.*\"}' --range 1h --step 15s --plot\n"
    "  sonde query 'topk(3, disk_used / disk_size)' --json --time 2026-11-01T00:00:00Z\n"
    "  sonde query - --range 1d --format csv < question.promql\n"
    "Without --endpoint and --data-dir, SONDE_ENDPOINT, SONDE_DATA_DIR or BIGTABLE_EMULATOR_HOST names the "
    "place, or\n"
    "else 127.0.0.1:8086 is asked.";

}  // namespace

void AddQueryCommand(CLI::App& app, int* exit_status) {
  CLI::App* command = app.add_subcommand("query", "Ask in PromQL, at one time or over a range");
  auto options = std::make_shared<PromqlOptions>();
  command->add_option("query", options->query, "the expression; - for stdin")
      ->type_name("PROMQL")
      ->required();
  command->add_option("--time", options->time,
                      "the time of the answer, or the last one: RFC 3339 or seconds since 1970 (now)");
  command->add_option("--range", options->range, "the length of time before it, such as 1h: values at steps");
  command->add_option("--step", options->step, "the time between two steps, such as 15s (a 250th of --range)")
      ->needs("--range");
  command->add_option("--lookback", options->lookback, "the age of the oldest sample that still counts (5m)");
  command->add_flag("--promql-experimental", options->allows_experimental,
                    "allow functions, aggregations and modifiers that Prometheus has as experimental");
  command->add_option("--format", options->format, "table, csv, json (an object a line)")
      ->check(CLI::IsMember({"table", "csv", "json"}))
      ->capture_default_str();
  command->add_flag_callback("--json", [options] { options->format = "json"; }, "Same as --format json");
  AddPlotFlags(*command, &options->plot);
  AddAccessFlags(*command, &options->access);
  command->footer(kPromqlExamples);
  command->callback([options, exit_status] { *exit_status = RunPromql(*options); });
}

}  // namespace sonde
