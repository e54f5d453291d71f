// `sonde series query`: questions to a declared series.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <iostream>
#include <map>
#include <optional>

#include "absl/types/span.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "cli/reach/plot_flags.h"
#include "cli/series/series_commands.h"
#include "cli/series/what_there_is.h"
#include "series/index/entity_index.h"
#include "series/output/result_writer.h"
#include "series/query/query.h"
#include "series/query/query_request.h"
#include "series/schema/status_text.h"

namespace sonde {
namespace {

constexpr size_t kRangesShownMax = 10;
// A terminal shows so many rows of a table, unless --limit asks for more.
constexpr int64_t kRowsOnTerminalMax = 40;

struct QueryOptions {
  std::string declaration;
  series::QueryRequest request;
  std::string format = "table";
  PlotFlags plot;
  bool is_explained = false;
  AccessFlags access;
  const CLI::App* command = nullptr;
};

// "avg(used) [bytes]".
std::string WithUnit(const series::ResultHeader::Column& column) {
  return column.unit.empty() ? column.name : fmt::format("{} [{}]", column.name, column.unit);
}

// Gathers the numbers of an answer as lines: one for each series and column.
class PlotLines {
 public:
  explicit PlotLines(const series::ResultHeader& header) : header_(header) {
    // Counts and sums have a scale of their own: they are drawn only where nothing else is asked for.
    for (const bool takes_counts : {false, true}) {
      for (size_t i = 0; i < header.values.size(); ++i) {
        const std::string& name = header.values[i].name;
        const bool is_count = name.starts_with("count(") || name.starts_with("sum(");
        if (header.values[i].is_number && (takes_counts || !is_count)) columns_.push_back(i);
      }
      if (!columns_.empty()) break;
    }
  }

  void Add(const series::ResultRow& row) {
    std::vector<series::PlotLine>& lines = lines_[row.tags];
    lines.resize(columns_.size());
    for (size_t i = 0; i < columns_.size(); ++i) {
      if (const std::optional<double> number = series::NumberOf(row.values[columns_[i]]))
        lines[i].points.emplace_back(row.time_micros, *number);
    }
  }

  std::vector<series::PlotLine> Take() {
    std::vector<series::PlotLine> result;
    for (auto& [tags, lines] : lines_) {
      for (size_t i = 0; i < lines.size(); ++i) {
        const std::string series_name = fmt::format("{}", fmt::join(tags, " "));
        const std::string column = WithUnit(header_.values[columns_[i]]);
        lines[i].name = columns_.size() == 1 && !tags.empty() ? series_name
                        : lines_.size() == 1                  ? column
                                                              : fmt::format("{} {}", series_name, column);
        result.push_back(std::move(lines[i]));
      }
    }
    return result;
  }

  // The common part of all lines.
  std::string Title(const std::string& series_name) const {
    std::string title = series_name;
    if (lines_.size() == 1 && !lines_.begin()->first.empty()) {
      title += fmt::format(", {}", fmt::join(lines_.begin()->first, " "));
    }
    if (columns_.size() == 1) title += ": " + WithUnit(header_.values[columns_[0]]);
    return title;
  }

