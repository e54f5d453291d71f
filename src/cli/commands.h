// The program's commands: each adds itself to the command line and leaves its exit status in *exit_status
// (0 done, 1 failed or done in part, 2 the call was wrong).  Data goes to stdout, talk to stderr.  RunProgram
// (program.h) looks whether stdout could be written.
#pragma once

#include <CLI/App.hpp>

namespace sonde {

void AddServeCommand(CLI::App& app, int* exit_status);
void AddSqlCommand(CLI::App& app, int* exit_status);
void AddQueryCommand(CLI::App& app, int* exit_status);
void AddTablesCommand(CLI::App& app, int* exit_status);
void AddReadCommand(CLI::App& app, int* exit_status);
void AddKeyvizCommand(CLI::App& app, int* exit_status);
void AddBenchCommand(CLI::App& app, int* exit_status);
void AddConfigCommand(CLI::App& app, int* exit_status);
void AddStatusCommand(CLI::App& app, int* exit_status);
void AddTopCommand(CLI::App& app, int* exit_status);
void AddDebugCommand(CLI::App& app, int* exit_status);
void AddAuthCommand(CLI::App& app, int* exit_status);
void AddInitCommand(CLI::App& app, int* exit_status);
// completion and manual, which tell of all commands of `app`.  `app` outlives its parsing.
void AddReferenceCommands(CLI::App& app, int* exit_status);

}  // namespace sonde
