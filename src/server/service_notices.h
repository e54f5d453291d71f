// What a service manager is told about this server: that it opens, serves, still answers, ends.  The manager is systemd, or whoever
// listens at NOTIFY_SOCKET.
//
// A notice is one datagram of KEY=VALUE lines to the Unix socket that the environment names.  Without NOTIFY_SOCKET nobody is told, and
// nothing is done.  A notice that cannot be sent is logged once; serving goes on.
//
// Threads: Tell and the functions that use it may be called at once; Watch is called once.  Source: sd_notify(3), sd_watchdog_enabled(3).
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <atomic>
#include <functional>
#include <string>
#include <string_view>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace sonde {

class ServiceNotices {
 public:
  // `socket_name`: a path, or "@name" of an abstract socket; empty: nobody is told.  `watch_max`: the manager ends a server that was
  // silent for so long; zero: it does not watch.
  ServiceNotices(std::string_view socket_name, absl::Duration watch_max);
  // As NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID say.  Before other threads start, as getenv wants it.
  static ServiceNotices FromEnvironment();
  ~ServiceNotices();  // ends the watch as Stopping does
  ServiceNotices(const ServiceNotices&) = delete;
  ServiceNotices& operator=(const ServiceNotices&) = delete;

  bool has_listener() const { return address_length_ > 0; }
  // One line, for people.
  void Status(std::string_view text);
  void Ready();
  // Settings are loaded again; Ready follows.
  void Reloading();
  // Ends the watch, too, once an `ask` that is under way has come back: what it asks may go afterwards.
  void Stopping();
  // Calls `ask` in a thread of its own, three times within watch_max, and tells each time that it came back: a server whose `ask` hangs
  // is ended by the manager.  An error that `ask` meets is an answer.  Does nothing where the manager does not watch.
  void Watch(std::function<void()> ask);

 private:
  void Tell(const std::string& notice);
  void EndWatch();

  sockaddr_un address_{};
  socklen_t address_length_ = 0;
  const absl::Duration watch_max_;
  std::atomic<bool> has_failed_ = false;
  absl::Mutex mutex_;
  bool is_ending_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread watch_;
};

}  // namespace sonde
