#include "server/service_notices.h"

#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/format.h"

namespace sonde {
namespace {

// How long systemd waits for a sign of life; zero: it does not, or it waits for another process.
absl::Duration WatchOfEnvironment() {
  const char* const micros_text = std::getenv("WATCHDOG_USEC");
  int64_t micros = 0;
  if (micros_text == nullptr || !absl::SimpleAtoi(micros_text, &micros) || micros <= 0)
    return absl::ZeroDuration();
  const char* const process_text = std::getenv("WATCHDOG_PID");
  int64_t process = 0;
  const bool is_meant =
      process_text == nullptr || (absl::SimpleAtoi(process_text, &process) && process == getpid());
  return is_meant ? absl::Microseconds(micros) : absl::ZeroDuration();
}

}  // namespace

ServiceNotices::ServiceNotices(std::string_view socket_name, absl::Duration watch_max)
    : watch_max_(watch_max) {
  if (socket_name.empty()) return;
  const bool is_abstract = socket_name[0] == '@';
  if ((!is_abstract && socket_name[0] != '/') || socket_name.size() >= sizeof(address_.sun_path)) {
    spdlog::warn("NOTIFY_SOCKET must be a path or @name of at most {} bytes, but is '{}'",
                 sizeof(address_.sun_path) - 1, socket_name);
    return;
  }
  address_.sun_family = AF_UNIX;
  std::copy(socket_name.begin(), socket_name.end(), address_.sun_path);
  if (is_abstract) address_.sun_path[0] = '\0';
  address_length_ = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket_name.size());
}

ServiceNotices ServiceNotices::FromEnvironment() {
  const char* const name = std::getenv("NOTIFY_SOCKET");
  return ServiceNotices(name == nullptr ? "" : name, WatchOfEnvironment());
}

ServiceNotices::~ServiceNotices() { EndWatch(); }

void ServiceNotices::EndWatch() {
  if (!watch_.joinable()) return;
  {
    absl::MutexLock lock(&mutex_);
    is_ending_ = true;
  }
  watch_.join();
}

void ServiceNotices::Status(std::string_view text) {
  std::string line(text);
  std::replace(line.begin(), line.end(), '\n', ' ');
  Tell(absl::StrCat("STATUS=", line));
}

void ServiceNotices::Ready() { Tell("READY=1\nSTATUS=serving"); }

void ServiceNotices::Reloading() { Tell("RELOADING=1\nSTATUS=loading settings again"); }

void ServiceNotices::Stopping() {
  Tell("STOPPING=1\nSTATUS=ending");
  EndWatch();
}

void ServiceNotices::Watch(std::function<void()> ask) {
  if (!has_listener() || watch_max_ <= absl::ZeroDuration()) return;
  watch_ = std::thread([this, ask = std::move(ask)] {
    while (true) {
      ask();
      Tell("WATCHDOG=1");
      absl::MutexLock lock(&mutex_);
      if (mutex_.AwaitWithTimeout(absl::Condition(&is_ending_), watch_max_ / 3)) return;
    }
  });
}

void ServiceNotices::Tell(const std::string& notice) {
  if (!has_listener()) return;
  const int descriptor = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  // The manager's socket may be full: waiting for it would make a hang of its own.
  const ssize_t sent = descriptor < 0
                           ? -1
                           : sendto(descriptor, notice.data(), notice.size(), MSG_NOSIGNAL | MSG_DONTWAIT,
                                    reinterpret_cast<const sockaddr*>(&address_), address_length_);
  const int error = errno;
  if (descriptor >= 0) close(descriptor);
  if (sent < 0 && !has_failed_.exchange(true)) {
    spdlog::warn("the service manager could not be told '{}': {}", notice, std::strerror(error));
  }
}

}  // namespace sonde
