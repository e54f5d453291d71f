// What a client of TLS takes and shows: the CAs by which it takes servers' certificates, and perhaps a certificate of its own.
//
// It speaks what context.h says.  A ClientContext never changes; client_keeper.h makes another one when files have changed.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

struct ssl_ctx_st;

namespace sonde::tls {

// Files in PEM.  The certificate's file holds the client's certificate first, and then those that lead to its root.
struct ClientFiles {
  std::string ca;
  std::string certificate;  // empty: the client has none
  std::string key;          // of the certificate
  bool operator==(const ClientFiles&) const = default;
};

// Threads: all functions may be called at once.
class ClientContext {
 public:
  // INVALID_ARGUMENT, naming the file and its fault: as Context::Load; also a certificate without a key, or a key without one.
  // NOT_FOUND: a file cannot be read.
  static absl::StatusOr<std::shared_ptr<const ClientContext>> Load(const ClientFiles& files, absl::Time now);
  ~ClientContext();
  ClientContext(const ClientContext&) = delete;
  ClientContext& operator=(const ClientContext&) = delete;

  const ClientFiles& files() const { return files_; }
  ssl_ctx_st* openssl() const { return context_; }

 private:
  ClientContext(ClientFiles files, ssl_ctx_st* context) : files_(std::move(files)), context_(context) {}

  const ClientFiles files_;
  ssl_ctx_st* const context_;
};

}  // namespace sonde::tls
