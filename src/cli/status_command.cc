// sonde status: whether a server is ready, for scripts; and how it is, for people.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <ctime>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "cli/commands.h"
#include "cli/reach/command_end.h"
#include "cli/reach/http_client.h"
#include "cli/watch/metrics_text.h"
#include "cli/watch/server_view.h"
#include "cli/watch/view_text.h"

namespace sonde {
namespace {

struct StatusFlags {
  HttpAccess http;
  bool json = false;
  bool quiet = false;
};

// The figures of the server, if the caller may see them.
absl::StatusOr<ServerView> ViewOf(const HttpAccess& http) {
  const absl::StatusOr<std::string> text = HttpGet(http, "/metrics");
  if (!text.ok()) return text.status();
  const absl::StatusOr<MetricSamples> samples = MetricSamples::Parse(*text);
  if (!samples.ok()) return samples.status();
  return ViewServer(nullptr, *samples, 0, static_cast<double>(std::time(nullptr)));
}

void PrintStatusJson(const absl::Status& ready, const absl::StatusOr<ServerView>& view) {
  nlohmann::ordered_json json = {{"ready", ready.ok()}, {"reason", std::string(ready.message())}};
  json["server"] = nullptr;
  if (view.ok()) json["server"] = nlohmann::ordered_json::parse(JsonOf(*view));
  fmt::print("{}\n", json.dump());
}

void PrintStatusText(const absl::Status& ready, const absl::StatusOr<ServerView>& view) {
  fmt::print("{}\n", ready.ok() ? "ready" : fmt::format("not ready: {}", std::string(ready.message())));
  if (!view.ok()) return;
  fmt::print("version {}, up {}, memory {} of {}, disk {} free of {}, {} tables\n", view->version,
             AgeText(view->uptime_seconds), BytesText(view->resident_bytes), BytesText(view->budget_bytes),
             BytesText(view->disk_free_bytes), BytesText(view->disk_size_bytes), view->tables.size());
  for (const std::string& warning : view->warnings) fmt::print("! {}\n", warning);
}

// 0: it is ready; 1: it is not, or does not answer; 2: the call was wrong.
int RunStatus(const StatusFlags& flags) {
  const absl::StatusOr<std::string> answer = HttpGet(flags.http, "/readyz");
  const absl::Status ready = answer.status();
  if (absl::IsInvalidArgument(ready)) {
    return EndOfCommand("sonde status", ready);
  }
  if (!flags.quiet) {
    const absl::StatusOr<ServerView> view = ViewOf(flags.http);
    flags.json ? PrintStatusJson(ready, view) : PrintStatusText(ready, view);
    if (!view.ok() && ready.ok())
      fmt::print(stderr, "sonde status: no figures: {}\n", std::string(view.status().message()));
  }
  return ready.ok() ? 0 : 1;
}

}  // namespace

void AddStatusCommand(CLI::App& app, int* exit_status) {
  CLI::App* command =
      app.add_subcommand("status", "Say whether a server is ready (exit status 0 or 1), and how it is");
  command->footer(
      "Examples:\n"
      "  sonde status\n"
      "  sonde status --quiet && echo ready\n"
      "  sonde status --http https://db.example.com:8087 --ca ca.pem --token-file token --json | jq "
      ".server.load");
  auto flags = std::make_shared<StatusFlags>();
  AddHttpFlags(*command, &flags->http);
  command->add_flag("--quiet", flags->quiet, "print nothing, and ask for no figures");
  command->add_flag("--json", flags->json, "print the result as JSON");
  command->callback([flags, exit_status] { *exit_status = RunStatus(*flags); });
}

}  // namespace sonde
