// The HTTP server: routes on one port, each request answered by one of a bounded number of threads.
//
// A thread is taken for a request that has come, not for a connection: clients that are idle or slow wait in
// the lobby (lobby.h), but for a body that is not small, which its handler reads as it comes, within the
// bounds of connection.h.  Routes for watchers have threads of their own.
//
// Every request is checked before its handler: CheckHostAndOrigin, the limits of path and body, 404 and 405
// with a JSON error.  Every answer tells the browser not to guess types, not to be framed, and to load
// nothing from elsewhere.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "metrics/request_metrics.h"
#include "tls/context.h"
#include "web/http/http_counts.h"
#include "web/http/http_door.h"
#include "web/http/router.h"
#include "web/http/running_requests.h"

namespace sonde {

struct HttpServerOptions {
  std::string host = "127.0.0.1";
  int port = 0;  // 0: any that is free
  // Each answers one request at a time.
  size_t threads = 32;
  // A new one beyond takes the place of one that is idle; when there is none, it waits in the system's own
  // queue.  One that stays idle is closed after kIdleSeconds.
  size_t connections_max = 1'000;
  // Null: authentication is off.  Must outlive the server.
  const HttpDoor* door = nullptr;
  // The certificate of a connection that begins now; any thread calls it.  Empty: no TLS is spoken.
  std::function<std::shared_ptr<const tls::Context>()> tls;
  std::shared_ptr<HttpCounts> counts = std::make_shared<HttpCounts>();
  // Where requests are listed while their handlers work at them.
  std::shared_ptr<RunningRequests> running = std::make_shared<RunningRequests>();
  // Where requests are counted by route, and noted if they failed; null: nowhere.  Must outlive the server.
  RequestMetrics* requests = nullptr;
};

class HttpServer {
 public:
  // Answers requests when it returns.  FAILED_PRECONDITION: the address cannot be had.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Start(const HttpServerOptions& options, Router router);
  // Takes no new connections, finishes the requests under way.  Clients are waited for no longer than
  // kStallSeconds.
  ~HttpServer();
  // As the destructor, but requests under way may go on for `grace`.
  void End(absl::Duration grace);
  // Any thread: ends the grace now, where another thread waits in End.
  void HurryEnd();

  int port() const;
  // http://HOST:PORT/, or https:// with TLS
  std::string url() const;

  static constexpr int kIdleSeconds = 60;
  static constexpr size_t kPathBytesMax = 4096;

 private:
  struct Parts;
  explicit HttpServer(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace sonde
