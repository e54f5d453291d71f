#include "cli/reference/command_tree.h"

#include <CLI/Option.hpp>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace sonde {
namespace {

// CLI11 writes the choices of CLI::IsMember into the name of the type: TEXT:{csv,json}.
std::vector<std::string> TakeChoices(std::string* type_name) {
  const size_t open = type_name->find(":{");
  if (open == std::string::npos || type_name->back() != '}') return {};
  const std::string inside = type_name->substr(open + 2, type_name->size() - open - 3);
  type_name->resize(open);
  return absl::StrSplit(inside, ',');
}

OptionEntry ReadOption(const CLI::Option& option, bool is_positional) {
  OptionEntry entry;
  if (is_positional) {
    entry.names.push_back(option.get_name(/*positional=*/true));
  } else {
    for (const std::string& name : option.get_snames()) entry.names.push_back(absl::StrCat("-", name));
    for (const std::string& name : option.get_lnames()) entry.names.push_back(absl::StrCat("--", name));
  }
  if (option.get_items_expected_max() > 0) {
    entry.value = option.get_type_name();
    entry.choices = TakeChoices(&entry.value);
    if (entry.value.empty()) entry.value = "VALUE";
  }
  entry.fallback = option.get_default_str();
  entry.description = option.get_description();
  entry.is_required = option.get_required();
  entry.may_lack_value = !entry.value.empty() && option.get_items_expected_min() == 0;
  entry.may_repeat = option.get_items_expected_max() > 1;
  return entry;
}

CommandEntry ReadCommand(const CLI::App& app, const std::string& above) {
  CommandEntry entry;
  entry.path = above.empty() ? app.get_name() : absl::StrCat(above, " ", app.get_name());
  entry.description = app.get_description();
  entry.footer = app.get_footer();
  for (const CLI::Option* option : app.get_options()) {
    if (option->nonpositional()) {
      entry.options.push_back(ReadOption(*option, /*is_positional=*/false));
    } else {
      entry.positionals.push_back(ReadOption(*option, /*is_positional=*/true));
    }
  }
  const auto is_shown = [](const CLI::App* command) {
    return !command->get_name().empty() && !command->get_group().empty();
  };
  for (const CLI::App* command : app.get_subcommands(is_shown))
    entry.commands.push_back(ReadCommand(*command, entry.path));
  return entry;
}

void AddAll(const CommandEntry& command, std::vector<const CommandEntry*>* all) {
  all->push_back(&command);
  for (const CommandEntry& below : command.commands) AddAll(below, all);
}

}  // namespace

CommandEntry ReadCommandLine(const CLI::App& app) { return ReadCommand(app, ""); }

std::vector<const CommandEntry*> AllCommands(const CommandEntry& root) {
  std::vector<const CommandEntry*> all;
  AddAll(root, &all);
  return all;
}

std::string_view LastWord(const CommandEntry& command) {
  const std::string_view path = command.path;
  const size_t space = path.rfind(' ');
  return space == std::string_view::npos ? path : path.substr(space + 1);
}

}  // namespace sonde
