#include "server/process/server_log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spdlog/sinks/sink.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <iterator>
#include <map>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/format.h"

namespace sonde {
namespace {

// Different messages that are counted in a second; all others are written.
constexpr size_t kCountedMessagesMax = 256;

void AppendEscaped(std::string_view text, std::string* line) {
  for (const char c : text) {
    switch (c) {
      case '"':
      case '\\':
        line->push_back('\\');
        line->push_back(c);
        break;
      case '\n':
        line->append("\\n");
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
          fmt::format_to(std::back_inserter(*line), "\\u{:04x}", static_cast<unsigned char>(c));
        } else {
          line->push_back(c);
        }
    }
  }
}

std::string_view LevelName(spdlog::level::level_enum level) {
  const spdlog::string_view_t name = spdlog::level::to_string_view(level);
  return {name.data(), name.size()};
}

class LogSink final : public spdlog::sinks::sink {
 public:
  LogSink(LogFormat format, std::string file) : format_(format), file_(std::move(file)) {}
  ~LogSink() override {
    if (descriptor_ != STDERR_FILENO) close(descriptor_);
  }

  absl::Status Open() ABSL_LOCKS_EXCLUDED(mutex_) {
    if (file_.empty()) return absl::OkStatus();
    const int opened = open(file_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (opened < 0) {
      return absl::UnavailableError(
          fmt::format("the log file {} cannot be opened: {}", file_, std::strerror(errno)));
    }
    const absl::MutexLock lock(&mutex_);
    if (descriptor_ != STDERR_FILENO) close(descriptor_);
    descriptor_ = opened;
    return absl::OkStatus();
  }

  void log(const spdlog::details::log_msg& message) override {
    const absl::Time time = absl::FromChrono(message.time);
    const std::string_view text(message.payload.data(), message.payload.size());
    const absl::MutexLock lock(&mutex_);
    const int64_t second = absl::ToUnixSeconds(time);
    std::string lines;
    if (second != second_) EndSecond(time, &lines);
    second_ = second;
    if (IsWanted(text, message.level))
      lines += Line(time, LevelName(message.level), text, RequestScope::Current());
    Write(lines);
  }
  void flush() override {}
  void set_pattern(const std::string&) override {}
  void set_formatter(std::unique_ptr<spdlog::formatter>) override {}

 private:
  struct Repeats {
    int count = 0;
    spdlog::level::level_enum level = spdlog::level::info;
  };

  bool IsWanted(std::string_view text, spdlog::level::level_enum level)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    auto found = repeats_.find(text);
    if (found == repeats_.end()) {
      if (repeats_.size() >= kCountedMessagesMax) return true;
      found = repeats_.emplace(std::string(text), Repeats{0, level}).first;
    }
    return ++found->second.count <= kRepeatsMax;
  }
  void EndSecond(absl::Time time, std::string* lines) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    for (const auto& [text, repeats] : repeats_) {
      if (repeats.count <= kRepeatsMax) continue;
      *lines += Line(time, LevelName(repeats.level),
                     fmt::format("{} more of this message were left out within a second: {}",
                                 repeats.count - kRepeatsMax, text));
    }
    repeats_.clear();
  }
  std::string Line(absl::Time time, std::string_view level, std::string_view text,
                   const std::optional<RequestTag>& tag = std::nullopt) const {
    return LogLineText(format_, absl::FormatTime("%Y-%m-%dT%H:%M:%E6SZ", time, absl::UTCTimeZone()), level,
                       text, tag);
  }
  // Nobody can be told of a log that cannot be written.
  void Write(std::string_view bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    while (!bytes.empty()) {
      const ssize_t written = write(descriptor_, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) return;
      bytes.remove_prefix(static_cast<size_t>(written));
    }
  }

  const LogFormat format_;
  const std::string file_;
  absl::Mutex mutex_;
  int descriptor_ ABSL_GUARDED_BY(mutex_) = STDERR_FILENO;
  int64_t second_ ABSL_GUARDED_BY(mutex_) = 0;
  std::map<std::string, Repeats, std::less<>> repeats_ ABSL_GUARDED_BY(mutex_);
};

std::shared_ptr<LogSink> CurrentSink() {
  const auto& sinks = spdlog::default_logger()->sinks();
  return sinks.empty() ? nullptr : std::dynamic_pointer_cast<LogSink>(sinks.front());
}

}  // namespace

std::string LogLineText(LogFormat format, std::string_view time, std::string_view level,
                        std::string_view message, const std::optional<RequestTag>& tag) {
  std::string line = format == LogFormat::kJson
                         ? fmt::format(R"({{"time":"{}","level":"{}","msg":")", time, level)
                         : fmt::format("time={} level={} msg=\"", time, level);
  AppendEscaped(message, &line);
  line.push_back('"');
  const auto add = [&](std::string_view name, std::string_view value) {
    if (value.empty()) return;
    line += format == LogFormat::kJson ? fmt::format(R"(,"{}":")", name) : fmt::format(" {}=\"", name);
    AppendEscaped(value, &line);
    line.push_back('"');
  };
  if (tag.has_value()) add("request", tag->id);
  if (tag.has_value()) add("trace", tag->trace);
  line += format == LogFormat::kJson ? "}\n" : "\n";
  return line;
}

absl::Status OpenServerLog(const ServerLogOptions& options) {
  auto sink = std::make_shared<LogSink>(options.format, options.file);
  if (absl::Status status = sink->Open(); !status.ok()) return status;
  spdlog::set_default_logger(std::make_shared<spdlog::logger>("sonde", std::move(sink)));
  SetServerLogLevel(options.level);
  return absl::OkStatus();
}

absl::Status ReopenServerLog() {
  const std::shared_ptr<LogSink> sink = CurrentSink();
  return sink == nullptr ? absl::OkStatus() : sink->Open();
}

void SetServerLogLevel(std::string_view level) {
  spdlog::default_logger()->set_level(level == "error" ? spdlog::level::err
                                                       : spdlog::level::from_str(std::string(level)));
}

}  // namespace sonde