 private:
  series::ResultHeader header_;
  std::vector<size_t> columns_;
  std::map<std::vector<std::string>, std::vector<series::PlotLine>> lines_;
};

void DrawLines(const QueryOptions& options, const series::SeriesSchema& schema, const series::Query& query,
               PlotLines* lines) {
  std::string title = lines->Title(schema.name);
  if (query.every) title += fmt::format(", by {}", query.every->Name());
  PrintPlot(options.plot, title, lines->Take());
}

void PrintRanges(const std::string& table, absl::Span<const RowRange> ranges) {
  fmt::print(stderr, "table '{}', {} {} of row keys:\n", table, ranges.size(),
             ranges.size() == 1 ? "range" : "ranges");
  for (size_t i = 0; i < ranges.size() && i < kRangesShownMax; ++i) {
    const RowRange& range = ranges[i];
    if (range.IsSingleRow()) {
      fmt::print(stderr, "  {}\n", Printable(range.start));
    } else {
      fmt::print(stderr, "  [{}, {})\n", range.start.empty() ? "first" : Printable(range.start),
                 range.end.empty() ? "last" : Printable(range.end));
    }
  }
  if (ranges.size() > kRangesShownMax) {
    fmt::print(stderr, "  ... and {} more\n", ranges.size() - kRangesShownMax);
  }
}

void PrintExplained(const OpenSeries& opened, const series::QueryStats& stats, double seconds) {
  size_t first = 0;
  for (const series::QueryStats::TableRead& read : stats.tables) {
    PrintRanges(read.table, absl::MakeConstSpan(stats.ranges).subspan(first, read.ranges));
    first += read.ranges;
  }
  fmt::print(stderr, "read {} rows, {} cells, {} bytes of values in {} {}; {} results; {:.1f} ms\n",
             stats.rows_read, stats.cells_read, stats.value_bytes_read, stats.requests,
             stats.requests == 1 ? "request" : "requests", stats.results, seconds * 1000);
  if (stats.indexed_entities) {
    fmt::print(stderr, "the index of the series says which rows: those of {} of its entities\n",
               *stats.indexed_entities);
  }
  if (stats.is_full_scan) {
    fmt::print(stderr,
               "warning: the whole table was read: nothing that was asked for comes first in the row key\n");
  }
  if (stats.is_whole_series && opened.open) {
    fmt::print(
        stderr,
        "warning: all rows of the series were read: nobody declared it, and its row keys have the labels "
        "in the order {}; ask for the first of them, or declare a series with the key that you need\n",
        fmt::join(opened.open->labels, ", "));
  }
}

// Says on a terminal how many rows there were; whatever reads the answer, that there was none, and what there is.
void PrintFooter(const QueryOptions& options, const OpenSeries& opened, int64_t rows, int64_t shown,
                 double seconds) {
  if (rows == 0) {
    const std::string there_is = WhatThereIs(opened, options.request);
    fmt::print(stderr, "sonde series query: 0 rows{}{}\n", there_is.empty() ? "" : "; ", there_is);
    return;
  }
  if (isatty(STDOUT_FILENO) != 1) return;
  const auto count = [](int64_t number) {
    std::string digits = std::to_string(number);
    for (size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
    return digits;
  };
  const std::string cut =
      shown < rows ? fmt::format(" ({} shown; --limit {} or --format csv gives all)", count(shown), rows)
                   : "";
  fmt::print(stderr, "{} {}{} in {:.1f} ms\n", count(rows), rows == 1 ? "row" : "rows", cut, seconds * 1000);
}

int Ask(const QueryOptions& options) {
  absl::StatusOr<OpenSeries> opened = OpenAnySeries(options.declaration, options.access);
  if (!opened.ok()) return ReportStatus("query", opened.status());
  series::QueryRequest request = options.request;
  if (request.latest.empty() && options.command->count("--latest") > 0) request.latest = "1";
  absl::StatusOr<series::Query> query =
      series::ParseQuery(opened->schema, request, SystemClock().NowMicros());
  if (!query.ok()) return ReportStatus("query", query.status());
  series::EntityIndex index;
  query->index = &index;
  const absl::StatusOr<series::ResultHeader> header = series::HeaderOf(opened->schema, *query);
  if (!header.ok()) return ReportStatus("query", header.status());

  std::unique_ptr<series::ResultWriter> writer;
  if (options.format != "none") {
    writer =
        series::MakeResultWriter(series::ResultFormatOfName(options.format).value(), *header, &std::cout);
  }
  PlotLines lines(*header);
  const bool is_cut =
      options.format == "table" && options.command->count("--limit") == 0 && isatty(STDOUT_FILENO) == 1;
  int64_t rows = 0, shown = 0;
  const auto take_row = [&](const series::ResultRow& row) {
    ++rows;
    if (writer != nullptr && (!is_cut || shown < kRowsOnTerminalMax)) {
      writer->Row(row);
      ++shown;
    }
    if (options.plot.has_plot) lines.Add(row);
    return static_cast<bool>(std::cout);
  };
  const auto start = std::chrono::steady_clock::now();
  const absl::StatusOr<series::QueryStats> stats =
      opened->open ? series::RunQuery(*opened->open, *query, opened->tables.get(), take_row)
                   : series::RunQuery(opened->schema, *query, opened->tables.get(), take_row);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (writer != nullptr) writer->End();
  if (!stats.ok()) {
    std::cout.flush();
    if (absl::IsNotFound(stats.status())) {
      return ReportStatus("query", absl::NotFoundError(fmt::format(
                                       "table '{}' is not there: no point of it was ever written here ({})",
                                       opened->schema.table, std::string(stats.status().message()))));
    }
    return ReportStatus("query", stats.status());
  }
  if (options.plot.has_plot) DrawLines(options, opened->schema, *query, &lines);
  std::cout.flush();
  PrintFooter(options, *opened, rows, writer == nullptr ? rows : shown, seconds);
  if (options.is_explained) PrintExplained(*opened, *stats, seconds);
  return 0;
}

constexpr char kQueryExamples[] =
    "Times are RFC 3339, or dates; without a zone they are UTC.  Weeks begin on Monday.  Points come in the "
    "order of\n"
    "the row keys.\n\n"
    "Examples:\n"
    "  sonde series query examples/weather.yaml --where location=Seattle --from 2012-01-01 --to 2012-01-08\n"
    "  sonde series query examples/weather.yaml --field temp_max --every month --agg avg,min,max --plot\n"
    "  sonde series query examples/stocks.yaml --latest\n"
    "  sonde series query examples/stocks.yaml --where symbol=IBM --every day --window 5,10,30 --fill "
    "previous\n"
    "  sonde series query examples/weather.yaml --every month --zone America/Los_Angeles --agg p95,stddev "
    "\\\n"
    "      --group-by - --field wind\n"
    "  sonde series query examples/weather.yaml --where 'location=~(?i)sea.*' --agg max --top 3 --field "
    "wind\n"
    "  sonde series query examples/metrics.yaml --where 'host=web*' --last 15m --format csv --explain\n"
    "  sonde series query stored:cpu --agg max --every hour         (cpu: what Telegraf or Prometheus sent)\n"
    "Without --endpoint and --data-dir, SONDE_ENDPOINT, SONDE_DATA_DIR or BIGTABLE_EMULATOR_HOST names the "
    "place, or\n"
    "else 127.0.0.1:8086 is asked.";

}  // namespace

void AddSeriesQuery(CLI::App& series, int* exit_status) {
  CLI::App* command = series.add_subcommand("query", "Ask for points, the newest points, or aggregates");
  auto options = std::make_shared<QueryOptions>();
  options->command = command;
  AddDeclarationArgument(*command, &options->declaration);
  series::QueryRequest& request = options->request;
  const auto add_list = [&](const char* flag, std::vector<std::string>* list, const std::string& help) {
    command->add_option(flag, *list, help)->delimiter(',')->allow_extra_args(false);
  };
  command
      ->add_option("--where", request.where,
                   "TAG=VALUE, TAG=PREFIX*, TAG=~REGEX, TAG!=VALUE, TAG!~REGEX, FIELD>NUMBER (>=, <, <=); "
                   "several = of one tag: "
                   "any of them")
      ->allow_extra_args(false);
  add_list("--field,--fields", &request.fields, "only these, separated by commas (all)");
  command->add_option("--from", request.from, "the first time");
  command->add_option("--to", request.to, "the time behind the last");
  command->add_option("--last", request.last, "from so long ago until now, such as 24h")->excludes("--from");
  command->add_option("--latest", request.latest, "only the newest N points of each series (1), newest first")
      ->expected(0, 1)
      ->type_name("[N]");
  command->add_option("--every", request.every,
                      "aggregate over minute, hour, day, week, month, quarter, year, or such as 15m, 3mo");
  command->add_option("--zone", request.zone,
                      "whose days and hours --every follows, such as Europe/Rome (UTC)");
  add_list("--agg", &request.aggregates,
           fmt::format("{} (avg); without --every over all time", series::AggregateNames()));
  add_list("--group-by", &request.group_by,
           "aggregate over series that agree in these tags; - for all in one");
  command->add_option("--change", request.change,
                      "take the place of values: delta, increase (a counter may start again from 0), rate "
                      "(increase a second)");
  add_list("--window", &request.windows, "aggregate over the last N buckets: 5,10,30 gives three columns");
  command->add_option("--fill", request.fill, "buckets without points: none, null, previous, linear (none)");
  command->add_option("--top", request.top, "only the N lines with the largest values; -N: the smallest")
      ->type_name("N");
  command->add_option("--by", request.by, "the column that --top compares, such as 'max(wind)' (the first)");
  command->add_option("--limit", request.limit, "lines of the answer, at most")->check(CLI::PositiveNumber);
  command->add_option("--format", options->format, "table, csv, json (an object a line), none")
      ->check(CLI::IsMember({"table", "csv", "json", "none"}))
      ->capture_default_str();
  command->add_flag_callback("--json", [options] { options->format = "json"; }, "Same as --format json");
  AddPlotFlags(*command, &options->plot);
  command->add_flag("--explain", options->is_explained,
                    "say on stderr which ranges, rows and cells were read");
  AddAccessFlags(*command, &options->access);
  command->footer(kQueryExamples);
  command->callback([options, exit_status] { *exit_status = Ask(*options); });
}

}  // namespace sonde
