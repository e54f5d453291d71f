#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "cli/commands.h"
#include "cli/reach/command_end.h"
#include "cli/reference/command_tree.h"
#include "cli/reference/completion.h"
#include "cli/reference/manual_page.h"

namespace sonde {

void AddReferenceCommands(CLI::App& app, int* exit_status) {
  CLI::App* completion =
      app.add_subcommand("completion", "Print a script that completes command lines in a shell");
  auto shell = std::make_shared<std::string>();
  completion->add_option("shell", *shell, "which shell the script is for")
      ->type_name("SHELL")
      ->required()
      ->check(CLI::IsMember(CompletionShells()));
  completion->footer(
      "Examples:\n"
      "  source <(sonde completion bash)\n"
      "  sonde completion zsh > ~/.zfunc/_sonde        (a directory of fpath)\n"
      "  sonde completion fish > ~/.config/fish/completions/sonde.fish");
  completion->callback([&app, shell, exit_status] {
    const absl::StatusOr<std::string> script = CompletionFor(*shell, ReadCommandLine(app));
    if (!script.ok()) {
      (void)EndOfCommand("sonde completion", script.status());
      *exit_status = 2;
      return;
    }
    fmt::print("{}", *script);
  });

  CLI::App* manual = app.add_subcommand("manual", "Print the manual page of all commands, for man");
  manual->footer(
      "Examples:\n"
      "  sonde manual | man -l -\n"
      "  sonde manual > /usr/local/share/man/man1/sonde.1");
  manual->callback([&app] { fmt::print("{}", ManualPage(ReadCommandLine(app), SONDE_VERSION)); });
}

}  // namespace sonde
