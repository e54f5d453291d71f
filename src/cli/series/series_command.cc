// `sonde series`: its check and explain, and what its commands share.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>

#include "base/bytes.h"
#include "cli/reach/command_end.h"
#include "cli/series/series_commands.h"
#include "series/known/complete_tables.h"
#include "series/known/declaration_check.h"
#include "series/known/declaration_store.h"
#include "series/schema/check.h"
#include "series/schema/schema_parser.h"
#include "series/schema/status_text.h"
#include "series/schema/time_range.h"
#include "series/write/explain.h"

namespace sonde {

void AddDeclarationArgument(CLI::App& command, std::string* file) {
  command
      .add_option(
          "FILE", *file,
          "the declaration of the series (YAML), or stored:SERIES; FILE@TABLE is one of its derived tables")
      ->required();
}

int ReportStatus(std::string_view command, const absl::Status& status) {
  return EndOfCommand(fmt::format("sonde series {}", command), status);
}

absl::StatusOr<OpenSeries> OpenAnySeries(const std::string& reference, const AccessFlags& access,
                                         DataDir data_dir) {
  constexpr std::string_view kStored = "stored:";
  std::string file = reference;
  std::string table;
  if (const size_t at = reference.rfind('@');
      at != std::string::npos && !std::filesystem::exists(reference)) {
    file = reference.substr(0, at);
    table = reference.substr(at + 1);
  }
  OpenSeries opened;
  const bool is_stored = file.starts_with(kStored);
  absl::StatusOr<series::SeriesSchema> schema;
  if (!is_stored) {
    schema = series::ReadSchemaFile(file);
    if (!schema.ok()) return schema.status();
    if (absl::Status status = series::RefuseErrors(*schema); !status.ok()) return status;
  }
  absl::StatusOr<std::unique_ptr<TableAccess>> tables = OpenAccess(access, data_dir);
  if (!tables.ok()) return tables.status();
  opened.tables = *std::move(tables);
  if (!is_stored) {
    // Points that were written by another declaration would be read wrongly, or not at all.
    if (absl::Status status = series::CheckAgainstStored(*schema, opened.tables.get()); !status.ok()) {
      return status;
    }
  }
  if (is_stored) {
    const std::string name = file.substr(kStored.size());
    absl::StatusOr<std::optional<series::KnownSeries>> known =
        series::FindKnownSeries(name, opened.tables.get());
    if (!known.ok()) return known.status();
    if (known->has_value() && (*known)->is_open() && table.empty()) {
      opened.schema = series::LabelsAsTags(**known);
      opened.open = **std::move(known);
      return opened;
    }
    schema = series::FindDeclaration(name, opened.tables.get());
    if (!schema.ok()) return schema.status();
  }
  if (!table.empty()) {
    std::optional<series::SeriesSchema> derived = series::SchemaOfTable(*schema, table);
    if (!derived) {
      return absl::InvalidArgumentError(fmt::format("{} has no table '{}'", file, Printable(table)));
    }
    schema = *std::move(derived);
  }
  opened.schema = *std::move(schema);
  return opened;
}

absl::StatusOr<OpenSeries> OpenDeclaredSeries(const std::string& reference, const AccessFlags& access,
                                              DataDir data_dir) {
  absl::StatusOr<OpenSeries> opened = OpenAnySeries(reference, access, data_dir);
  if (!opened.ok() || !opened->open) return opened;
  return series::NotDeclared(opened->schema.name);
}

namespace {

// Checks that need the tables: whether they have points that the declaration would not read, and which
// derived tables are not complete.
absl::Status CheckTables(const series::SeriesSchema& schema, const AccessFlags& access,
                         std::vector<series::Finding>* findings) {
  const absl::StatusOr<std::unique_ptr<TableAccess>> tables = OpenAccess(access);
  if (!tables.ok()) return tables.status();
  if (absl::Status status = series::CheckAgainstStored(schema, tables->get()); !status.ok()) return status;
  const absl::StatusOr<std::vector<series::Finding>> incomplete =
      series::FindIncompleteTables(schema, tables->get());
  if (!incomplete.ok()) return incomplete.status();
  findings->insert(findings->end(), incomplete->begin(), incomplete->end());
  return absl::OkStatus();
}

int Check(const std::string& file, bool is_json, const AccessFlags& access) {
  const absl::StatusOr<series::SeriesSchema> schema = series::ReadSchemaFile(file);
  if (!schema.ok()) {
    if (is_json) {
      (void)ReportStatus("check", schema.status());
    } else {
      fmt::print(stderr, "{}\n", series::TextOfStatus(schema.status()));  // FILE:LINE: what is wrong
    }
    return 1;
  }
  std::vector<series::Finding> findings = series::CheckSchema(*schema);
  if (!access.data_dir.empty() || !access.endpoint.empty()) {
    if (absl::Status status = CheckTables(*schema, access, &findings); !status.ok())
      return ReportStatus("check", status);
  }
  bool has_error = false;
  for (const series::Finding& finding : findings) {
    has_error |= finding.severity == series::Severity::kError;
    const std::string severity(series::SeverityName(finding.severity));
    if (is_json) {
      const nlohmann::ordered_json object = {{"file", file},
                                             {"line", finding.line},
                                             {"severity", severity},
                                             {"reason", finding.reason},
                                             {"remedy", finding.remedy}};
      std::cout << object.dump() << "\n";
    } else {
      std::cout << fmt::format("{}:{}: {}: {}\n    remedy: {}\n", file, finding.line, severity,
                               finding.reason, finding.remedy);
    }
  }
  if (!is_json && findings.empty()) std::cout << fmt::format("{}: nothing found\n", file);
  if (!is_json) std::cout << fmt::format("{}: takes {}\n", file, series::TimesText(*schema));
  return has_error ? 1 : 0;
}

int Explain(const std::string& file) {
  const absl::StatusOr<series::SeriesSchema> schema = series::ReadSchemaFile(file);
  if (!schema.ok()) {
    fmt::print(stderr, "{}\n", series::TextOfStatus(schema.status()));  // FILE:LINE: what is wrong
    return 1;
  }
  const absl::StatusOr<std::string> text = series::ExplainSchema(*schema);
  if (!text.ok()) return ReportStatus("explain", text.status());
  std::cout << *text;
  return 0;
}

constexpr char kExamples[] =
    "Examples:\n"
    "  sonde series init weather.csv > weather.yaml\n"
    "  sonde series check examples/weather.yaml\n"
    "  sonde series explain examples/weather.yaml\n"
    "  sonde series advise examples/meters/meters.yaml\n"
    "  sonde series load examples/weather.yaml weather.csv --endpoint 127.0.0.1:8086\n"
    "  sonde series query examples/weather.yaml --where location=Seattle --every month --agg avg,max \\\n"
    "      --field temp_max --plot --endpoint 127.0.0.1:8086\n"
    "  sonde series collect examples/metrics.yaml --seconds 10 --data-dir /var/lib/sonde\n\n"
    "Each of them says more with --help.";

}  // namespace

void AddSeriesCheck(CLI::App& series, int* exit_status) {
  CLI::App* command =
      series.add_subcommand("check", "Say what a declaration will suffer from, and what to do");
  command->footer(
      "With --data-dir or --endpoint, the tables are looked at, too: whether they have points that the "
      "declaration\n"
      "could not read, and which derived tables are not complete.\n\n"
      "Exit status: 0 nothing but warnings and notes; 1 errors, with which `load` refuses to write.\n\n"
      "Examples:\n  sonde series check examples/metrics.yaml\n"
      "  sonde series check examples/metrics.yaml --endpoint 127.0.0.1:8086");
  struct Options {
    std::string file;
    bool is_json = false;
    AccessFlags access;
  };
  auto options = std::make_shared<Options>();
  AddDeclarationArgument(*command, &options->file);
  command->add_flag("--json", options->is_json, "a JSON object for each finding");
  AddAccessFlags(*command, &options->access);
  command->callback(
      [options, exit_status] { *exit_status = Check(options->file, options->is_json, options->access); });
}

void AddSeriesExplain(CLI::App& series, int* exit_status) {
  CLI::App* command =
      series.add_subcommand("explain", "Show the rows that a declaration writes, and what they cost");
  command->footer("Example:\n  sonde series explain examples/weather.yaml");
  auto file = std::make_shared<std::string>();
  AddDeclarationArgument(*command, file.get());
  command->callback([file, exit_status] { *exit_status = Explain(*file); });
}

void AddSeriesCommand(CLI::App& app, int* exit_status) {
  CLI::App* command =
      app.add_subcommand("series", "Declared time series: from a sample to a schema, from points to answers");
  command->require_subcommand(1);
  command->footer(kExamples);
  AddSeriesCheck(*command, exit_status);
  AddSeriesInit(*command, exit_status);
  AddSeriesExplain(*command, exit_status);
  AddSeriesAdvise(*command, exit_status);
  AddSeriesLoad(*command, exit_status);
  AddSeriesQuery(*command, exit_status);
  AddSeriesCollect(*command, exit_status);
  AddSeriesShow(*command, exit_status);
  AddSeriesRebuild(*command, exit_status);
  AddSeriesRewrite(*command, exit_status);
}

}  // namespace sonde
