// A connection's socket: the only place where its bytes are received and sent.
#pragma once

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <optional>

namespace sonde::rpc {

// Does not block; owns the descriptor.
class Socket {
 public:
  explicit Socket(int descriptor) : descriptor_(descriptor) {}
  ~Socket() { close(descriptor_); }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  int descriptor() const { return descriptor_; }

  enum class State : unsigned char { kOk, kLater, kEnded };
  struct Result {
    State state;
    size_t bytes = 0;  // of kOk
  };

  // kLater: nothing is there.  kEnded: nothing will come.
  Result Receive(char* buffer, size_t bytes_max) const {
    const ssize_t got = recv(descriptor_, buffer, bytes_max, 0);
    if (got > 0) return {State::kOk, static_cast<size_t>(got)};
    return {got < 0 && IsLater() ? State::kLater : State::kEnded};
  }
  // kLater: nothing is taken.  kEnded: nothing will be.
  Result Send(const char* bytes, size_t count) const {
    const ssize_t sent = send(descriptor_, bytes, count, MSG_NOSIGNAL);
    if (sent >= 0) return {State::kOk, static_cast<size_t>(sent)};
    return {IsLater() ? State::kLater : State::kEnded};
  }
  // The other side sees an end when it has taken what was sent.
  void EndSending() const { shutdown(descriptor_, SHUT_WR); }

 private:
  static bool IsLater() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

  const int descriptor_;
};

}  // namespace sonde::rpc
