// TLS over a connection's socket, at the server's side, without waiting.
//
// Threads: one at a time.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include "identity/authenticator.h"
#include "tls/context.h"

struct ssl_st;

namespace sonde::tls {

// A record's plain bytes.
inline constexpr size_t kRecordBytesMax = 16 << 10;

class Stream {
 public:
  // The protocol that the client must name (ALPN), with a literal's lifetime.
  struct Protocol {
    const char* name;      // "h2"
    bool must_be_offered;  // a client that names no protocol is refused
  };
  static constexpr Protocol kHttp2{"h2", true};
  static constexpr Protocol kHttp1{"http/1.1", false};

  // The socket does not block, stays its owner's and outlives the stream.
  Stream(std::shared_ptr<const Context> context, int socket, Protocol protocol);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  enum class State : unsigned char { kOk, kLater, kEnded };
  struct Result {
    State state;
    size_t bytes = 0;  // for kOk
  };

  // Goes on with the handshake.  kLater: it waits for the socket, as waits_to_send says.  kEnded: it has failed; the client
  // was told the reason.
  State Handshake();
  bool is_open() const { return is_open_; }
  // The handshake waits until the socket takes bytes; else until some come.
  bool waits_to_send() const { return waits_to_send_; }

  // After the handshake.  `bytes_max` is at least kRecordBytesMax, so that no plain bytes stay behind, of which the socket
  // would not tell.  kEnded: the client has ended the stream, or broke TLS's rules.
  Result Receive(char* buffer, size_t bytes_max);
  // After the handshake.  After kLater, or fewer bytes than `count`, the next call must have the rest at its front.
  Result Send(const char* bytes, size_t count);
  // Tells the client that no more bytes come.
  void EndSending();

  // Null: the client showed none.  Set once the handshake is over.
  const PeerCertificate* peer_certificate() const {
    return peer_certificate_.has_value() ? &*peer_certificate_ : nullptr;
  }

 private:
  State StateOf(int result);

  const std::shared_ptr<const Context> context_;
  ssl_st* const ssl_;
  const Protocol protocol_;
  bool is_open_ = false;
  bool waits_to_send_ = false;
  bool has_failed_ = false;
  std::optional<PeerCertificate> peer_certificate_;
};

}  // namespace sonde::tls
