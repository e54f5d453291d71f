// Takes connections from the port and gives them to loops, in a thread of its own.
//
// One descriptor is kept spare.  When no other is left, it is given up for a moment, so that a client is
// turned away rather than left waiting.  The acceptor goes on by itself once descriptors are free again.
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

// Sockets that listen.  They do not block.  Not for several threads.
class Listeners {
 public:
  Listeners() = default;
  Listeners(Listeners&& other) noexcept : sockets_(std::exchange(other.sockets_, {})), port_(other.port_) {}
  ~Listeners();
  // Listens on all addresses of the host.  INVALID_ARGUMENT: the host has no address.  FAILED_PRECONDITION:
  // none of the addresses can be had.
  static absl::StatusOr<Listeners> Open(const std::string& host, int port);

  int port() const { return port_; }
  const std::vector<int>& sockets() const { return sockets_; }

 private:
  std::vector<int> sockets_;
  int port_ = 0;
};

// Threads: all functions may be called at once, but for the destructor.
class Acceptor {
 public:
  Acceptor(Listeners listeners, std::shared_ptr<ServerState> state, std::vector<std::shared_ptr<Loop>> loops);
  // Calls End.
  ~Acceptor();

  int port() const { return listeners_.port(); }
  // When it returns, no more connections are taken, and the port is free.
  void End();

 private:
  void Run();
  // Returns false if there was no descriptor for a connection.
  bool AcceptAll(int socket);
  void Take(int descriptor, const sockaddr_storage& address);
  // Accepts and closes one connection.  Returns false if there was none, or if this cannot be done again.
  bool TurnAway(int socket);
  Loop* NextLoop();

  Listeners listeners_;
  const std::shared_ptr<ServerState> state_;
  const std::vector<std::shared_ptr<Loop>> loops_;
  size_t next_loop_ = 0;
  int spare_;  // descriptor to give up when no other is left; -1: it could not be had again yet
  int wake_;
  std::atomic<bool> is_ending_ = false;
  std::thread thread_;
};

}  // namespace sonde::rpc
