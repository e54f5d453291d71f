#include <fmt/format.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/reference/completion.h"

namespace sonde {
namespace {

// A pattern of `case`: any of these.
std::string BashPattern(const std::vector<std::string>& calls) {
  return absl::StrJoin(calls, " | \\\n        ",
                       [](std::string* out, const std::string& call) { *out += ShellQuoted(call); });
}

// The branches that say which values an option has.
std::string BashChoices(const CommandEntry& root) {
  std::string text;
  for (const CommandEntry* command : AllCommands(root)) {
    for (const OptionEntry& option : command->options) {
      if (option.choices.empty()) continue;
      std::vector<std::string> calls;
      for (const std::string& name : option.names) calls.push_back(absl::StrCat(command->path, " ", name));
      text += fmt::format("      {}) words={} ;;\n", BashPattern(calls),
                          ShellQuoted(absl::StrJoin(option.choices, " ")));
    }
  }
  return text;
}

// The branches that say which options and commands a command has.
std::string BashWords(const CommandEntry& root) {
  std::string text;
  for (const CommandEntry* command : AllCommands(root)) {
    std::vector<std::string> options;
    for (const OptionEntry& option : command->options)
      options.insert(options.end(), option.names.begin(), option.names.end());
    std::vector<std::string> words;
    for (const auto& [word, description] : WordsOf(*command)) words.push_back(word);
    text += fmt::format("      {})\n        options={}\n        words={} ;;\n", ShellQuoted(command->path),
                        ShellQuoted(absl::StrJoin(options, " ")), ShellQuoted(absl::StrJoin(words, " ")));
  }
  return text;
}

}  // namespace

std::string BashCompletion(const CommandEntry& root) {
  const std::string name(LastWord(root));
  std::string text = fmt::format(
      "# Completion of {0} in bash, written by `{0} completion bash`.\n"
      "_{0}() {{\n"
      "  local current=${{COMP_WORDS[COMP_CWORD]}} command={0} valued='' words='' options='' word i\n"
      "  # bash takes --option=value for three words.\n"
      "  [[ $current == = ]] && current=''\n"
      "  for ((i = 1; i < COMP_CWORD; ++i)); do\n"
      "    word=${{COMP_WORDS[i]}}\n"
      "    [[ $word == = ]] && continue\n"
      "    if [[ $valued ]]; then\n"
      "      valued=''\n"
      "      continue\n"
      "    fi\n"
      "    case \"$command $word\" in\n"
      "      {1}) command+=\" $word\" ;;\n"
      "      {2}) valued=\"$command $word\" ;;\n"
      "    esac\n"
      "  done\n"
      "  COMPREPLY=()\n",
      name, BashPattern(CommandCalls(root)), BashPattern(ValueCalls(root)));
  text +=
      "  if [[ $valued ]]; then\n"
      "    case $valued in\n";
  text += BashChoices(root);
  text +=
      "      *) return ;;\n"
      "    esac\n"
      "  else\n"
      "    case $command in\n";
  text += BashWords(root);
  text +=
      "    esac\n"
      "    [[ $current == -* ]] && words=$options\n"
      "  fi\n"
      "  mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n"
      "}\n";
  return text + fmt::format("complete -o bashdefault -o default -F _{0} {0}\n", name);
}

}  // namespace sonde
