#include "tls/context_parts.h"

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/pem.h>

#include <algorithm>

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

}  // namespace

bool SetProtocols(SSL_CTX* context) {
  SSL_CTX_set_security_level(context, kSecurityLevel);
  SSL_CTX_set_options(context, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION);
  // A connection that rests keeps no buffers.  What the socket did not take may lie elsewhere at the next attempt.
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                                SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  return SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) == 1 &&
         SSL_CTX_set_max_proto_version(context, TLS1_3_VERSION) == 1 &&
         SSL_CTX_set_cipher_list(context, kCiphersOfTls12) == 1 &&
         SSL_CTX_set_ciphersuites(context, kCiphersOfTls13) == 1 &&
         SSL_CTX_set1_groups_list(context, kGroups) == 1;
}

absl::StatusOr<std::vector<Owned<X509>>> AuthoritiesOf(const std::string& path) {
  absl::StatusOr<std::vector<Owned<X509>>> authorities = CertificatesOf(path);
  if (!authorities.ok()) return authorities.status();
  for (const Owned<X509>& authority : *authorities) {
    if (X509_check_ca(authority.get()) == 0) {
      return absl::InvalidArgumentError(
          fmt::format("{} must hold certificates of CAs, and has one that is not", path));
    }
  }
  return authorities;
}

absl::StatusOr<absl::Time> UsePair(const std::string& certificate_path, const std::string& key_path,
                                   absl::Time now, SSL_CTX* context) {
  absl::StatusOr<std::vector<Owned<X509>>> chain = CertificatesOf(certificate_path);
  if (!chain.ok()) return chain.status();
  absl::StatusOr<Owned<EVP_PKEY>> key = KeyOf(key_path);
  if (!key.ok()) return key.status();
  if (X509_check_private_key(chain->front().get(), key->get()) != 1) {
    ERR_clear_error();
    return absl::InvalidArgumentError(
        fmt::format("The key of {} does not fit the certificate of {}", key_path, certificate_path));
  }
  if (absl::Status status = CheckChain(certificate_path, *chain, now); !status.ok()) return status;
  absl::Time expires = absl::InfiniteFuture();
  for (const Owned<X509>& certificate : *chain) {
    expires = std::min(expires, TimeOf(X509_get0_notAfter(certificate.get())));
    const bool is_first = certificate == chain->front();
    const int taken = is_first ? SSL_CTX_use_certificate(context, certificate.get())
                               : static_cast<int>(SSL_CTX_add1_chain_cert(context, certificate.get()));
    if (taken != 1) {
      return absl::InvalidArgumentError(fmt::format("{}: {}", certificate_path, TakeOpensslError()));
    }
  }
  if (SSL_CTX_use_PrivateKey(context, key->get()) != 1) {
    return absl::InvalidArgumentError(fmt::format("{}: {}", key_path, TakeOpensslError()));
  }
  return expires;
}

}  // namespace sonde::tls
