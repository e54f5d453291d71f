#include "cli/reference/manual_page.h"

#include <fmt/format.h>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace sonde {
namespace {

// The names of an option, and the word for its value.
std::string OptionTag(const OptionEntry& option) {
  std::string tag = absl::StrJoin(option.names, ", ", [](std::string* out, const std::string& name) {
    absl::StrAppend(out, "\\fB", RoffEscaped(name), "\\fR");
  });
  if (option.value.empty()) return tag;
  std::string value = absl::StrCat("\\fI", RoffEscaped(option.value), "\\fR");
  if (option.may_lack_value && !option.value.starts_with('[')) value = absl::StrCat("[", value, "]");
  if (option.may_repeat) value += " ...";
  return absl::StrCat(tag, " ", value);
}

std::string OptionText(const OptionEntry& option) {
  std::string text = RoffEscaped(option.description);
  if (text.empty()) text = "(no description)";
  if (option.is_required) text += "\nRequired.";
  if (!option.choices.empty())
    text += absl::StrCat("\nOne of ", RoffEscaped(absl::StrJoin(option.choices, ", ")), ".");
  if (!option.fallback.empty()) text += absl::StrCat("\nBy default ", RoffEscaped(option.fallback), ".");
  return text;
}

std::string UsageOf(const CommandEntry& command) {
  std::string usage = absl::StrCat("\\fB", RoffEscaped(command.path), "\\fR");
  if (!command.options.empty()) usage += " [\\fIOPTIONS\\fR]";
  for (const OptionEntry& positional : command.positionals) {
    std::string word = absl::StrCat("\\fI", RoffEscaped(positional.names.front()), "\\fR");
    if (positional.may_repeat) word += " ...";
    usage += positional.is_required ? absl::StrCat(" ", word) : absl::StrCat(" [", word, "]");
  }
  if (!command.commands.empty()) usage += " \\fICOMMAND\\fR";
  return usage;
}

std::string TaggedList(const std::vector<OptionEntry>& options) {
  std::string text;
  for (const OptionEntry& option : options)
    text += fmt::format(".TP\n{}\n{}\n", OptionTag(option), OptionText(option));
  return text;
}

// Lines as they are.
std::string Literal(std::string lines) {
  absl::StripAsciiWhitespace(&lines);
  std::string text = ".PP\n.nf\n";
  for (const std::string& line : std::vector<std::string>(absl::StrSplit(lines, '\n')))
    text += absl::StrCat(RoffEscaped(line), "\n");
  return text + ".fi\n";
}

std::string CommandSection(const CommandEntry& command) {
  std::string text = fmt::format(".SS \"{}\"\n{}\n.PP\n{}\n", RoffEscaped(command.path),
                                 RoffEscaped(command.description), UsageOf(command));
  text += TaggedList(command.positionals);
  text += TaggedList(command.options);
  if (!command.footer.empty()) text += Literal(command.footer);
  return text;
}

}  // namespace

std::string RoffEscaped(std::string_view text) {
  std::string escaped;
  bool is_line_start = true;
  for (const char c : text) {
    if (is_line_start && (c == '.' || c == '\'')) escaped += "\\&";
    is_line_start = c == '\n';
    switch (c) {
      case '\\':
        escaped += "\\e";
        break;
      case '-':
        escaped += "\\-";
        break;
      case '\'':
        escaped += "\\(aq";
        break;
      case '"':
        escaped += "\\(dq";
        break;
      case '`':
        escaped += "\\(ga";
        break;
      case '^':
        escaped += "\\(ha";
        break;
      case '~':
        escaped += "\\(ti";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

std::string ManualPage(const CommandEntry& root, std::string_view version) {
  const std::string name(LastWord(root));
  std::string text = fmt::format(
      ".TH {} 1 \"\" \"{} {}\" \"Commands of {}\"\n"
      ".nh\n"
      ".ad l\n"
      ".SH NAME\n{} \\- {}\n"
      ".SH SYNOPSIS\n{}\n"
      ".SH DESCRIPTION\n",
      absl::AsciiStrToUpper(name), name, version, name, name, RoffEscaped(root.description), UsageOf(root));
  for (const CommandEntry& below : root.commands)
    text += fmt::format(".TP\n\\fB{}\\fR\n{}\n", RoffEscaped(below.path), RoffEscaped(below.description));
  text += ".SH OPTIONS\n" + TaggedList(root.options);
  if (!root.footer.empty()) text += Literal(root.footer);
  text += ".SH COMMANDS\n";
  for (const CommandEntry* command : AllCommands(root)) {
    if (command != &root) text += CommandSection(*command);
  }
  return text +
         ".SH \"EXIT STATUS\"\n"
         ".TP\n0\nThe command did its work.\n"
         ".TP\n1\nThe command failed, or did a part of its work.\n"
         ".TP\n2\nThe call was wrong.\n";
}

}  // namespace sonde
