#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "cli/commands.h"
#include "cli/heat_picture.h"
#include "cli/reach/command_end.h"
#include "cli/reach/http_client.h"
#include "server/serve_settings.h"

namespace sonde {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kTablesNamedMax = 20;
constexpr size_t kTerminalRows = 24;
constexpr size_t kTerminalWidthUsual = 100;
constexpr size_t kLabelWidth = 32;
constexpr size_t kPngCells = 500;
constexpr size_t kPngScale = 2;

struct KeyvizFlags {
  std::string table;
  std::string http = fmt::format("127.0.0.1:{}", kHttpPortUsual);
  std::string metric = "ops";
  std::string last = "10m";
  std::string png;
  bool json = false;
};

absl::StatusOr<Json> Ask(const std::string& address, const std::string& path) {
  const absl::StatusOr<std::string> body = HttpGet(address, path);
  if (!body.ok()) return body.status();
  Json json = Json::parse(*body, nullptr, false);
  if (json.is_discarded())
    return absl::UnknownError(fmt::format("{} answers no JSON: is it Sonde's HTTP port?", address));
  return json;
}

// Returns the table of that name or id; without either, the table with the most keys in use.
absl::StatusOr<std::string> FindTable(const KeyvizFlags& flags) {
  std::vector<std::string> ids;
  std::optional<Json> found;
  std::string start;
  do {
    const absl::StatusOr<Json> answer =
        Ask(flags.http, fmt::format("/api/v1/tables?start={}", PercentEncode(start)));
    if (!answer.ok()) return answer.status();
    for (const Json& table : answer->at("tables")) {
      ids.push_back(table.value("id", ""));
      if (!flags.table.empty()) {
        if (table.value("name", "") != flags.table && table.value("id", "") != flags.table) continue;
        if (found.has_value()) {
          return absl::InvalidArgumentError(
              fmt::format("several instances have a table '{}': give projects/P/instances/I/tables/{}",
                          flags.table, flags.table));
        }
        found = table;
      } else if (!found.has_value() || table.value("keys_in_use", 0.0) > found->value("keys_in_use", 0.0)) {
        found = table;
      }
    }
    start = answer->at("next").is_string() ? answer->at("next").get<std::string>() : "";
  } while (!start.empty());
  if (found.has_value()) return found->value("name", "");
  if (ids.empty()) return absl::NotFoundError("there are no tables");
  if (ids.size() > kTablesNamedMax) {
    ids.resize(kTablesNamedMax);
    ids.emplace_back("and more");
  }
  return absl::NotFoundError(fmt::format("no table '{}'; there are {}", flags.table, fmt::join(ids, ", ")));
}

std::string PathOf(const std::string& table) {
  const std::vector<std::string> parts = absl::StrSplit(table, '/');
  return fmt::format("/api/v1/tables/{}/{}/{}", PercentEncode(parts[1]), PercentEncode(parts[3]),
                     PercentEncode(parts[5]));
}

std::string ClockText(int64_t seconds) {
  const auto time = static_cast<time_t>(seconds);
  tm local{};
  localtime_r(&time, &local);
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02}", local.tm_year + 1900, local.tm_mon + 1,
                     local.tm_mday, local.tm_hour, local.tm_min, local.tm_sec);
}

HeatPicture PictureOf(const Json& map) {
  HeatPicture picture;
  picture.columns = map.at("columns");
  for (const Json& start : map.at("row_starts")) {
    const auto text = start.get<std::string>();
    picture.row_labels.push_back(text.empty() ? "(first key)" : text);
  }
  picture.values = map.at("values").get<std::vector<double>>();
  const int64_t from = map.at("start_seconds");
  const int64_t step = map.at("column_seconds");
  picture.time_left = ClockText(from);
  picture.time_right = ClockText(from + step * static_cast<int64_t>(picture.columns));
  return picture;
}

// "Shades: ' .:-=+*#%@' from 0 to 300 ops a second (their square roots)".
std::string ScaleText(const HeatPicture& picture, const std::string& metric, int64_t column_seconds) {
  const double scale = picture.Scale();
  std::string most;
  if (metric.starts_with("latency")) {
    most = fmt::format("{:.0f} microseconds", scale);
  } else if (metric == "size") {
    most = fmt::format("{:.0f} bytes", scale);
  } else {
    most =
        fmt::format("{:.4g} {} a second", scale / static_cast<double>(std::max<int64_t>(column_seconds, 1)),
                    metric == "ops" ? "reads and writes" : metric);
  }
  return fmt::format("Shades: '{}' from 0 to {} (square roots)", ShadeCharacters(), most);
}

