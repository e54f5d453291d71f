// OpenSSL's objects with owners, its errors as text, and files.  Only this folder's .cc files include it, and context_parts.h.
#pragma once

#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace sonde::tls {

struct OpensslFree {
  void operator()(X509* object) const { X509_free(object); }
  void operator()(EVP_PKEY* object) const { EVP_PKEY_free(object); }
  void operator()(BIO* object) const { BIO_free_all(object); }
  void operator()(SSL_CTX* object) const { SSL_CTX_free(object); }
  void operator()(X509_EXTENSION* object) const { X509_EXTENSION_free(object); }
  void operator()(GENERAL_NAMES* object) const { GENERAL_NAMES_free(object); }
};
template <typename T>
using Owned = std::unique_ptr<T, OpensslFree>;

// Takes the calling thread's first error as text, and clears the others.
std::string TakeOpensslError();

// Reads a file of at most kPemBytesMax bytes.  NOT_FOUND: it cannot be read.  INVALID_ARGUMENT: it is larger, or
// `is_secret` and others than its owner may read or write it.
inline constexpr size_t kPemBytesMax = 1 << 20;
absl::StatusOr<std::string> ReadPemFile(const std::string& path, bool is_secret);

// What tells a file from the one that was there before, of each path; none of an empty one.
std::string FactsOfFiles(std::initializer_list<const std::string*> paths);

Owned<BIO> BioOf(std::string_view bytes);

absl::Time TimeOf(const ASN1_TIME* time);

}  // namespace sonde::tls
