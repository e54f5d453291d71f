#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "cli/commands.h"
#include "cli/reach/command_end.h"
#include "cli/serve_flags.h"
#include "server/serve.h"
#include "server/serve_settings.h"

namespace sonde {
namespace {

int Fail(const absl::Status& status) { return EndOfCommand("sonde serve", status); }

}  // namespace

void AddServeCommand(CLI::App& app, int* exit_status) {
  CLI::App* serve = app.add_subcommand("serve", "Serve the Bigtable API from a data directory");
  serve->footer(
      "Examples:\n"
      "  sonde serve --data-dir /var/lib/sonde\n"
      "  sonde serve --tls-certificate server.pem --tls-key server.key\n"
      "  sonde serve --port 0 --durability os --memory 4GiB\n"
      "  sonde serve --config sonde.yaml --check-config\n"
      "  sonde -host 127.0.0.1 -port 8086        (as Google's emulator is called; forgets all)\n"
      "Then:  BIGTABLE_EMULATOR_HOST=127.0.0.1:8086 cbt -project p -instance i ls");
  const std::shared_ptr<ServeFlags> flags = ServeFlags::Add(serve);
  auto checks_only = std::make_shared<bool>(false);
  serve->add_flag(
      "--check-config", *checks_only,
      "only look whether the settings, the certificates and the authentication file would be taken: exit "
      "status 0 or 2");
  serve->callback([=] {
    const absl::StatusOr<ServeSettings> settings = flags->Settings(nullptr);
    if (!settings.ok()) {
      *exit_status = Fail(settings.status());
    } else if (*checks_only) {
      const absl::Status checked = CheckServe(*settings);
      if (!checked.ok()) (void)Fail(checked);
      *exit_status = checked.ok() ? 0 : 2;
    } else {
      const absl::Status served = Serve(*settings, [flags] { return flags->Settings(nullptr); });
      *exit_status = served.ok() ? 0 : Fail(served);
    }
  });
}

}  // namespace sonde
