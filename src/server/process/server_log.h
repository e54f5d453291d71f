// ServerLog writes what the program logs (spdlog's default logger) as lines that programs can read, to stderr or to a file.
//
// A line has `time` (UTC, microseconds), `level` and `msg`, in this order, as logfmt (time=... level=info msg="...") or as a JSON
// object.  A line of a thread that works for a request (work/request_tag.h) also has `request`, and `trace` if the client told one.  Control characters, quotes and backslashes of a message are escaped, so that a line is one line.
// The same message is written kRepeatsMax times a second at most; how often it was left out is told by the first line of a later second.
//
// Threads: all functions may be called at once.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "work/request_tag.h"

namespace sonde {

enum class LogFormat : uint8_t { kLogfmt, kJson };

inline constexpr int kRepeatsMax = 20;

struct ServerLogOptions {
  LogFormat format = LogFormat::kLogfmt;
  std::string level = "info";  // trace, debug, info, warn, error or off
  std::string file;            // is appended to, and made with mode 0600; empty: stderr
};

// Sets up spdlog's default logger.  UNAVAILABLE: the file cannot be opened.
absl::Status OpenServerLog(const ServerLogOptions& options);
// Opens the file again, since somebody may have moved it.  UNAVAILABLE: that failed, and the file before is written to.
absl::Status ReopenServerLog();
void SetServerLogLevel(std::string_view level);

// A line as the log has it, with its end.  `time`: as the line shows it.
std::string LogLineText(LogFormat format, std::string_view time, std::string_view level,
                        std::string_view message, const std::optional<RequestTag>& tag = std::nullopt);

}  // namespace sonde
