#include "cli/call_errors.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>

#include "absl/strings/str_replace.h"
#include "base/bytes.h"
#include "base/nearest_word.h"

namespace sonde {
namespace {

constexpr size_t kWordBytesMax = 64;  // of words that are shown

std::string Meant(std::string_view word, const std::vector<std::string>& words) {
  const std::optional<std::string> nearest = NearestWord(word, words);
  return nearest.has_value() ? fmt::format("; did you mean '{}'?", *nearest) : "";
}

std::vector<std::string> CommandNames(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::App* one :
       command.get_subcommands([](const CLI::App* one) { return !one->get_group().empty(); }))
    names.push_back(one->get_name());
  return names;
}

std::vector<std::string> FlagNames(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

// The values that an option takes, by CLI11's name of its type ("INT:INT in [1 - 9]", "TEXT:{a,b}"); empty: any of its type.
std::string AllowedValues(const std::string& type) {
  if (const size_t at = type.find(" in ["); at != std::string::npos) {
    const std::string range = type.substr(at + 5, type.find(']', at) - at - 5);
    return absl::StrReplaceAll(range, {{" - ", " to "}});
  }
  if (const size_t at = type.find('{'); at != std::string::npos)
    return absl::StrReplaceAll(type.substr(at + 1, type.rfind('}') - at - 1), {{",", ", "}});
  if (type.find("POSITIVE") != std::string::npos) return "more than 0";
  return "";
}

std::string TypeWords(const std::string& type) {
  if (type.starts_with("INT") || type.starts_with("UINT")) return "a whole number";
  if (type.starts_with("FLOAT")) return "a number";
  return "another value";
}

// The option that CLI11's text names.  Null: none.
const CLI::Option* OptionIn(const CLI::App& command, std::string_view text) {
  const CLI::Option* found = nullptr;
  for (const CLI::Option* option : command.get_options()) {
    const std::string name = option->get_name();
    if (text.find(name) == std::string_view::npos) continue;
    if (found == nullptr || name.size() > found->get_name().size()) found = option;
  }
  return found;
}

std::string Given(const CLI::Option& option) {
  return option.results().empty() ? "" : Printable(option.results().back(), kWordBytesMax);
}

std::string WrongValue(const CLI::Option& option, const CLI::ParseError& error) {
  const std::string allowed = AllowedValues(option.get_type_name());
  if (!allowed.empty()) return fmt::format("{} '{}'; allowed: {}", option.get_name(), Given(option), allowed);
  if (dynamic_cast<const CLI::ConversionError*>(&error) != nullptr) {
    return fmt::format("{} '{}'; allowed: {}", option.get_name(), Given(option),
                       TypeWords(option.get_type_name()));
  }
  // A check of this program's own says what is wrong.
  std::string text = error.what();
  if (const std::string name = option.get_name() + ": "; text.starts_with(name)) text.erase(0, name.size());
  return fmt::format("{} '{}': {}", option.get_name(), Given(option), text);
}

// Arguments that nobody took.
std::string Unexpected(const CLI::App& app, const CLI::App& command) {
  const std::vector<std::string> left = app.remaining(true);
  for (const std::string& word : left) {
    if (word.size() < 2 || word[0] != '-') continue;
    const std::string flag = word.substr(0, word.find('='));
    return fmt::format("no flag '{}'{}", Printable(flag, kWordBytesMax), Meant(flag, FlagNames(command)));
  }
  return fmt::format("one argument too many: '{}'",
                     left.empty() ? "" : Printable(left.front(), kWordBytesMax));
}

// Either the word that is no command, or nothing: none was given.
std::string WithoutCommand(const CLI::App& command) {
  const std::vector<std::string> left = command.remaining();
  const auto is_flag = [](const std::string& word) { return word.size() > 1 && word[0] == '-'; };
  for (const std::string& word : left) {
    if (is_flag(word)) continue;
    return fmt::format("no command '{}'{}", Printable(word, kWordBytesMax),
                       Meant(word, CommandNames(command)));
  }
  if (left.empty()) return "";
  return fmt::format("no flag '{}'{}", Printable(left.front(), kWordBytesMax),
                     Meant(left.front(), FlagNames(command)));
}

std::string Problem(const CLI::App& app, const CLI::App& command, const CLI::ParseError& error) {
  const std::string text = error.what();
  if (dynamic_cast<const CLI::CallForHelp*>(&error) != nullptr)
    return command.get_require_subcommand_min() > 0 ? WithoutCommand(command) : "";
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) return Unexpected(app, command);
  const CLI::Option* const option = OptionIn(command, text);
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) {
    if (command.get_require_subcommand_min() > 0 && command.get_subcommands().empty())
      return WithoutCommand(command);
    if (option != nullptr)
      return fmt::format("{} is missing: {}", option->get_name(), option->get_description());
  }
  if (dynamic_cast<const CLI::ExcludesError*>(&error) != nullptr ||
      dynamic_cast<const CLI::RequiresError*>(&error) != nullptr) {
    return text;  // "--last excludes --from"
  }
  if (option != nullptr && dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr)
    return fmt::format("{} takes a value: {}", option->get_name(), option->get_description());
  if (option != nullptr) return WrongValue(*option, error);
  return text;
}

class HelpForm final : public CLI::Formatter {
 public:
  std::string make_option_opts(const CLI::Option* option) const override {
    std::string text = CLI::Formatter::make_option_opts(option);
    const std::string type = option->get_type_name();
    const size_t colon = type.find(':');
    if (!option->get_option_text().empty() || colon == std::string::npos) return text;
    const std::string allowed = AllowedValues(type);
    if (allowed.empty()) return text;
    const bool is_list = type.find('{') != std::string::npos;
    return absl::StrReplaceAll(
        text, {{type, fmt::format("{}{} {}", type.substr(0, colon), is_list ? ":" : ",", allowed)}});
  }
};

}  // namespace

const CLI::App& CommandOf(const CLI::App& app) {
  const CLI::App* command = &app;
  for (auto below = app.get_subcommands(); !below.empty(); below = command->get_subcommands())
    command = below.back();
  return *command;
}

std::string PathOf(const CLI::App& command) {
  std::string path = command.get_name();
  for (const CLI::App* above = command.get_parent(); above != nullptr; above = above->get_parent())
    path.insert(0, above->get_name() + " ");
  return path;
}

std::string CallErrorText(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App& command = CommandOf(app);
  const std::string problem = Problem(app, command, error);
  if (problem.empty()) return "";
  const std::string path = PathOf(command);
  return fmt::format("{}: {}{} `{} --help` says more", path, problem, problem.ends_with('?') ? "" : ";",
                     path);
}

std::shared_ptr<CLI::FormatterBase> MakeHelpForm() { return std::make_shared<HelpForm>(); }

}  // namespace sonde
