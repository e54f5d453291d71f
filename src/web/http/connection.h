// A connection of a client: its socket, what came and is not used yet, and what is to be sent.
//
// Belongs to one thread at a time: to the lobby's, or to that which answers its request.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tls/stream.h"
#include "web/http/request_head.h"

namespace sonde {

// A client sends and takes so much while it is waited for, once it had kGraceSeconds; one that does not is
// too slow, and so is one that does nothing for kStallSeconds.
constexpr int64_t kClientBytesPerSecondMin = 8 << 10;
constexpr int kGraceSeconds = 5;
constexpr int kStallSeconds = 5;
// Nothing is waited for any longer, all in all.
constexpr int kClientSecondsMax = 300;

class Connection {
 public:
  using Clock = std::chrono::steady_clock;

  // Takes the socket, which must not block.  `context` is null for a connection without TLS.
  Connection(int socket, std::string peer, std::shared_ptr<const tls::Context> context = nullptr);
  ~Connection();
  Connection(const Connection&) = delete;

  int socket() const { return socket_; }
  const std::string& peer() const { return peer_; }
  // Null: the client showed no certificate.
  const PeerCertificate* peer_certificate() const {
    return tls_ == nullptr ? nullptr : tls_->peer_certificate();
  }

  // Goes on with TLS's handshake, which must be over before anything is received or sent.  kOk: it is over, or there is no TLS.
  tls::Stream::State Handshake() { return tls_ == nullptr ? tls::Stream::State::kOk : tls_->Handshake(); }
  bool is_open() const { return tls_ == nullptr || tls_->is_open(); }
  // The handshake waits until bytes can be sent; else until some come.
  bool handshake_waits_to_send() const { return tls_ != nullptr && tls_->waits_to_send(); }
  // Tells the client that nothing more is sent.
  void EndSending();

  // Bytes that have come and are not used.
  std::string_view unread() const { return std::string_view(in_).substr(in_at_); }
  void Use(size_t bytes);
  // Takes what the socket has now, about `bytes_max` at most.  False: the client sends no more.
  bool Receive(size_t bytes_max);
  // Waits for the next request, and takes its head.  False: it is not there as a whole when the first of it
  // has come, or nothing has by the end of the patience, or it is for somebody else to find out what is
  // wrong.
  bool AwaitHead(Clock::duration patience);
  // As much of `out` as the socket takes now.  False: the client is gone.
  bool Send();
  bool IsSent() const { return out_at == out.size(); }

  // A body begins.
  void BeginBody();
  // As a ByteSource; waits for the client as long as a body is waited for.  UNAVAILABLE: it was too slow.
  absl::StatusOr<size_t> Read(char* buffer, size_t bytes_max);
  // Sends `out` to its end.  UNAVAILABLE: the client is gone or too slow.
  absl::Status SendAll();

  std::optional<RequestHead> head;  // of the request that is to be answered; its bytes are used
  std::string out;
  size_t out_at = 0;    // so much of `out` is sent
  bool closes = false;  // when `out` is sent

 private:
  // As recv and send, with TLS or without.
  ssize_t ReceiveBytes(char* buffer, size_t bytes_max);
  ssize_t SendBytes(const char* bytes, size_t count);
  absl::Status WaitFor(short events, int64_t bytes_done, Clock::duration* waited) const;

  const int socket_;
  const std::string peer_;
  std::unique_ptr<tls::Stream> tls_;  // null: without TLS
  std::string in_;
  size_t in_at_ = 0;  // so much of it is used
  Clock::duration body_waited_{0};
  int64_t body_bytes_ = 0;
};

// For how long a client is waited for, all in all, that has sent or taken so many bytes.
Connection::Clock::duration PatienceFor(int64_t bytes_done);

}  // namespace sonde
