#include "tls/context.h"

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/pem.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "tls/openssl.h"

namespace sonde::tls {
namespace {

constexpr char kCiphersOfTls12[] =
    "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:"
    "ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305";
constexpr char kCiphersOfTls13[] =
    "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256";
constexpr char kGroups[] = "X25519:P-256:P-384";
// RSA of 2048 bits and more, no SHA-1.
constexpr int kSecurityLevel = 2;
constexpr size_t kCertificatesMax = 100;
constexpr int kClientChainMax = 5;
constexpr unsigned char kSessionName[] = "sonde";

absl::StatusOr<std::vector<Owned<X509>>> CertificatesOf(const std::string& path) {
  absl::StatusOr<std::string> text = ReadPemFile(path, /*is_secret=*/false);
  if (!text.ok()) return text.status();
  const Owned<BIO> bio = BioOf(*text);
  std::vector<Owned<X509>> certificates;
  while (X509* const certificate = PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr)) {
    certificates.emplace_back(certificate);
    if (certificates.size() > kCertificatesMax) {
      return absl::InvalidArgumentError(
          fmt::format("{} has more than {} certificates, the limit", path, kCertificatesMax));
    }
  }
  const unsigned long error = ERR_peek_last_error();
  const bool is_at_end = ERR_GET_LIB(error) == ERR_LIB_PEM && ERR_GET_REASON(error) == PEM_R_NO_START_LINE;
  const std::string why = TakeOpensslError();
  if (certificates.empty() || !is_at_end) {
    return absl::InvalidArgumentError(
        fmt::format("{} must hold certificates in PEM; certificate {} cannot be read: {}", path,
                    certificates.size() + 1, why));
  }
  return certificates;
}

absl::StatusOr<Owned<EVP_PKEY>> KeyOf(const std::string& path) {
  absl::StatusOr<std::string> text = ReadPemFile(path, /*is_secret=*/true);
  if (!text.ok()) return text.status();
  const Owned<BIO> bio = BioOf(*text);
  // Nobody is there to be asked for a password.
  Owned<EVP_PKEY> key(
      PEM_read_bio_PrivateKey(bio.get(), nullptr, [](char*, int, int, void*) { return -1; }, nullptr));
  OPENSSL_cleanse(text->data(), text->size());
  if (key == nullptr) {
    return absl::InvalidArgumentError(
        fmt::format("{} must hold a secret key in PEM without a password: {}", path, TakeOpensslError()));
  }
  return key;
}

absl::Status CheckDates(const std::string& path, const X509* certificate, size_t number, absl::Time now) {
  const absl::Time begin = TimeOf(X509_get0_notBefore(certificate));
  const absl::Time end = TimeOf(X509_get0_notAfter(certificate));
  if (begin <= now && now < end) return absl::OkStatus();
  const absl::TimeZone utc = absl::UTCTimeZone();
  return absl::InvalidArgumentError(fmt::format("{}: certificate {} is valid from {} to {}, and now is {}",
                                                path, number, absl::FormatTime(absl::RFC3339_sec, begin, utc),
                                                absl::FormatTime(absl::RFC3339_sec, end, utc),
                                                absl::FormatTime(absl::RFC3339_sec, now, utc)));
}

absl::Status CheckChain(const std::string& path, const std::vector<Owned<X509>>& chain, absl::Time now) {
  for (size_t i = 0; i < chain.size(); ++i) {
    if (absl::Status status = CheckDates(path, chain[i].get(), i + 1, now); !status.ok()) return status;
    if (i + 1 == chain.size()) break;
    X509* const issuer = chain[i + 1].get();
    if (X509_check_issued(issuer, chain[i].get()) != X509_V_OK ||
        X509_verify(chain[i].get(), X509_get0_pubkey(issuer)) != 1) {
      ERR_clear_error();
      return absl::InvalidArgumentError(
          fmt::format("{}: certificate {} is not signed by certificate {}, which must be its issuer's", path,
                      i + 1, i + 2));
    }
  }
  return absl::OkStatus();
}

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

bool SetProtocols(SSL_CTX* context) {
  SSL_CTX_set_security_level(context, kSecurityLevel);
  SSL_CTX_set_options(context, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION |
                                   SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_PRIORITIZE_CHACHA);
  // A connection that rests keeps no buffers.  What the socket did not take may lie elsewhere at the next attempt.
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                                SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_alpn_select_cb(context, ChooseProtocol, nullptr);
  return SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) == 1 &&
         SSL_CTX_set_max_proto_version(context, TLS1_3_VERSION) == 1 &&
         SSL_CTX_set_cipher_list(context, kCiphersOfTls12) == 1 &&
         SSL_CTX_set_ciphersuites(context, kCiphersOfTls13) == 1 &&
         SSL_CTX_set1_groups_list(context, kGroups) == 1 &&
         SSL_CTX_set_session_id_context(context, kSessionName, sizeof(kSessionName) - 1) == 1;
}

absl::Status SetClientCa(const Files& files, SSL_CTX* context) {
  if (files.client_ca.empty()) {
    if (!files.require_client_certificate) return absl::OkStatus();
    return absl::InvalidArgumentError(
        "tls.require_client_certificate needs tls.client_ca, which says whose certificates are meant");
  }
  absl::StatusOr<std::vector<Owned<X509>>> authorities = CertificatesOf(files.client_ca);
  if (!authorities.ok()) return authorities.status();
  X509_STORE* const store = SSL_CTX_get_cert_store(context);
  for (const Owned<X509>& authority : *authorities) {
    if (X509_check_ca(authority.get()) == 0) {
      return absl::InvalidArgumentError(
          fmt::format("{} must hold certificates of CAs, and has one that is not", files.client_ca));
    }
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
  absl::StatusOr<std::vector<Owned<X509>>> chain = CertificatesOf(files.certificate);
  if (!chain.ok()) return chain.status();
  absl::StatusOr<Owned<EVP_PKEY>> key = KeyOf(files.key);
  if (!key.ok()) return key.status();
  if (X509_check_private_key(chain->front().get(), key->get()) != 1) {
    ERR_clear_error();
    return absl::InvalidArgumentError(
        fmt::format("The key of {} does not fit the certificate of {}", files.key, files.certificate));
  }
  if (absl::Status status = CheckChain(files.certificate, *chain, now); !status.ok()) return status;
  Owned<SSL_CTX> context(SSL_CTX_new(TLS_server_method()));
  if (context == nullptr || !SetProtocols(context.get())) {
    return absl::InternalError(fmt::format("OpenSSL cannot speak TLS: {}", TakeOpensslError()));
  }
  absl::Time expires = absl::InfiniteFuture();
  for (const Owned<X509>& certificate : *chain) {
    expires = std::min(expires, TimeOf(X509_get0_notAfter(certificate.get())));
    const bool is_first = certificate == chain->front();
    const int taken = is_first ? SSL_CTX_use_certificate(context.get(), certificate.get())
                               : static_cast<int>(SSL_CTX_add1_chain_cert(context.get(), certificate.get()));
    if (taken != 1) {
      return absl::InvalidArgumentError(fmt::format("{}: {}", files.certificate, TakeOpensslError()));
    }
  }
  if (SSL_CTX_use_PrivateKey(context.get(), key->get()) != 1) {
    return absl::InvalidArgumentError(fmt::format("{}: {}", files.key, TakeOpensslError()));
  }
  if (absl::Status status = SetClientCa(files, context.get()); !status.ok()) return status;
  return std::shared_ptr<const Context>(new Context(context.release(), expires));
}

Context::~Context() { SSL_CTX_free(context_); }

}  // namespace sonde::tls
