// Takes connections from the port and gives them to loops, in a thread of its own.
//
// When no descriptor is left, one that was opened ahead is given up for a moment, so that a client is turned
// away rather than left waiting; taking goes on by itself when there are some again.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "rpc/loop.h"
#include "rpc/server_state.h"

struct sockaddr_storage;

namespace sonde::rpc {

// Sockets that listen; they do not block.
class Listeners {
 public:
  Listeners() = default;
  Listeners(Listeners&& other) noexcept : sockets_(std::exchange(other.sockets_, {})), port_(other.port_) {}
  ~Listeners();
  // All addresses of the host.  INVALID_ARGUMENT: it has none; FAILED_PRECONDITION: none of them can be had.
  static absl::StatusOr<Listeners> Open(const std::string& host, int port);

  int port() const { return port_; }
  const std::vector<int>& sockets() const { return sockets_; }

 private:
  std::vector<int> sockets_;
  int port_ = 0;
};

class Acceptor {
 public:
  Acceptor(Listeners listeners, std::shared_ptr<ServerState> state, std::vector<std::shared_ptr<Loop>> loops);
  // As End.
  ~Acceptor();

  int port() const { return listeners_.port(); }
  // Takes no more connections when it returns, and the port is free.
  void End();

 private:
  void Run();
  // False: there was no descriptor for one.
  bool AcceptAll(int socket);
  void Take(int descriptor, const sockaddr_storage& address);
  // Takes and closes one.  False: there was none, or it cannot be done again.
  bool TurnAway(int socket);
  Loop* NextLoop();

  Listeners listeners_;
  const std::shared_ptr<ServerState> state_;
  const std::vector<std::shared_ptr<Loop>> loops_;
  size_t next_loop_ = 0;
  int spare_;  // given up when there is no other descriptor; -1: it was not had again yet
  int wake_;
  std::atomic<bool> is_ending_ = false;
  std::thread thread_;
};

}  // namespace sonde::rpc
