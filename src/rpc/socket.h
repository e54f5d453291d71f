// A connection's socket, with TLS or without.  Bytes are received and sent nowhere else.
#pragma once

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <memory>
#include <utility>

#include "tls/stream.h"

namespace sonde::rpc {

// Owns the descriptor, and does not block.  Not for several threads.
class Socket {
 public:
  // `context` is null for a connection without TLS.
  Socket(int descriptor, std::shared_ptr<const tls::Context> context) : descriptor_(descriptor) {
    if (context == nullptr) return;
    tls_ = std::make_unique<tls::Stream>(std::move(context), descriptor, tls::Stream::kHttp2);
  }
  ~Socket() {
    tls_.reset();
    close(descriptor_);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  int descriptor() const { return descriptor_; }

  using State = tls::Stream::State;
  using Result = tls::Stream::Result;

  // Goes on with TLS's handshake.  kOk: it is over, or there is no TLS.
  State Handshake() const { return tls_ == nullptr ? State::kOk : tls_->Handshake(); }
  bool is_open() const { return tls_ == nullptr || tls_->is_open(); }
  // The handshake waits until bytes can be sent; else until some come.
  bool handshake_waits_to_send() const { return tls_ != nullptr && tls_->waits_to_send(); }
  // Null: the client showed no certificate.
  const PeerCertificate* peer_certificate() const {
    return tls_ == nullptr ? nullptr : tls_->peer_certificate();
  }

  // kLater: no bytes are there.  kEnded: no bytes will come.
  Result Receive(char* buffer, size_t bytes_max) const {
    if (tls_ != nullptr) return tls_->Receive(buffer, bytes_max);
    const ssize_t got = recv(descriptor_, buffer, bytes_max, 0);
    if (got > 0) return {State::kOk, static_cast<size_t>(got)};
    return {got < 0 && IsLater() ? State::kLater : State::kEnded};
  }
  // kLater: the socket takes no bytes now.  kEnded: it never will.  With TLS, bytes that were not taken are the first of the
  // next call.
  Result Send(const char* bytes, size_t count) const {
    if (tls_ != nullptr) return tls_->Send(bytes, count);
    const ssize_t sent = send(descriptor_, bytes, count, MSG_NOSIGNAL);
    if (sent >= 0) return {State::kOk, static_cast<size_t>(sent)};
    return {IsLater() ? State::kLater : State::kEnded};
  }
  // The client sees an end when it has taken what was sent.
  void EndSending() const {
    if (tls_ != nullptr) tls_->EndSending();
    shutdown(descriptor_, SHUT_WR);
  }

 private:
  static bool IsLater() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

  const int descriptor_;
  std::unique_ptr<tls::Stream> tls_;  // null: without TLS
};

}  // namespace sonde::rpc