void PrintFindings(const Json& findings) {
  if (findings.empty()) {
    fmt::print("\nNo findings: reads and writes are spread, rows are small, nobody reads the whole table.\n");
    return;
  }
  for (const Json& finding : findings) {
    fmt::print("\n[{}] {}\n  {}\n  {}\n", finding.value("severity", ""), finding.value("title", ""),
               finding.value("text", ""), finding.value("remedy", ""));
    if (!finding.at("cure").is_string()) continue;
    fmt::print("  In the declaration: {}\n", finding.value("cure", ""));
    for (const std::string& line :
         std::vector<std::string>(absl::StrSplit(finding.value("declaration", ""), '\n'))) {
      if (!line.empty()) fmt::print("    | {}\n", line);
    }
  }
}

size_t MapWidth() {
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col : kTerminalWidthUsual;
}

absl::Status Run(const KeyvizFlags& flags) {
  absl::Duration last;
  if (!absl::ParseDuration(flags.last, &last) || last < absl::Seconds(1)) {
    return absl::InvalidArgumentError(
        fmt::format("--last must be a time such as 90s, 10m or 24h, but is '{}'", flags.last));
  }
  const absl::StatusOr<std::string> table = FindTable(flags);
  if (!table.ok()) return table.status();
  const int64_t to = static_cast<int64_t>(std::time(nullptr));
  const std::string window = fmt::format("from={}&to={}", to - absl::ToInt64Seconds(last), to);
  const size_t width = MapWidth();
  const bool for_programs = flags.json || !flags.png.empty();
  const size_t columns =
      for_programs ? kPngCells : std::max<size_t>(width - std::min(kLabelWidth, width - 10), 10);
  const absl::StatusOr<Json> map =
      Ask(flags.http,
          fmt::format("{}/heatmap?{}&metric={}&columns={}&rows={}", PathOf(*table), window,
                      PercentEncode(flags.metric), columns, for_programs ? kPngCells : kTerminalRows));
  if (!map.ok()) return map.status();
  const absl::StatusOr<Json> found = Ask(flags.http, fmt::format("{}/findings?{}", PathOf(*table), window));
  if (!found.ok()) return found.status();
  if (!flags.png.empty()) {
    std::ofstream file(flags.png, std::ios::binary);
    file << ToPng(PictureOf(*map), kPngScale);
    if (!file.flush()) return absl::UnavailableError(fmt::format("{} cannot be written", flags.png));
    if (!flags.json) return absl::OkStatus();
  }
  if (flags.json) {
    fmt::print("{}\n",
               Json({{"table", *table}, {"heatmap", *map}, {"findings", found->at("findings")}}).dump());
    return absl::OkStatus();
  }
  const HeatPicture picture = PictureOf(*map);
  fmt::print("{}: {}\n\n{}{}\n", *table, flags.metric, ToTerminal(picture, width, isatty(STDOUT_FILENO) == 1),
             ScaleText(picture, flags.metric, map->value("column_seconds", int64_t{1})));
  PrintFindings(found->at("findings"));
  return absl::OkStatus();
}

}  // namespace

void AddKeyvizCommand(CLI::App& app, int* exit_status) {
  CLI::App* command =
      app.add_subcommand("keyviz", "Show which keys are read and written, and what that means");
  command->footer(
      "Examples:\n"
      "  sonde keyviz METRIC\n"
      "  sonde keyviz METRIC --metric writes --last 24h --png writes.png\n"
      "  sonde keyviz --http 127.0.0.1:8087 --json | jq .findings");
  auto flags = std::make_shared<KeyvizFlags>();
  command->add_option("table", flags->table, "its id or its whole name [the one with the most keys in use]");
  command->add_option("--http", flags->http, "the HTTP address of the server")->capture_default_str();
  command
      ->add_option("--metric", flags->metric,
                   "ops, reads, writes, bytes, read_bytes, write_bytes, latency, latency_max, errors or size")
      ->capture_default_str();
  command->add_option("--last", flags->last, "how far back: 90s, 10m, 24h, up to 336h")
      ->capture_default_str();
  command->add_option("--png", flags->png, "write the map into this file");
  command->add_flag("--json", flags->json, "map and findings as JSON");
  command->callback([flags, exit_status] { *exit_status = EndOfCommand("sonde keyviz", Run(*flags)); });
}

}  // namespace sonde
