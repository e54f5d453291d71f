#include "cli/watch/view_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

namespace sonde {
namespace {

constexpr size_t kNameColumns = 36;

std::string TimeText(double seconds) {
  if (seconds == 0) return "-";
  return seconds < 1 ? fmt::format("{:.3g} ms", seconds * 1e3) : fmt::format("{:.3g} s", seconds);
}

// The end of a name that is too long says more than its beginning.
std::string NameText(std::string_view name) {
  if (name.size() <= kNameColumns) return std::string(name);
  return fmt::format("..{}", name.substr(name.size() - kNameColumns + 2));
}

std::vector<std::string> HeadLines(const ServerView& view) {
  std::vector<std::string> lines;
  lines.push_back(fmt::format("sonde {}  up {}  connections {:.0f}", view.version,
                              AgeText(view.uptime_seconds), view.connections));
  lines.push_back(fmt::format("processors {:.2f}  memory {} of {}  disk {} free of {}", view.processors,
                              BytesText(view.resident_bytes), BytesText(view.budget_bytes),
                              BytesText(view.disk_free_bytes), BytesText(view.disk_size_bytes)));
  std::string loads;
  for (const ServerView::Load& load : view.loads)
    loads += fmt::format("  {} {:.0f} %", load.kind, load.part * 100);
  lines.push_back("load" + loads);
  lines.push_back(fmt::format("settling {} wait, {:.0f} cells/s  backups {:.0f}{}",
                              BytesText(view.settling_waiting_bytes), view.settling_cells_per_second,
                              view.backups,
                              view.backup_age_seconds.has_value()
                                  ? fmt::format(", the newest {} old", AgeText(*view.backup_age_seconds))
                                  : ""));
  for (const std::string& warning : view.warnings) lines.push_back("! " + warning);
  return lines;
}

}  // namespace

std::string BytesText(double bytes) {
  constexpr std::array kUnits = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  size_t unit = 0;
  while (bytes >= 1024 && unit + 1 < kUnits.size()) {
    bytes /= 1024;
    ++unit;
  }
  return unit == 0 ? fmt::format("{:.0f} B", bytes) : fmt::format("{:.1f} {}", bytes, kUnits[unit]);
}

std::string AgeText(double seconds) {
  const auto all = static_cast<int64_t>(std::max(seconds, 0.0));
  const int64_t days = all / 86'400, hours = all / 3'600 % 24, minutes = all / 60 % 60;
  if (days > 0) return fmt::format("{}d {}h", days, hours);
  if (hours > 0) return fmt::format("{}h {}m", hours, minutes);
  return fmt::format("{}m {}s", minutes, all % 60);
}

std::string ScreenOf(const ServerView& view, const ScreenSize& size) {
  std::vector<std::string> lines = HeadLines(view);
  lines.push_back("");
  lines.push_back(fmt::format("{:<{}} {:>10} {:>10} {:>9} {:>9}", "method", kNameColumns, "calls/s",
                              "errors/s", "median", "99 %"));
  for (const ServerView::Method& method : view.methods) {
    lines.push_back(fmt::format("{:<{}} {:>10.1f} {:>10.1f} {:>9} {:>9}", NameText(method.name), kNameColumns,
                                method.per_second, method.errors_per_second, TimeText(method.p50_seconds),
                                TimeText(method.p99_seconds)));
  }
  // Tables have at least a third of the screen.
  const size_t tables_min = std::min(view.tables.size() + 2, size.lines / 3);
  if (lines.size() + tables_min > size.lines && size.lines > tables_min) {
    lines.resize(size.lines - tables_min);
  }
  lines.push_back("");
  lines.push_back(
      fmt::format("{:<{}} {:>10} {:>10} {:>11}", "table", kNameColumns, "read/s", "written/s", "size"));
  for (const ServerView::Table& table : view.tables) {
    lines.push_back(fmt::format("{:<{}} {:>10.1f} {:>10.1f} {:>11}", NameText(table.name), kNameColumns,
                                table.rows_read_per_second, table.rows_written_per_second,
                                BytesText(table.bytes)));
  }
  if (lines.size() > size.lines) {
    const size_t left_out = lines.size() - size.lines + 1;
    lines.resize(size.lines - 1);
    lines.push_back(fmt::format("({} more lines)", left_out));
  }
  std::string screen;
  for (const std::string& line : lines) screen.append(line.substr(0, size.columns)).push_back('\n');
  return screen;
}

std::string JsonOf(const ServerView& view) {
  nlohmann::ordered_json json = {{"version", view.version},
                                 {"uptime_seconds", view.uptime_seconds},
                                 {"connections", view.connections},
                                 {"processors", view.processors},
                                 {"resident_bytes", view.resident_bytes},
                                 {"budget_bytes", view.budget_bytes},
                                 {"disk_free_bytes", view.disk_free_bytes},
                                 {"disk_size_bytes", view.disk_size_bytes},
                                 {"settling_waiting_bytes", view.settling_waiting_bytes},
                                 {"settling_cells_per_second", view.settling_cells_per_second},
                                 {"backups", view.backups}};
  json["backup_age_seconds"] = nullptr;
  if (view.backup_age_seconds.has_value()) json["backup_age_seconds"] = *view.backup_age_seconds;
  json["warnings"] = view.warnings;
  json["load"] = nlohmann::ordered_json::object();
  for (const ServerView::Load& load : view.loads) json["load"][load.kind] = load.part;
  json["methods"] = nlohmann::ordered_json::array();
  for (const ServerView::Method& method : view.methods) {
    json["methods"].push_back({{"name", method.name},
                               {"per_second", method.per_second},
                               {"errors_per_second", method.errors_per_second},
                               {"p50_seconds", method.p50_seconds},
                               {"p99_seconds", method.p99_seconds}});
  }
  json["tables"] = nlohmann::ordered_json::array();
  for (const ServerView::Table& table : view.tables) {
    json["tables"].push_back({{"name", table.name},
                              {"bytes", table.bytes},
                              {"rows_read_per_second", table.rows_read_per_second},
                              {"rows_written_per_second", table.rows_written_per_second}});
  }
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace sonde
