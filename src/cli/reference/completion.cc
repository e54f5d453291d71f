#include "cli/reference/completion.h"

#include <fmt/format.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"

namespace sonde {

std::vector<std::string> CompletionShells() { return {"bash", "zsh", "fish"}; }

absl::StatusOr<std::string> CompletionFor(std::string_view shell, const CommandEntry& root) {
  if (shell == "bash") return BashCompletion(root);
  if (shell == "zsh") return ZshCompletion(root);
  if (shell == "fish") return FishCompletion(root);
  return absl::InvalidArgumentError(fmt::format("the shell must be one of {}, but is '{}'",
                                                absl::StrJoin(CompletionShells(), ", "), shell));
}

std::string ShellQuoted(std::string_view text) {
  return absl::StrCat("'", absl::StrReplaceAll(std::string(text), {{"'", "'\\''"}}), "'");
}

std::vector<std::pair<std::string, std::string>> WordsOf(const CommandEntry& command) {
  std::vector<std::pair<std::string, std::string>> words;
  for (const CommandEntry& below : command.commands) words.emplace_back(LastWord(below), below.description);
  for (const OptionEntry& positional : command.positionals) {
    for (const std::string& choice : positional.choices) words.emplace_back(choice, positional.description);
  }
  return words;
}

std::vector<std::string> CommandCalls(const CommandEntry& root) {
  std::vector<std::string> calls;
  for (const CommandEntry* command : AllCommands(root)) {
    if (command != &root) calls.push_back(command->path);
  }
  return calls;
}

std::vector<std::string> ValueCalls(const CommandEntry& root) {
  std::vector<std::string> calls;
  for (const CommandEntry* command : AllCommands(root)) {
    for (const OptionEntry& option : command->options) {
      if (option.value.empty() || option.may_lack_value) continue;
      for (const std::string& name : option.names) calls.push_back(absl::StrCat(command->path, " ", name));
    }
  }
  return calls;
}

}  // namespace sonde
