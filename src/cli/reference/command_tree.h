// A program's commands, options and positionals as plain values, read from CLI11's own tree: the one source of its completions and
// of its manual page.
//
// Commands and options keep the order in which the program declared them.
#pragma once

#include <CLI/App.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace sonde {

struct OptionEntry {
  std::vector<std::string>
      names;          // with their dashes, short ones first; of a positional its only name, without dashes
  std::string value;  // the word for its value, such as TEXT; empty: it is a flag
  std::vector<std::string> choices;  // all values that there are; empty: any
  std::string fallback;              // the value that it has by itself; may be empty
  std::string description;
  bool is_required = false;
  bool may_lack_value = false;  // --latest and --latest 3
  bool may_repeat = false;      // several values
};

struct CommandEntry {
  std::string path;  // "sonde", "sonde series load": the words that call it
  std::string description;
  std::string footer;  // lines, as they are to be shown; may be empty
  std::vector<OptionEntry> options;
  std::vector<OptionEntry> positionals;
  std::vector<CommandEntry> commands;  // those below it
};

// Hidden commands (those in the group "") are left out.
CommandEntry ReadCommandLine(const CLI::App& app);

// The command itself and all below it, each before those below it.  The pointers live as long as `root`.
std::vector<const CommandEntry*> AllCommands(const CommandEntry& root);

// The last word of a command's path.
std::string_view LastWord(const CommandEntry& command);

}  // namespace sonde
