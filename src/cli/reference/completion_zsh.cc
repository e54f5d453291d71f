#include <fmt/format.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "cli/reference/completion.h"

namespace sonde {
namespace {

std::string ZshPattern(const std::vector<std::string>& calls) {
  return absl::StrJoin(calls, "|",
                       [](std::string* out, const std::string& call) { *out += ShellQuoted(call); });
}

// 'name:description', as _describe takes it.
std::string Described(std::string_view name, std::string_view description) {
  return ShellQuoted(
      fmt::format("{}:{}", absl::StrReplaceAll(std::string(name), {{":", "\\:"}}), description));
}

std::string ZshChoices(const CommandEntry& root) {
  std::string text;
  for (const CommandEntry* command : AllCommands(root)) {
    for (const OptionEntry& option : command->options) {
      if (option.choices.empty()) continue;
      std::vector<std::string> calls;
      for (const std::string& name : option.names) calls.push_back(absl::StrCat(command->path, " ", name));
      std::vector<std::string> choices;
      for (const std::string& choice : option.choices) choices.push_back(ShellQuoted(choice));
      text +=
          fmt::format("    {}) compadd -- {}; return ;;\n", ZshPattern(calls), absl::StrJoin(choices, " "));
    }
  }
  return text;
}

std::string ZshWords(const CommandEntry& root) {
  std::string text;
  for (const CommandEntry* command : AllCommands(root)) {
    text += fmt::format("    {})\n", ShellQuoted(command->path));
    text += "      options=(\n";
    for (const OptionEntry& option : command->options) {
      for (const std::string& name : option.names)
        text += fmt::format("        {}\n", Described(name, option.description));
    }
    text += "      )\n      subjects=(\n";
    for (const auto& [word, description] : WordsOf(*command))
      text += fmt::format("        {}\n", Described(word, description));
    text += "      ) ;;\n";
  }
  return text;
}

}  // namespace

std::string ZshCompletion(const CommandEntry& root) {
  const std::string name(LastWord(root));
  std::string text = fmt::format(
      "#compdef {0}\n"
      "# Completion of {0} in zsh, written by `{0} completion zsh`.\n"
      "_{0}() {{\n"
      "  local command={0} valued='' word i\n"
      "  local -a options subjects\n"
      "  for ((i = 2; i < CURRENT; ++i)); do\n"
      "    word=$words[i]\n"
      "    if [[ -n $valued ]]; then\n"
      "      valued=''\n"
      "      continue\n"
      "    fi\n"
      "    case \"$command $word\" in\n"
      "      {1}) command=\"$command $word\" ;;\n"
      "      {2}) valued=\"$command $word\" ;;\n"
      "    esac\n"
      "  done\n"
      "  if [[ -z $valued && $words[CURRENT] == --*=* ]]; then\n"
      "    valued=\"$command ${{words[CURRENT]%%=*}}\"\n"
      "    compset -P '*='\n"
      "  fi\n"
      "  case $valued in\n"
      "    '') ;;\n",
      name, ZshPattern(CommandCalls(root)), ZshPattern(ValueCalls(root)));
  text += ZshChoices(root);
  text +=
      "    *) _files; return ;;\n"
      "  esac\n"
      "  case $command in\n";
  text += ZshWords(root);
  text +=
      "  esac\n"
      "  if [[ $words[CURRENT] == -* ]]; then\n"
      "    _describe -o option options\n"
      "  elif ((${#subjects})); then\n"
      "    _describe command subjects\n"
      "  else\n"
      "    _files\n"
      "  fi\n"
      "}\n";
  return text + fmt::format(
                    "if [[ $funcstack[1] == _{0} ]]; then\n"
                    "  _{0} \"$@\"\n"
                    "else\n"
                    "  compdef _{0} {0}\n"
                    "fi\n",
                    name);
}

}  // namespace sonde
