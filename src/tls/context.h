// A server's certificate, its key and the CA of its clients, checked and ready for handshakes.
//
// Only TLS 1.2 with ECDHE and an AEAD, and TLS 1.3, are spoken.  A Context never changes; a reload makes another
// (certificate_keeper.h), and connections keep that with which they began.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

struct ssl_ctx_st;

namespace sonde::tls {

// Files in PEM.  The certificate's file holds the server's certificate first, and then those that lead to its root.
struct Files {
  std::string certificate;
  std::string key;
  std::string client_ca;  // empty: clients are not asked for certificates
  bool require_client_certificate = false;
  bool operator==(const Files&) const = default;
};

// Threads: all functions may be called at once.
class Context {
 public:
  // INVALID_ARGUMENT, naming the file and its fault: it is no PEM, the key does not fit the certificate, the certificate is
  // not valid at `now`, a certificate is not signed by the next, or the key's file can be used by others.  NOT_FOUND: a file
  // cannot be read.
  static absl::StatusOr<std::shared_ptr<const Context>> Load(const Files& files, absl::Time now);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  // When the first of the server's certificates ends.
  absl::Time expires() const { return expires_; }
  ssl_ctx_st* openssl() const { return context_; }

 private:
  Context(ssl_ctx_st* context, absl::Time expires) : context_(context), expires_(expires) {}

  ssl_ctx_st* const context_;
  const absl::Time expires_;
};

}  // namespace sonde::tls
