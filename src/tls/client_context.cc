#include "tls/client_context.h"

#include <fmt/format.h>
#include <openssl/err.h>

#include <vector>

#include "tls/context_parts.h"

namespace sonde::tls {
namespace {

constexpr int kServerChainMax = 5;

absl::Status SetAuthorities(const std::string& path, SSL_CTX* context) {
  const absl::StatusOr<std::vector<Owned<X509>>> authorities = AuthoritiesOf(path);
  if (!authorities.ok()) return authorities.status();
  for (const Owned<X509>& authority : *authorities) {
    if (X509_STORE_add_cert(SSL_CTX_get_cert_store(context), authority.get()) != 1)
      return absl::InvalidArgumentError(fmt::format("{}: {}", path, TakeOpensslError()));
  }
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  SSL_CTX_set_verify_depth(context, kServerChainMax);
  // Each handshake looks at the server's certificate.
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::shared_ptr<const ClientContext>> ClientContext::Load(const ClientFiles& files,
                                                                         absl::Time now) {
  if (files.certificate.empty() != files.key.empty()) {
    return absl::InvalidArgumentError(
        files.key.empty() ? fmt::format("The client's certificate {} has no key", files.certificate)
                          : fmt::format("The client's key {} has no certificate", files.key));
  }
  ERR_clear_error();
  Owned<SSL_CTX> context(SSL_CTX_new(TLS_client_method()));
  if (context == nullptr || !SetProtocols(context.get())) {
    return absl::InternalError(fmt::format("OpenSSL cannot speak TLS: {}", TakeOpensslError()));
  }
  if (absl::Status status = SetAuthorities(files.ca, context.get()); !status.ok()) return status;
  if (!files.certificate.empty()) {
    const absl::Status status = UsePair(files.certificate, files.key, now, context.get()).status();
    if (!status.ok()) return status;
  }
  return std::shared_ptr<const ClientContext>(new ClientContext(files, context.release()));
}

ClientContext::~ClientContext() { SSL_CTX_free(context_); }

}  // namespace sonde::tls
