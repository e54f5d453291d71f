#include "metrics/health.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace sonde {
namespace {

using Level = HealthReason::Level;

constexpr double kDiskFreeShareLow = 0.1;
constexpr double kLoadHigh = 0.9;
constexpr double kSettlingWaitingBytesHigh = 1e9;
constexpr double kStreamLagSecondsHigh = 600;
constexpr double kJournalLagSecondsHigh = 60;
constexpr double kBackupAgeSecondsHigh = 26 * 3'600;
constexpr double kCertificateSecondsLow = 14 * 86'400;

// "3 days", "2 hours", "90 seconds"
std::string Span(double seconds) {
  if (seconds >= 2 * 86'400) return fmt::format("{:.0f} days", seconds / 86'400);
  if (seconds >= 2 * 3'600) return fmt::format("{:.0f} hours", seconds / 3'600);
  if (seconds >= 120) return fmt::format("{:.0f} minutes", seconds / 60);
  return fmt::format("{:.0f} seconds", seconds);
}

}  // namespace

std::vector<HealthReason> FindHealthReasons(const LargestFigure& figure, double now_seconds) {
  std::vector<HealthReason> reasons;
  const auto add = [&](Level level, std::string text) { reasons.push_back({level, std::move(text)}); };
  const auto value = [&](std::string_view name) { return figure(name).value_or(0); };

  if (value("sonde_disk_full") > 0) add(Level::kFailing, "Writes are refused: the disk is full");
  if (value("sonde_writes_stopped") > 0)
    add(Level::kFailing, "Writes are refused: a file could not be written, or is damaged");
  if (const double files = value("sonde_scrub_damaged_files"); files > 0)
    add(Level::kFailing, fmt::format("Damaged files: {:.0f}; the log names them", files));

  if (value("sonde_view_failing") > 0)
    add(Level::kWarning, "A materialized view is not kept: its rows are as they were");
  if (value("sonde_view_cannot_keep_up") > 0)
    add(Level::kWarning, "A materialized view cannot keep up with its table");
  if (value("sonde_rocksdb_write_stopped") > 0) {
    add(Level::kWarning, "Writes wait for the disk");
  } else if (value("sonde_rocksdb_delayed_write_bytes_per_second") > 0) {
    add(Level::kWarning, "Writes are slowed down: compaction is behind");
  }
  if (const double load = value("sonde_requests_load"); load >= kLoadHigh)
    add(Level::kWarning,
        fmt::format("Requests take {:.0f}% of the room that they may have; beyond it they are refused",
                    100 * load));
  const double disk_free = value("sonde_disk_free_bytes"), disk_size = value("sonde_disk_size_bytes");
  if (disk_size > 0 && disk_free < kDiskFreeShareLow * disk_size)
    add(Level::kWarning, fmt::format("The disk is {:.0f}% full", 100 * (1 - disk_free / disk_size)));
  if (const double bytes = value("sonde_settling_waiting_bytes"); bytes > kSettlingWaitingBytesHigh)
    add(Level::kWarning, fmt::format("Settling is behind: {:.1f} GB wait", bytes / 1e9));
  if (const double lag = value("sonde_change_stream_lag_seconds"); lag > kStreamLagSecondsHigh)
    add(Level::kWarning, fmt::format("A reader of a change stream is behind by {}", Span(lag)));
  if (const double lag = value("sonde_journal_lag_seconds"); lag > kJournalLagSecondsHigh)
    add(Level::kWarning, fmt::format("The journal for recovery to a moment is behind by {}", Span(lag)));
  if (const double last = value("sonde_backup_last_seconds");
      last > 0 && now_seconds - last > kBackupAgeSecondsHigh)
    add(Level::kWarning, fmt::format("The newest backup is {} old", Span(now_seconds - last)));
  if (const auto left = figure("sonde_tls_certificate_expiry_seconds");
      left.has_value() && *left < kCertificateSecondsLow)
    add(Level::kWarning, *left > 0 ? fmt::format("The certificate expires in {}", Span(*left))
                                   : "The certificate has expired");
  if (value("sonde_tls_reload_failed") > 0) add(Level::kWarning, "The certificate could not be loaded again");
  if (value("sonde_insecure_remote") > 0)
    add(Level::kWarning, "Other machines are let in without authentication (--insecure-allow-remote)");
  return reasons;
}

}  // namespace sonde
