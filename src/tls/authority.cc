#include "tls/authority.h"

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>

#include <array>

#include "absl/strings/str_join.h"
#include "tls/openssl.h"

namespace sonde::tls {
namespace {

constexpr size_t kSerialBytes = 16;

absl::Status AuthorityFailed() {
  return absl::InternalError(fmt::format("OpenSSL could not make a certificate: {}", TakeOpensslError()));
}

std::string TextOf(const Owned<BIO>& bio) {
  char* bytes = nullptr;
  const long count = BIO_get_mem_data(bio.get(), &bytes);
  return {bytes, static_cast<size_t>(count > 0 ? count : 0)};
}

bool SetSerial(X509* certificate) {
  std::array<unsigned char, kSerialBytes> bytes{};
  if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1) return false;
  bytes[0] &= 0x7f;
  BIGNUM* const number = BN_bin2bn(bytes.data(), static_cast<int>(bytes.size()), nullptr);
  const bool is_set =
      number != nullptr && BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate)) != nullptr;
  BN_free(number);
  return is_set;
}

bool Extend(X509* certificate, X509* issuer, int what, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  const Owned<X509_EXTENSION> extension(X509V3_EXT_conf_nid(nullptr, &context, what, value.c_str()));
  return extension != nullptr && X509_add_ext(certificate, extension.get(), -1) == 1;
}

// A certificate without extensions, whose issuer is itself.
Owned<X509> Begin(const std::string& common_name, absl::Time begin, absl::Time end, EVP_PKEY* key) {
  Owned<X509> certificate(X509_new());
  if (certificate == nullptr || X509_set_version(certificate.get(), 2) != 1 ||
      !SetSerial(certificate.get())) {
    return nullptr;
  }
  X509_NAME* const name = X509_get_subject_name(certificate.get());
  const bool is_made =
      X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8,
                                 reinterpret_cast<const unsigned char*>(common_name.data()),
                                 static_cast<int>(common_name.size()), -1, 0) == 1 &&
      X509_set_issuer_name(certificate.get(), name) == 1 && X509_set_pubkey(certificate.get(), key) == 1 &&
      ASN1_TIME_set(X509_getm_notBefore(certificate.get()), absl::ToTimeT(begin)) != nullptr &&
      ASN1_TIME_set(X509_getm_notAfter(certificate.get()), absl::ToTimeT(end)) != nullptr;
  return is_made ? std::move(certificate) : nullptr;
}

absl::StatusOr<Pair> Sign(X509* certificate, EVP_PKEY* key, EVP_PKEY* signing_key) {
  const Owned<BIO> certificate_text(BIO_new(BIO_s_mem()));
  const Owned<BIO> key_text(BIO_new(BIO_s_secmem()));
  if (X509_sign(certificate, signing_key, EVP_sha256()) == 0 ||
      PEM_write_bio_X509(certificate_text.get(), certificate) != 1 ||
      PEM_write_bio_PrivateKey(key_text.get(), key, nullptr, nullptr, 0, nullptr, nullptr) != 1) {
    return AuthorityFailed();
  }
  return Pair{TextOf(certificate_text), TextOf(key_text)};
}

}  // namespace

absl::StatusOr<Pair> MakeAuthority(const std::string& common_name, absl::Time begin, absl::Time end) {
  ERR_clear_error();
  const Owned<EVP_PKEY> key(EVP_EC_gen("P-256"));
  const Owned<X509> certificate = key == nullptr ? nullptr : Begin(common_name, begin, end, key.get());
  if (certificate == nullptr ||
      !Extend(certificate.get(), certificate.get(), NID_basic_constraints, "critical,CA:TRUE") ||
      !Extend(certificate.get(), certificate.get(), NID_key_usage, "critical,keyCertSign,cRLSign") ||
      !Extend(certificate.get(), certificate.get(), NID_subject_key_identifier, "hash")) {
    return AuthorityFailed();
  }
  return Sign(certificate.get(), key.get(), key.get());
}

absl::StatusOr<Pair> MakeCertificate(const Pair& authority, const Wanted& wanted) {
  ERR_clear_error();
  const Owned<BIO> issuer_text = BioOf(authority.certificate);
  const Owned<BIO> issuer_key_text = BioOf(authority.key);
  const Owned<X509> issuer(PEM_read_bio_X509(issuer_text.get(), nullptr, nullptr, nullptr));
  const Owned<EVP_PKEY> issuer_key(PEM_read_bio_PrivateKey(issuer_key_text.get(), nullptr, nullptr, nullptr));
  if (issuer == nullptr || issuer_key == nullptr ||
      X509_check_private_key(issuer.get(), issuer_key.get()) != 1) {
    ERR_clear_error();
    return absl::InvalidArgumentError("The CA's certificate and key are no pair");
  }
  const Owned<EVP_PKEY> key(EVP_EC_gen("P-256"));
  const Owned<X509> certificate =
      key == nullptr ? nullptr : Begin(wanted.common_name, wanted.begin, wanted.end, key.get());
  if (certificate == nullptr ||
      X509_set_issuer_name(certificate.get(), X509_get_subject_name(issuer.get())) != 1 ||
      !Extend(certificate.get(), issuer.get(), NID_basic_constraints, "critical,CA:FALSE") ||
      !Extend(certificate.get(), issuer.get(), NID_key_usage, "critical,digitalSignature") ||
      !Extend(certificate.get(), issuer.get(), NID_ext_key_usage,
              wanted.is_client ? "clientAuth" : "serverAuth") ||
      !Extend(certificate.get(), issuer.get(), NID_authority_key_identifier, "keyid")) {
    return AuthorityFailed();
  }
  if (!wanted.names.empty() &&
      !Extend(certificate.get(), issuer.get(), NID_subject_alt_name, absl::StrJoin(wanted.names, ","))) {
    return absl::InvalidArgumentError(fmt::format("'{}' cannot be names of a certificate: {}",
                                                  absl::StrJoin(wanted.names, ","), TakeOpensslError()));
  }
  return Sign(certificate.get(), key.get(), issuer_key.get());
}

}  // namespace sonde::tls
