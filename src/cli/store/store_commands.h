// The commands that work on whole stores: each adds itself to the command line, as cli/commands.h says.
#pragma once

#include <CLI/App.hpp>

namespace sonde {

void AddCopyCommand(CLI::App& app, int* exit_status);
void AddCompactCommand(CLI::App& app, int* exit_status);
void AddTableCommand(CLI::App& app, int* exit_status);
void AddCheckCommand(CLI::App& app, int* exit_status);
void AddBackupCommand(CLI::App& app, int* exit_status);
void AddRestoreCommand(CLI::App& app, int* exit_status);

}  // namespace sonde
