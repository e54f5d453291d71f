#include <fmt/format.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "cli/reference/completion.h"

namespace sonde {
namespace {

// fish, unlike the other shells, reads \\ and \' within single quotes.
std::string FishQuoted(std::string_view text) {
  return absl::StrCat("'", absl::StrReplaceAll(std::string(text), {{"\\", "\\\\"}, {"'", "\\'"}}), "'");
}

std::string FishPattern(const std::vector<std::string>& calls) {
  return absl::StrJoin(calls, " ",
                       [](std::string* out, const std::string& call) { *out += FishQuoted(call); });
}

std::string FishOption(const OptionEntry& option, const std::string& start) {
  std::string line = start;
  for (const std::string& name : option.names) {
    if (name.starts_with("--")) {
      line += absl::StrCat(" -l ", name.substr(2));
    } else {
      line += absl::StrCat(" -s ", name.substr(1));
    }
  }
  if (!option.choices.empty()) {
    line += absl::StrCat(" -x -a ", FishQuoted(absl::StrJoin(option.choices, " ")));
  } else if (!option.value.empty() && !option.may_lack_value) {
    line += " -r -F";
  }
  return absl::StrCat(line, " -d ", FishQuoted(option.description), "\n");
}

}  // namespace

std::string FishCompletion(const CommandEntry& root) {
  const std::string name(LastWord(root));
  std::string text = fmt::format(
      "# Completion of {0} in fish, written by `{0} completion fish`.\n"
      "# Whether the command line so far calls the command $argv.\n"
      "function __{0}_at\n"
      "  set -l called {0}\n"
      "  set -l has_value_next 0\n"
      "  for word in (commandline -opc)[2..-1]\n"
      "    if test $has_value_next = 1\n"
      "      set has_value_next 0\n"
      "      continue\n"
      "    end\n"
      "    switch \"$called $word\"\n"
      "      case {1}\n"
      "        set called \"$called $word\"\n"
      "      case {2}\n"
      "        set has_value_next 1\n"
      "    end\n"
      "  end\n"
      "  test \"$called\" = \"$argv\"\n"
      "end\n",
      name, FishPattern(CommandCalls(root)), FishPattern(ValueCalls(root)));
  for (const CommandEntry* command : AllCommands(root)) {
    const std::string start = fmt::format("complete -c {} -n {}", name,
                                          FishQuoted(absl::StrCat("__", name, "_at ", command->path)));
    for (const auto& [word, description] : WordsOf(*command))
      text += fmt::format("{} -f -a {} -d {}\n", start, word, FishQuoted(description));
    for (const OptionEntry& option : command->options) text += FishOption(option, start);
  }
  return text;
}

}  // namespace sonde
