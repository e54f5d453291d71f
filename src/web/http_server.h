// The HTTP server: routes on one port, each connection served by one of a bounded number of threads.
//
// What every request meets before its handler: CheckHostAndOrigin, the limits of path and body, 404 and 405
// with a JSON error.  Every answer tells the browser not to guess types, not to be framed, and to load
// nothing from elsewhere.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "web/router.h"

namespace sonde {

struct HttpServerOptions {
  std::string host = "127.0.0.1";
  int port = 0;  // 0: any that is free
  // Each serves one connection at a time; one that stays idle is closed after kIdleSeconds.
  size_t threads = 32;
  // Connections that wait for a thread; more wait in the system's own queue.
  size_t connections_waiting_max = 64;
};

class HttpServer {
 public:
  // Answers requests when it returns.  FAILED_PRECONDITION: the address cannot be had.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Start(const HttpServerOptions& options, Router router);
  // Takes no new connections, finishes the requests under way.  A client that sends or takes nothing is
  // waited for no longer than kStallSeconds.
  ~HttpServer();

  int port() const;
  // http://HOST:PORT/
  std::string url() const;

  static constexpr int kIdleSeconds = 5;
  static constexpr int kStallSeconds = 5;
  static constexpr size_t kPathBytesMax = 4096;

 private:
  struct Parts;
  explicit HttpServer(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace sonde
