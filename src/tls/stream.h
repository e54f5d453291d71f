// TLS over a connection's socket, at the server's side, without waiting.
//
// Threads: one at a time.
#pragma once

#include <memory>
#include <optional>

#include "identity/authenticator.h"
#include "tls/context.h"
#include "tls/secure_socket.h"

namespace sonde::tls {

class Stream final : public SecureSocket {
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

  // Goes on with the handshake.  kLater: it waits for the socket, as waits_to_send says.  kEnded: it has failed; the client
  // was told the reason.
  State Handshake();

  // Null: the client showed none.  Set once the handshake is over.
  const PeerCertificate* peer_certificate() const {
    return peer_certificate_.has_value() ? &*peer_certificate_ : nullptr;
  }

 private:
  const std::shared_ptr<const Context> context_;
  const Protocol protocol_;
  std::optional<PeerCertificate> peer_certificate_;
};

}  // namespace sonde::tls
