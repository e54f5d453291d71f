// `sonde series show`, `rebuild` and `rewrite`: what is stored of declarations, and what follows from their
// points.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "base/bytes.h"
#include "base/clock.h"
#include "cli/series/series_commands.h"
#include "series/derive/rebuild.h"
#include "series/derive/rewrite.h"
#include "series/index/write/index_repair.h"
#include "series/known/declaration_store.h"
#include "series/schema/status_text.h"
#include "series/write/row_text.h"

namespace sonde {
namespace {

// The first rows of a table, with every version of their cells.
int ShowRows(const std::string& table, int64_t rows_max, TableAccess* tables) {
  RowRead read;
  read.ranges = {RowRange::All()};
  read.rows_max = rows_max;
  std::vector<ReadRow> rows;
  const absl::Status status = tables->ReadRows(table, read, [&](ReadRow&& row) {
    rows.push_back(std::move(row));
    return true;
  });
  if (!status.ok()) return ReportStatus("show", status);
  std::cout << series::DrawRows(rows);
  return 0;
}

// One that nobody declared.
void ShowOpen(const series::StoredSeries& stored, bool is_json) {
  if (is_json) {
    const nlohmann::ordered_json object = {
        {"series", stored.series},
        {"tables", {series::kOpenSeriesTable}},
        {"open", nlohmann::ordered_json::parse(stored.open_record, nullptr, false)}};
    std::cout << object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << "\n";
  } else {
    std::cout << fmt::format("{}  not declared  tables {}  {}\n", Printable(stored.series),
                             series::kOpenSeriesTable, Printable(stored.open_record));
  }
}

struct ShowOptions {
  std::string series;
  std::string table;
  int64_t rows_max = 20;
  bool is_json = false;
  AccessFlags access;
};

int Show(const ShowOptions& options) {
  const absl::StatusOr<std::unique_ptr<TableAccess>> tables = OpenAccess(options.access);
  if (!tables.ok()) return ReportStatus("show", tables.status());
  if (!options.table.empty()) return ShowRows(options.table, options.rows_max, tables->get());
  const std::string& series = options.series;
  if (!series.empty()) {
    const absl::StatusOr<series::SeriesSchema> schema = series::FindDeclaration(series, tables->get());
    if (!schema.ok()) return ReportStatus("show", schema.status());
    std::cout << schema->text;
    return 0;
  }
  const absl::StatusOr<std::vector<series::StoredSeries>> all = series::ListStored(tables->get());
  if (!all.ok()) return ReportStatus("show", all.status());
  for (const series::StoredSeries& declaration : *all) {
    if (!declaration.open_record.empty()) {
      ShowOpen(declaration, options.is_json);
      continue;
    }
    const std::string stored = series::TimeText(declaration.stored_micros);
    if (options.is_json) {
      const nlohmann::ordered_json object = {{"series", declaration.series},
                                             {"tables", declaration.tables},
                                             {"stored", stored},
                                             {"declaration", declaration.text}};
      std::cout << object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << "\n";
    } else {
      std::cout << fmt::format("{}  {}  tables {}\n", declaration.series, stored,
                               fmt::join(declaration.tables, ", "));
    }
  }
  if (all->empty()) fmt::print(stderr, "no series is known here\n");
  return 0;
}

// Leaves only the derived tables that are named.
absl::Status KeepTables(const std::vector<std::string>& names, series::SeriesSchema* schema) {
  if (names.empty()) return absl::OkStatus();
  std::vector<std::string> known;
  const auto keep = [&](auto* tables, auto name_of) {
    std::erase_if(*tables, [&](const auto& table) {
      known.push_back(name_of(table));
      return std::find(names.begin(), names.end(), known.back()) == names.end();
    });
  };
  keep(&schema->latest, [](const series::LatestTable& table) { return table.table; });
  keep(&schema->orders, [](const series::OrderTable& table) { return table.table; });
  keep(&schema->rollups, [](const series::RollupTable& table) { return table.table; });
  keep(&schema->periods, [](const series::PeriodTable& table) { return table.Pattern(); });
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    return absl::InvalidArgumentError(fmt::format("--table '{}' is no derived table of {}; allowed: {}", name,
                                                  schema->file, fmt::join(known, ", ")));
  }
  return absl::OkStatus();
}

struct RebuildOptions {
  std::string declaration;
  std::vector<std::string> tables;
  bool is_stale_only = false;
  bool is_check_only = false;
  bool is_json = false;
  AccessFlags access;
};

constexpr std::string_view kIndexSuffix = "@index";

// stored:SERIES@index
bool IsIndex(std::string_view reference) {
  return reference.starts_with("stored:") && reference.ends_with(kIndexSuffix);
}

void PrintIndexReport(const RebuildOptions& options, const series::IndexReport& report) {
  for (const std::string& problem : report.problems) fmt::print(stderr, "{}\n", problem);
  fmt::print(
      stderr,
      "{} rows read, of {} entities; {} entities, and a day or a field of {} rows of others, {} in the "
      "index; {} entities of the index have no row\n",
      report.rows, report.entities, report.missing_entities, report.missing_rows,
      options.is_check_only ? "are not" : "were not", report.idle_entities);
  if (options.is_check_only && report.is_given_up) {
    fmt::print(stderr, "The server has given the index up: the series has more entities than it may know.\n");
  } else if (options.is_check_only && !report.is_whole) {
    fmt::print(stderr, "The index is not marked as whole: all rows of the series are read.\n");
  }
  if (!options.is_json) return;
  const nlohmann::ordered_json result = {{"rows", report.rows},
                                         {"entities", report.entities},
                                         {"missing_entities", report.missing_entities},
                                         {"missing_rows", report.missing_rows},
                                         {"idle_entities", report.idle_entities},
                                         {"is_whole", report.is_whole},
                                         {"is_given_up", report.is_given_up},
                                         {"problems", report.problems}};
  fmt::print("{}\n", result.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

// Servers write by the declaration before until they have looked again (series/known/declarations.h).
absl::Status AwaitWriters(const std::string& series, TableAccess* tables, const Clock& clock) {
  constexpr int64_t kKnownToAllMicros = 10 * series::kMicrosPerSecond;
  const absl::StatusOr<std::optional<series::StoredSeries>> stored = series::FindStoredSeries(series, tables);
  if (!stored.ok()) return stored.status();
  if (!stored->has_value()) return absl::OkStatus();
  const int64_t wait_micros =
      std::min((*stored)->stored_micros + kKnownToAllMicros - clock.NowMicros(), kKnownToAllMicros);
  if (wait_micros <= 0) return absl::OkStatus();
  fmt::print(stderr, "The declaration is new: waiting {} s until servers write by it.\n",
             (wait_micros + series::kMicrosPerSecond - 1) / series::kMicrosPerSecond);
  std::this_thread::sleep_for(std::chrono::microseconds(wait_micros));
  return absl::OkStatus();
}

int RebuildIndexOf(const RebuildOptions& options) {
  if (!options.tables.empty() || options.is_stale_only) {
    return ReportStatus("rebuild", absl::InvalidArgumentError("--table and --stale are for derived tables"));
  }
  const absl::StatusOr<AccessFlags> access = ResolveAccess(options.access);
  if (!access.ok()) return ReportStatus("rebuild", access.status());
  const std::string series = options.declaration.substr(0, options.declaration.size() - kIndexSuffix.size());
  const absl::StatusOr<OpenSeries> opened = OpenAnySeries(series, *access);
  if (!opened.ok()) return ReportStatus("rebuild", opened.status());
  if (!opened->open && !opened->schema.is_indexed) {
    return ReportStatus(
        "rebuild", absl::FailedPreconditionError(
                       fmt::format("series '{}' is declared, and has no index: declare it with index: yes",
                                   Printable(opened->schema.name))));
  }
  const series::KnownSeries known =
      opened->open ? *opened->open : series::KnownSeries{opened->schema, opened->schema.text, {}};
  const series::IndexProgress progress{
      .tell = [](const series::IndexReport& so_far) { fmt::print(stderr, "{} rows read\n", so_far.rows); }};
  const SystemClock clock;
  const bool is_alone = access->endpoint.empty();
  if (!is_alone && !options.is_check_only && !opened->open) {
    if (absl::Status status = AwaitWriters(opened->schema.name, opened->tables.get(), clock); !status.ok())
      return ReportStatus("rebuild", status);
  }
  const absl::StatusOr<series::IndexReport> report =
      options.is_check_only ? series::CheckIndex(known, opened->tables.get(), progress)
                            : series::RebuildIndex(known, opened->tables.get(), clock, is_alone, progress);
  if (!report.ok()) return ReportStatus("rebuild", report.status());
  PrintIndexReport(options, *report);
  const bool has_all = report->is_sound() && report->is_whole && !report->is_given_up;
  return options.is_check_only && !has_all ? 1 : 0;
}

int Rebuild(const RebuildOptions& options) {
  if (IsIndex(options.declaration)) return RebuildIndexOf(options);
  if (options.is_check_only)
    return ReportStatus("rebuild", absl::InvalidArgumentError("--check is for stored:SERIES@index"));
  absl::StatusOr<OpenSeries> opened = OpenDeclaredSeries(options.declaration, options.access);
  if (!opened.ok()) return ReportStatus("rebuild", opened.status());
  if (absl::Status status = KeepTables(options.tables, &opened->schema); !status.ok())
    return ReportStatus("rebuild", status);
  const SystemClock clock;
  const absl::StatusOr<series::RebuildTotals> totals =
      options.is_stale_only
          ? series::RefreshStaleRollups(opened->schema, opened->tables.get(), clock)
          : series::RebuildDerived(opened->schema, series::kTimeBeginMicros, series::kTimeEndMicros,
                                   opened->tables.get(), clock, [](const series::RebuildTotals& so_far) {
                                     fmt::print(stderr, "{} points read\n", so_far.points);
                                   });
  if (!totals.ok()) return ReportStatus("rebuild", totals.status());
  fmt::print(stderr, "{} points read, {} rows and {} pieces of roll-ups written\n", totals->points,
             totals->rows, totals->pieces);
  if (totals->pieces_too_old > 0) {
    fmt::print(stderr,
               "{} pieces of roll-ups were left as they are: some of their points are forgotten already\n",
               totals->pieces_too_old);
  }
  if (options.is_json) {
    const nlohmann::ordered_json result = {{"points_read", totals->points},
                                           {"rows_written", totals->rows},
                                           {"pieces_written", totals->pieces},
                                           {"pieces_too_old", totals->pieces_too_old}};
    fmt::print("{}\n", result.dump());
  }
  return 0;
}

std::atomic<bool> g_is_interrupted{false};

struct RewriteOptions {
  std::string declaration;
  bool is_finish = false;
  bool is_json = false;
  AccessFlags access;
};

int Rewrite(const RewriteOptions& options) {
  absl::StatusOr<OpenSeries> opened = OpenDeclaredSeries(options.declaration, options.access);
  if (!opened.ok()) return ReportStatus("rewrite", opened.status());
  const SystemClock clock;
  std::signal(SIGINT, [](int) { g_is_interrupted = true; });
  std::signal(SIGTERM, [](int) { g_is_interrupted = true; });
  const auto progress = [](const series::RewriteTotals& totals) {
    fmt::print(stderr, "{} rows read, {} points written\n", totals.rows, totals.points);
    return !g_is_interrupted;
  };
  const absl::StatusOr<series::RewriteTotals> totals =
      options.is_finish ? series::FinishVersions(opened->schema, opened->tables.get(), clock, progress)
                        : series::CopyVersions(opened->schema, opened->tables.get(), clock, progress);
  if (!totals.ok()) return ReportStatus("rewrite", totals.status());
  fmt::print(stderr, "{} versions, {} rows read, {} points written\n", totals->versions, totals->rows,
             totals->points);
  if (!options.is_finish && totals->versions > 0) {
    fmt::print(
        stderr,
        "Now take these versions out of {}; when every writer has that, run this again with --finish.\n",
        opened->schema.file);
  }
  if (options.is_json) {
    const nlohmann::ordered_json result = {
        {"versions", totals->versions}, {"rows_read", totals->rows}, {"points_written", totals->points}};
    fmt::print("{}\n", result.dump());
  }
  return 0;
}

}  // namespace

void AddSeriesShow(CLI::App& series, int* exit_status) {
  CLI::App* command = series.add_subcommand("show", "Show the declarations that are stored with the tables");
  auto options = std::make_shared<ShowOptions>();
  CLI::Option* name = command->add_option("SERIES", options->series, "print the declaration of this one");
  command
      ->add_option("--table", options->table, "draw the first rows of this table instead, with all versions")
      ->excludes(name);
  command->add_option("--rows", options->rows_max, "Rows of the table to draw")
      ->check(CLI::Range(1, 1'000))
      ->capture_default_str();
  command->add_flag("--json", options->is_json, "a JSON object for each series");
  AddAccessFlags(*command, &options->access);
  command->footer(
      "Each load stores its declaration in table sonde_series, a row a series, column d:yaml: any Bigtable "
      "client\n"
      "can read it.\n\nExamples:\n  sonde series show --endpoint 127.0.0.1:8086\n"
      "  sonde series show weather --endpoint 127.0.0.1:8086 > weather.yaml\n"
      "  sonde series show --table weather --rows 5 --endpoint 127.0.0.1:8086");
  command->callback([options, exit_status] { *exit_status = Show(*options); });
}

void AddSeriesRebuild(CLI::App& series, int* exit_status) {
  CLI::App* command =
      series.add_subcommand("rebuild", "Write derived tables anew, from the points of their series");
  auto options = std::make_shared<RebuildOptions>();
  AddDeclarationArgument(*command, &options->declaration);
  command->add_option("--table", options->tables, "only these, as the declaration names them (all)")
      ->allow_extra_args(false);
  command->add_flag("--stale", options->is_stale_only,
                    "only roll-ups whose writer died before it had brought them up to date");
  command->add_flag("--check", options->is_check_only,
                    "Only compare an index with the rows of its series; exit status 1 where it lacks some");
  command->add_flag("--json", options->is_json, "print the counts as JSON");
  AddAccessFlags(*command, &options->access);
  command->footer(
      "stored:SERIES@index is the index of a series that nobody declared, or that is declared with index: "
      "yes: it is\n"
      "completed from the rows of the series.\n"
      "May be broken off and begun again, and run while others write.  Pieces of roll-ups that some "
      "points are\n"
      "forgotten of stay as they are.\n\nExamples:\n  sonde series rebuild meters.yaml --endpoint "
      "127.0.0.1:8086\n"
      "  sonde series rebuild meters.yaml --table SENSOR_1D --endpoint 127.0.0.1:8086\n"
      "  sonde series rebuild stored:cpu@index --check --endpoint 127.0.0.1:8086");
  command->callback([options, exit_status] { *exit_status = Rebuild(*options); });
}

void AddSeriesRewrite(CLI::App& series, int* exit_status) {
  CLI::App* command = series.add_subcommand(
      "rewrite", "Move the points of earlier versions of a declaration into its present table");
  auto options = std::make_shared<RewriteOptions>();
  AddDeclarationArgument(*command, &options->declaration);
  command->add_flag("--finish", options->is_finish,
                    "the versions are out of the declaration: copy what came late, drop their tables");
  command->add_flag("--json", options->is_json, "print the counts as JSON");
  AddAccessFlags(*command, &options->access);
  command->footer(
      "Interrupt it at any time: it goes on where it was.  Points can be read, written and corrected "
      "meanwhile.\n\n"
      "  1. sonde series rewrite s.yaml ...            copies the points of each of its `versions`\n"
      "  2. take these versions out of s.yaml, and give it to every writer\n"
      "  3. sonde series rewrite s.yaml --finish ...   copies what came since, and drops the earlier "
      "tables\n\n"
      "Example:\n  sonde series rewrite metrics.yaml --endpoint 127.0.0.1:8086");
  command->callback([options, exit_status] { *exit_status = Rewrite(*options); });
}

}  // namespace sonde
