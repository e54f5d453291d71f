// TLS over a connection's socket, at the client's side, without waiting.
//
// The server's certificate must be of an authority of the context, valid now, and for the name that the client wants.
//
// Threads: one at a time.
#pragma once

#include <memory>
#include <string>

#include "tls/client_context.h"
#include "tls/secure_socket.h"

namespace sonde::tls {

class ClientStream final : public SecureSocket {
 public:
  // `name`: a host or an address, for which the server's certificate must be.  The socket does not block, and outlives this.
  ClientStream(std::shared_ptr<const ClientContext> context, int socket, std::string name);

  // Goes on with the handshake.  kLater: it waits for the socket, as waits_to_send says.  kEnded: it has failed, as fault says.
  State Handshake();

  struct Fault {
    std::string text;  // "the server speaks no TLS"
    // The certificates, their names or what is spoken do not fit each other, so that the next attempt fails, too.
    bool is_settled = false;
  };
  // Why kEnded came, from the handshake or from what followed it.
  Fault fault() const;

 private:
  std::string FaultOfCertificate(long result) const;

  const std::shared_ptr<const ClientContext> context_;
  const std::string name_;
};

}  // namespace sonde::tls
