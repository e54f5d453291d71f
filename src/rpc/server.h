// A gRPC server: HTTP/2, with TLS or without, on one port.  Its few threads wait for nothing but sockets.
//
// Each connection belongs to one of the loops (loop.h), which reads and writes it and runs its handlers
// (call.h).  nghttp2 does frames, header compression and the states of streams; this folder does framing,
// deadlines, flow control and bounds.  Every bound has a reason by which its refusals are counted.
//
// Threads: all functions may be called at once, but for the destructor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "rpc/bounds.h"
#include "rpc/call.h"

namespace sonde::rpc {

class Server {
 public:
  // Answers calls when it returns.  INVALID_ARGUMENT: the host is no address.  FAILED_PRECONDITION: the
  // address cannot be had.
  static absl::StatusOr<std::unique_ptr<Server>> Start(ServerOptions options, Router router);
  // Shuts down without grace, and waits until the last handler has finished, as handlers may need objects
  // that are destroyed next.
  ~Server();

  int port() const;
  ServerFacts facts() const;
  // Returns false if no connection can be taken now, as no descriptor is left, or none will be any more.
  bool is_accepting() const;

  // Calls that are under way, of those at most `calls_max` that came first, in that order.  A loop that does not answer within a
  // second is left out.  Not for the loops' threads.
  std::vector<RunningCall> ListCalls(size_t calls_max) const;
  // Ends a call by its name with CANCELLED and this message; the call's handler is told.  Returns false if there is no such call, or
  // not any more.  Not for the loops' threads.
  bool CancelCall(const std::string& name, const std::string& message) const;

  // Takes no more connections and calls.  Calls under way may go on for `grace`, and are cancelled then.
  // Returns soon after that at the latest, with the number of calls whose handlers have not finished even
  // then.  A caller that does not want to wait for these must not destroy the server.  A second call, from
  // another thread, may shorten the grace.
  int64_t Shutdown(absl::Duration grace);

 private:
  struct Parts;
  explicit Server(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace sonde::rpc
