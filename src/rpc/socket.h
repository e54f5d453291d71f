// A connection's socket.  Bytes are received and sent nowhere else.
#pragma once

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <optional>

namespace sonde::rpc {

// Owns the descriptor, and does not block.  Not for several threads.
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
    size_t bytes = 0;  // for kOk
  };

  // kLater: no bytes are there.  kEnded: no bytes will come.
  Result Receive(char* buffer, size_t bytes_max) const {
    const ssize_t got = recv(descriptor_, buffer, bytes_max, 0);
    if (got > 0) return {State::kOk, static_cast<size_t>(got)};
    return {got < 0 && IsLater() ? State::kLater : State::kEnded};
  }
  // kLater: the socket takes no bytes now.  kEnded: it never will.
  Result Send(const char* bytes, size_t count) const {
    const ssize_t sent = send(descriptor_, bytes, count, MSG_NOSIGNAL);
    if (sent >= 0) return {State::kOk, static_cast<size_t>(sent)};
    return {IsLater() ? State::kLater : State::kEnded};
  }
  // The client sees an end when it has taken what was sent.
  void EndSending() const { shutdown(descriptor_, SHUT_WR); }

 private:
  static bool IsLater() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

  const int descriptor_;
};

}  // namespace sonde::rpc
