#include "identity/proof/digest.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>

#include <memory>

#include "absl/strings/escaping.h"
#include "base/check.h"

namespace sonde {
namespace {

struct ContextDeleter {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};

// OpenSSL looks an algorithm up by name, under a lock, unless it is kept: that would cost more than a small digest.
const EVP_MD* KeptSha256() {
  static const EVP_MD* const kept = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  return kept;
}

}  // namespace

Sha256Digest Sha256(std::string_view bytes) {
  static thread_local const std::unique_ptr<EVP_MD_CTX, ContextDeleter> context(EVP_MD_CTX_new());
  Sha256Digest digest{};
  unsigned int size = 0;
  CHECK(context != nullptr && KeptSha256() != nullptr);
  CHECK(EVP_DigestInit_ex2(context.get(), KeptSha256(), nullptr) == 1);
  CHECK(EVP_DigestUpdate(context.get(), bytes.data(), bytes.size()) == 1);
  CHECK(EVP_DigestFinal_ex(context.get(), digest.data(), &size) == 1);
  CHECK(size == digest.size());
  return digest;
}

bool EqualInConstantTime(const Sha256Digest& a, const Sha256Digest& b) {
  return CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

std::string RandomBytes(size_t count) {
  std::string bytes(count, '\0');
  CHECK(RAND_bytes(reinterpret_cast<unsigned char*>(bytes.data()), static_cast<int>(count)) == 1);
  return bytes;
}

std::string HexOf(std::string_view bytes) { return absl::BytesToHexString({bytes.data(), bytes.size()}); }

void Wipe(std::string* secret) {
  OPENSSL_cleanse(secret->data(), secret->size());
  secret->clear();
}

}  // namespace sonde
