// `sonde sql`: GoogleSQL for Bigtable, one statement or a prompt.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/reach/command_end.h"
#include "cli/sql_prompt.h"
#include "cli/sql_session.h"

namespace sonde {
namespace {

struct Options {
  std::string query;
  std::string format = "table";
  std::vector<std::string> parameters;
  PlotFlags plot;
  AccessFlags access;
};

int Report(const absl::Status& status) { return EndOfCommand("sonde sql", status); }

int Run(const Options& options) {
  SqlOptions sql{
      .format = sql::AnswerFormatOfName(options.format).value(), .plot = options.plot, .parameters = {}};
  for (const std::string& text : options.parameters) {
    absl::StatusOr<sql::Question::Parameter> parameter = ParseSqlParameter(text);
    if (!parameter.ok()) return Report(parameter.status());
    sql.parameters.push_back(*std::move(parameter));
  }
  const absl::StatusOr<SqlSession> session = OpenSqlSession(options.access);
  if (!session.ok()) return Report(session.status());
  if (options.query.empty() && isatty(STDIN_FILENO) == 1) {
    RunSqlPrompt(*session, sql);
    return 0;
  }
  std::string query = options.query;
  if (query.empty() || query == "-") {
    query.assign(std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>());
  }
  return Report(RunStatement(*session, query, sql, &std::cout));
}

constexpr char kSqlExamples[] =
    "Without a query there is a prompt, with history and completion; - reads the query from stdin.  A "
    "table's columns are\n"
    "_key and its families, each a map of its newest cells: cf['q'].  docs/sql.md has all functions.\n\n"
    "Examples:\n"
    "  sonde sql \"SELECT _key, cf['pressure'] FROM balloon LIMIT 10\" --endpoint 127.0.0.1:8086\n"
    "  sonde sql 'SELECT COUNT(*) FROM t WHERE _key LIKE @p' --param p:BYTES=us-west2% --data-dir DIR\n"
    "  sonde sql \"SELECT _timestamp, CAST(CAST(p AS STRING) AS FLOAT64) AS p\n"
    "    FROM UNPACK((SELECT cf['pressure'] AS p FROM balloon(with_history => TRUE)))\" --plot --endpoint "
    "127.0.0.1:8086\n"
    "  sonde sql 'SHOW TABLES' --endpoint 127.0.0.1:8086\n"
    "  sonde sql --endpoint 127.0.0.1:8086\n"
    "Without --endpoint and --data-dir, SONDE_ENDPOINT, SONDE_DATA_DIR or BIGTABLE_EMULATOR_HOST names the "
    "place, or\n"
    "else 127.0.0.1:8086 is asked.";

}  // namespace

void AddSqlCommand(CLI::App& app, int* exit_status) {
  CLI::App* command = app.add_subcommand("sql", "Ask in GoogleSQL for Bigtable");
  auto options = std::make_shared<Options>();
  command->add_option("query", options->query, "the statement; - for stdin; none for a prompt")
      ->type_name("QUERY");
  command
      ->add_option("--param", options->parameters,
                   "NAME=VALUE or NAME:TYPE=VALUE, for @NAME in the query; may come several times")
      ->allow_extra_args(false);
  command->add_option("--format", options->format, "table, csv, json (an object a line)")
      ->check(CLI::IsMember({"table", "csv", "json"}))
      ->capture_default_str();
  command->add_flag_callback("--json", [options] { options->format = "json"; }, "Same as --format json");
  AddPlotFlags(*command, &options->plot);
  AddAccessFlags(*command, &options->access);
  command->footer(kSqlExamples);
  command->callback([options, exit_status] { *exit_status = Run(*options); });
}

}  // namespace sonde
