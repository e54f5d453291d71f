// Scripts that complete a program's command line in shells: its commands, its options, and those values of options that are a choice
// of a few.  Where another value is expected, and where a command takes positionals, files are completed.
//
// A value that looks like a command ("--project serve") does not lead astray: the scripts know which options take values.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/reference/command_tree.h"

namespace sonde {

// bash, zsh, fish.
std::vector<std::string> CompletionShells();

// INVALID_ARGUMENT: it is none of CompletionShells().
absl::StatusOr<std::string> CompletionFor(std::string_view shell, const CommandEntry& root);

// For bash 4 and later, without the package bash-completion.
std::string BashCompletion(const CommandEntry& root);
// For a file _NAME in a directory of fpath, or for `source` once compinit has run.
std::string ZshCompletion(const CommandEntry& root);
// For fish 3.
std::string FishCompletion(const CommandEntry& root);

// The functions below are for all three shells.

// In single quotes, as bash and zsh read them.
std::string ShellQuoted(std::string_view text);
// Its commands, then the choices of its positionals, each with a description.
std::vector<std::pair<std::string, std::string>> WordsOf(const CommandEntry& command);
// "sonde serve": all calls of commands below the root.
std::vector<std::string> CommandCalls(const CommandEntry& root);
// "sonde serve --port": all options that always take a value, each behind the call of its command.
std::vector<std::string> ValueCalls(const CommandEntry& root);

}  // namespace sonde
