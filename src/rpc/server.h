// A gRPC server: HTTP/2 without TLS, on one port, by a few threads that never wait for anything but sockets.
//
// Each connection belongs to one of the loops (loop.h), which reads and writes it and runs its handlers
// (call.h). Frames, header compression and the states of streams are nghttp2's; framing, deadlines, flow
// control and bounds are here.  Every bound has a reason by which its refusals are counted.
#pragma once

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "rpc/bounds.h"
#include "rpc/call.h"

namespace sonde::rpc {

class Server {
 public:
  // Answers calls when it returns.  INVALID_ARGUMENT: the host is no address; FAILED_PRECONDITION: the
  // address cannot be had.
  static absl::StatusOr<std::unique_ptr<Server>> Start(ServerOptions options, Router router);
  // As Shutdown without grace; then waits until the last handler has finished, as it may need what is
  // destroyed next.
  ~Server();

  int port() const;
  ServerFacts facts() const;
  // False: no connection can be taken for now (no descriptor is left), or any more.
  bool is_accepting() const;

  // Takes no more connections and calls; calls under way have until the grace is over, then they are
  // cancelled.  Returns soon after that at the latest, with the number of calls whose handlers have not
  // finished even then.  Who does not want to wait for these leaves the server as it is.
  int64_t Shutdown(absl::Duration grace);

 private:
  struct Parts;
  explicit Server(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace sonde::rpc
