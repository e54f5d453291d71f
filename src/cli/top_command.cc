// sonde top: one screen about a server, again and again.
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "cli/commands.h"
#include "cli/reach/command_end.h"
#include "cli/reach/http_client.h"
#include "cli/watch/metrics_text.h"
#include "cli/watch/server_view.h"
#include "cli/watch/view_text.h"

namespace sonde {
namespace {

constexpr absl::Duration kIntervalMin = absl::Milliseconds(100);
constexpr absl::Duration kIntervalMax = absl::Hours(1);

struct TopFlags {
  HttpAccess http;
  std::string interval = "2s";
  bool once = false;
  bool json = false;
};

struct Moment {
  absl::Time time;
  MetricSamples samples;
};

absl::StatusOr<Moment> AskMetrics(const HttpAccess& http) {
  const absl::StatusOr<std::string> text = HttpGet(http, "/metrics");
  if (!text.ok()) return text.status();
  absl::StatusOr<MetricSamples> samples = MetricSamples::Parse(*text);
  if (!samples.ok()) return samples.status();
  return Moment{absl::Now(), *std::move(samples)};
}

ScreenSize SizeOfTerminal() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row < 2) return {};
  return {.lines = static_cast<size_t>(size.ws_row) - 1, .columns = size.ws_col};
}

absl::Status RunTop(const TopFlags& flags) {
  absl::Duration interval;
  if (!absl::ParseDuration(flags.interval, &interval) || interval < kIntervalMin || interval > kIntervalMax) {
    return absl::InvalidArgumentError(fmt::format("--interval must be a time from {} to {}, but is '{}'",
                                                  absl::FormatDuration(kIntervalMin),
                                                  absl::FormatDuration(kIntervalMax), flags.interval));
  }
  absl::StatusOr<Moment> before = AskMetrics(flags.http);
  if (!before.ok()) return before.status();
  const bool clears = !flags.once && !flags.json && isatty(STDOUT_FILENO) == 1;
  do {
    absl::SleepFor(interval);
    absl::StatusOr<Moment> now = AskMetrics(flags.http);
    if (!now.ok()) return now.status();
    const ServerView view =
        ViewServer(&before->samples, now->samples, absl::ToDoubleSeconds(now->time - before->time),
                   absl::ToDoubleSeconds(now->time - absl::UnixEpoch()));
    if (flags.json) {
      fmt::print("{}\n", JsonOf(view));
    } else {
      fmt::print("{}{}", clears ? "\x1b[H\x1b[2J" : "", ScreenOf(view, SizeOfTerminal()));
    }
    if (std::fflush(stdout) != 0) return absl::UnavailableError("the output could not be written");
    before = std::move(now);
  } while (!flags.once);
  return absl::OkStatus();
}

}  // namespace

void AddTopCommand(CLI::App& app, int* exit_status) {
  CLI::App* command = app.add_subcommand("top", "Show what a server does: calls, tables, memory, disk");
  command->footer(
      "It ends with Ctrl-C.  The figures are those of /metrics, and rates those of the interval.\n"
      "Examples:\n"
      "  sonde top\n"
      "  sonde top --once --json | jq .methods\n"
      "  sonde top --http https://db.example.com:8087 --ca ca.pem --token-file token --interval 10s");
  auto flags = std::make_shared<TopFlags>();
  AddHttpFlags(*command, &flags->http);
  command->add_option("--interval", flags->interval, "between two looks")->capture_default_str();
  command->add_flag("--once", flags->once, "show one interval and end");
  command->add_flag("--json", flags->json, "print a JSON object an interval");
  command->callback([flags, exit_status] { *exit_status = EndOfCommand("sonde top", RunTop(*flags)); });
}

}  // namespace sonde
