// An Authenticator finds out who calls, from what the call brings as a proof.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "identity/principal.h"

namespace sonde {

// The names in a client's certificate, whose chain and possession of the key the TLS handshake has checked.
struct PeerCertificate {
  std::string subject;              // "CN=ingest,O=Example"
  std::vector<std::string> uris;    // of its alternative names: "spiffe://example.com/ingest"
  std::vector<std::string> emails;  // likewise
};

// The proofs that a call brings.  Views hold as long as the call.
struct Credentials {
  std::string_view authorization;  // the value of its header `authorization`; empty: it has none
  const PeerCertificate* certificate = nullptr;  // null: the client showed none
};

// The answer to a call that proves nobody, whatever the cause.
inline constexpr char kBadCredentials[] = "Request had invalid authentication credentials.";

// Threads: all functions may be called at once.
class Authenticator {
 public:
  virtual ~Authenticator() = default;

  // UNAUTHENTICATED, with kBadCredentials: the credentials prove nobody.  The cause is put into `cause` (may be null), for the
  // audit log; no part of a secret is in it.
  virtual absl::StatusOr<std::shared_ptr<const Principal>> Authenticate(const Credentials& credentials,
                                                                        absl::Time now,
                                                                        std::string* cause) = 0;

  // Proves the bearer of a session, who has shown a static token before: only the token's id and SHA-256 (32 bytes) are known.
  // Errors: as Authenticate.  Without static tokens nobody is proven.
  virtual absl::StatusOr<std::shared_ptr<const Principal>> AuthenticateToken(
      std::string_view /*token_id*/, std::string_view /*token_sha256*/, absl::Time /*now*/,
      std::string* /*cause*/) {
    return absl::UnauthenticatedError(kBadCredentials);
  }
};

}  // namespace sonde
