#include "tls/context.h"

#include <fmt/format.h>
#include <openssl/err.h>

#include <string_view>
#include <utility>
#include <vector>

#include "tls/context_parts.h"

namespace sonde::tls {
namespace {

constexpr int kClientChainMax = 5;
constexpr unsigned char kSessionName[] = "sonde";

// Chooses the one protocol that the stream speaks (stream.cc keeps its name with the SSL).
int ChooseProtocol(SSL* ssl, const unsigned char** chosen, unsigned char* chosen_bytes,
                   const unsigned char* offered, unsigned int offered_bytes, void*) {
  const std::string_view wanted = static_cast<const char*>(SSL_get_app_data(ssl));
  for (unsigned int at = 0; at < offered_bytes; at += offered[at] + 1U) {
    const std::string_view name(reinterpret_cast<const char*>(offered + at + 1), offered[at]);
    if (name != wanted) continue;
    *chosen = offered + at + 1;
    *chosen_bytes = offered[at];
    return SSL_TLSEXT_ERR_OK;
  }
  return SSL_TLSEXT_ERR_ALERT_FATAL;
}

bool SetServerProtocols(SSL_CTX* context) {
  SSL_CTX_set_options(context, SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_PRIORITIZE_CHACHA);
  SSL_CTX_set_alpn_select_cb(context, ChooseProtocol, nullptr);
  return SetProtocols(context) &&
         SSL_CTX_set_session_id_context(context, kSessionName, sizeof(kSessionName) - 1) == 1;
}

absl::Status SetClientCa(const Files& files, SSL_CTX* context) {
  if (files.client_ca.empty()) {
    if (!files.require_client_certificate) return absl::OkStatus();
    return absl::InvalidArgumentError(
        "tls.require_client_certificate needs tls.client_ca, which says whose certificates are meant");
  }
  absl::StatusOr<std::vector<Owned<X509>>> authorities = AuthoritiesOf(files.client_ca);
  if (!authorities.ok()) return authorities.status();
  X509_STORE* const store = SSL_CTX_get_cert_store(context);
  for (const Owned<X509>& authority : *authorities) {
    if (X509_STORE_add_cert(store, authority.get()) != 1 ||
        SSL_CTX_add_client_CA(context, authority.get()) != 1) {
      return absl::InvalidArgumentError(fmt::format("{}: {}", files.client_ca, TakeOpensslError()));
    }
  }
  SSL_CTX_set_verify(
      context, SSL_VERIFY_PEER | (files.require_client_certificate ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0),
      nullptr);
  SSL_CTX_set_verify_depth(context, kClientChainMax);
  // A session that goes on would not show its certificate again, whose end would not be seen.
  SSL_CTX_set_options(context, SSL_OP_NO_TICKET);
  SSL_CTX_set_num_tickets(context, 0);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::shared_ptr<const Context>> Context::Load(const Files& files, absl::Time now) {
  ERR_clear_error();
  Owned<SSL_CTX> context(SSL_CTX_new(TLS_server_method()));
  if (context == nullptr || !SetServerProtocols(context.get())) {
    return absl::InternalError(fmt::format("OpenSSL cannot speak TLS: {}", TakeOpensslError()));
  }
  const absl::StatusOr<absl::Time> expires = UsePair(files.certificate, files.key, now, context.get());
  if (!expires.ok()) return expires.status();
  if (absl::Status status = SetClientCa(files, context.get()); !status.ok()) return status;
  return std::shared_ptr<const Context>(new Context(context.release(), *expires));
}

Context::~Context() { SSL_CTX_free(context_); }

}  // namespace sonde::tls
