#include "cli/program.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <string>
#include <vector>

#include "cli/call_errors.h"
#include "cli/commands.h"
#include "cli/reach/command_end.h"
#include "cli/series/series_commands.h"
#include "cli/store/store_commands.h"
#include "server/serve_settings.h"

namespace sonde {
namespace {

// A command's output may turn out only now not to have been written.  Then the command has failed, whatever
// its own status.
int StatusWithOutput(int exit_status) {
  errno = 0;
  const bool is_flushed = std::fflush(stdout) == 0;
  std::cout.flush();
  const bool is_written = is_flushed && std::cout.good() && std::ferror(stdout) == 0;
  if (is_written) return exit_status;
  fmt::print(stderr, "sonde: the output could not be written{}{}\n", errno == 0 ? "" : ": ",
             errno == 0 ? "" : std::strerror(errno));
  return exit_status == 0 ? 1 : exit_status;
}

// `sonde help series load` is `sonde series load --help`.
void TakeHelpCommand(std::vector<std::string>* arguments) {
  if (arguments->empty() || arguments->front() != "help") return;
  arguments->erase(arguments->begin());
  arguments->emplace_back("--help");
}

// Says what is wrong with the call.  Without a command, help is the answer.
int ReportCall(const CLI::App& app, const CLI::ParseError& error) {
  const bool is_version =
      error.get_exit_code() == 0 && dynamic_cast<const CLI::CallForHelp*>(&error) == nullptr;
  if (is_version) return app.exit(error);
  const std::string text = CallErrorText(app, error);
  if (text.empty()) {
    std::fputs(app.help().c_str(), stdout);  // StatusWithOutput tells if it fails
    return 0;
  }
  const size_t colon = text.find(": ");
  WriteError(text.substr(0, colon), absl::StatusCode::kInvalidArgument, text.substr(colon + 2));
  return 2;
}

}  // namespace

int RunProgram(int argc, char** argv) {
  CLI::App app("Sonde: a time-series database that is a Bigtable.", "sonde");
  app.formatter(MakeHelpForm());
  app.require_subcommand(1);
  app.set_version_flag("--version", "sonde " SONDE_VERSION);
  int exit_status = 0;
  AddServeCommand(app, &exit_status);
  AddSeriesCommand(app, &exit_status);
  AddSqlCommand(app, &exit_status);
  AddQueryCommand(app, &exit_status);
  AddTablesCommand(app, &exit_status);
  AddReadCommand(app, &exit_status);
  AddKeyvizCommand(app, &exit_status);
  AddBenchCommand(app, &exit_status);
  AddCopyCommand(app, &exit_status);
  AddCompactCommand(app, &exit_status);
  AddTableCommand(app, &exit_status);
  AddConfigCommand(app, &exit_status);
  AddStatusCommand(app, &exit_status);
  AddTopCommand(app, &exit_status);
  AddDebugCommand(app, &exit_status);
  AddCheckCommand(app, &exit_status);
  AddBackupCommand(app, &exit_status);
  AddRestoreCommand(app, &exit_status);
  AddAuthCommand(app, &exit_status);
  AddInitCommand(app, &exit_status);
  AddReferenceCommands(app, &exit_status);
  bool version_is_json = false;
  CLI::App* const version = app.add_subcommand("version", "Say which version this is");
  version->add_flag("--json", version_is_json, "Print the result as JSON");
  version->callback([&version_is_json] {
    if (version_is_json) {
      fmt::print("{{\"version\":\"{}\",\"build\":\"{}\",\"rocksdb\":\"{}\"}}\n", SONDE_VERSION,
                 SONDE_BUILD_TYPE, SONDE_ROCKSDB_VERSION);
      return;
    }
    fmt::print("sonde {} ({}, RocksDB {})\n", SONDE_VERSION, SONDE_BUILD_TYPE, SONDE_ROCKSDB_VERSION);
  });

  app.add_subcommand("help", "Show what a command does: sonde help series load")->allow_extras();

  std::vector<std::string> arguments = AcceptEmulatorForm({argv + 1, argv + argc});
  TakeHelpCommand(&arguments);
  if (std::ranges::find(arguments, "--json") != arguments.end()) WriteErrorsAsJson();
  std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants them
  try {
    app.parse(std::move(arguments));
  } catch (const CLI::ParseError& e) {
    return StatusWithOutput(ReportCall(app, e));
  }
  return StatusWithOutput(exit_status);
}

}  // namespace sonde
