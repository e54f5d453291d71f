#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/reach/command_end.h"
#include "cli/reference/settings_page.h"
#include "cli/serve_flags.h"
#include "server/serve_settings.h"

namespace sonde {
namespace {

// The origin of a member of the section `tls` is that of the section, unless a flag has set it.
std::string OriginOf(const std::string& key, const SettingOrigins& origins) {
  if (const auto found = origins.find(key); found != origins.end()) return found->second;
  const auto section = origins.find(key.substr(0, key.find('.')));
  return section == origins.end() ? "default" : section->second;
}

void ShowSettings(const ServeSettings& settings, const SettingOrigins& origins, bool as_json) {
  const std::vector<SettingLine> lines = ListSettings(settings);
  if (as_json) {
    nlohmann::ordered_json json = nlohmann::ordered_json::array();
    for (const SettingLine& line : lines)
      json.push_back({{"key", line.key}, {"value", line.value}, {"from", OriginOf(line.key, origins)}});
    fmt::print("{}\n", json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
    return;
  }
  size_t width = 0;
  for (const SettingLine& line : lines) width = std::max(width, line.key.size() + line.value.size());
  for (const SettingLine& line : lines) {
    const std::string text = line.key + ": " + line.value;
    fmt::print("{:<{}}  # {}\n", text, width + 2, OriginOf(line.key, origins));
  }
}

// A command that prints what is made of all settings.
void AddPrinter(CLI::App* config, const std::string& name, const std::string& description,
                const std::string& example, std::string (*make)(const std::vector<SettingEntry>& entries)) {
  CLI::App* command = config->add_subcommand(name, description);
  command->footer("Example:\n  " + example);
  command->callback([make] {
    CLI::App serve;
    fmt::print("{}", make(ServeFlags::Add(&serve)->Entries()));
  });
}

}  // namespace

void AddConfigCommand(CLI::App& app, int* exit_status) {
  CLI::App* config = app.add_subcommand("config", "Look at settings of `sonde serve`");
  config->require_subcommand(1);
  CLI::App* show = config->add_subcommand(
      "show",
      "Show each setting that `sonde serve` would have with these flags, and where its value is from");
  show->footer(
      "Examples:\n"
      "  sonde config show --config /etc/sonde/sonde.yaml\n"
      "  SONDE_PORT=9000 sonde config show --json | jq .");
  const std::shared_ptr<ServeFlags> flags = ServeFlags::Add(show);
  auto as_json = std::make_shared<bool>(false);
  show->add_flag("--json", *as_json, "Print JSON: a list of key, value and from");
  show->callback([=] {
    SettingOrigins origins;
    const absl::StatusOr<ServeSettings> settings = flags->Settings(&origins);
    const absl::Status checked = settings.ok() ? CheckServeSettings(*settings) : settings.status();
    if (settings.ok()) ShowSettings(*settings, origins, *as_json);
    if (checked.ok()) return;
    (void)EndOfCommand("sonde config show", checked);
    *exit_status = 2;
  });
  AddPrinter(config, "schema", "Print the JSON schema of the file that --config names, for editors",
             "sonde config schema > sonde.schema.json", SettingsSchema);
  AddPrinter(config, "reference", "Print the page of all settings, in Markdown",
             "sonde config reference > settings.md", SettingsPage);
}

}  // namespace sonde
