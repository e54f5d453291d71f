// What the contexts of servers (context.h) and of clients (client_context.h) are made of.  Only this folder's .cc files include it.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "tls/openssl.h"

namespace sonde::tls {

// Sets TLS 1.2 with ECDHE and an AEAD, and TLS 1.3, and how connections use their buffers.  False: OpenSSL cannot speak so.
bool SetProtocols(SSL_CTX* context);

// The certificates of a CA's file.  INVALID_ARGUMENT, naming the file: it is no PEM, or has a certificate that is no CA's.
// NOT_FOUND: it cannot be read.
absl::StatusOr<std::vector<Owned<X509>>> AuthoritiesOf(const std::string& path);

// Gives the context a certificate, those that lead to its root, and its key.  Returns when the first of them ends.  Errors as
// Context::Load.
absl::StatusOr<absl::Time> UsePair(const std::string& certificate_path, const std::string& key_path,
                                   absl::Time now, SSL_CTX* context);

}  // namespace sonde::tls
