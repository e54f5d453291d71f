#include "identity/check/signing_test_support.h"

#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>

#include <vector>

#include "base/check.h"
#include "identity/proof/base64_text.h"

namespace sonde {
namespace {

std::string JwsOfDer(const std::string& der) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(der.data());
  ECDSA_SIG* const numbers = d2i_ECDSA_SIG(nullptr, &bytes, static_cast<long>(der.size()));  // NOLINT
  CHECK(numbers != nullptr);
  std::string jws(64, '\0');
  auto* const out = reinterpret_cast<unsigned char*>(jws.data());
  CHECK(BN_bn2binpad(ECDSA_SIG_get0_r(numbers), out, 32) == 32);
  CHECK(BN_bn2binpad(ECDSA_SIG_get0_s(numbers), out + 32, 32) == 32);
  ECDSA_SIG_free(numbers);
  return jws;
}

std::string SignedText(std::string_view header, std::string_view claims) {
  return Base64UrlOf(header) + "." + Base64UrlOf(claims);
}

}  // namespace

void TestKey::Deleter::operator()(evp_pkey_st* key) const { EVP_PKEY_free(key); }

TestKey::TestKey(KeyAlgorithm algorithm, int rsa_bits) : algorithm_(algorithm) {
  key_.reset(algorithm == KeyAlgorithm::kRs256   ? EVP_RSA_gen(static_cast<unsigned>(rsa_bits))
             : algorithm == KeyAlgorithm::kEs256 ? EVP_EC_gen("P-256")
                                                 : EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"));
  CHECK(key_ != nullptr);
}

std::string TestKey::Sign(std::string_view text) const {
  EVP_MD_CTX* const context = EVP_MD_CTX_new();
  const EVP_MD* const digest = algorithm_ == KeyAlgorithm::kEdDsa ? nullptr : EVP_sha256();
  const auto* const bytes = reinterpret_cast<const unsigned char*>(text.data());
  size_t size = 0;
  CHECK(EVP_DigestSignInit(context, nullptr, digest, nullptr, key_.get()) == 1);
  CHECK(EVP_DigestSign(context, nullptr, &size, bytes, text.size()) == 1);
  std::string signature(size, '\0');
  CHECK(EVP_DigestSign(context, reinterpret_cast<unsigned char*>(signature.data()), &size, bytes,
                       text.size()) == 1);
  EVP_MD_CTX_free(context);
  signature.resize(size);
  return algorithm_ == KeyAlgorithm::kEs256 ? JwsOfDer(signature) : signature;
}

std::string TestKey::PublicPem() const {
  BIO* const bio = BIO_new(BIO_s_mem());
  CHECK(PEM_write_bio_PUBKEY(bio, key_.get()) == 1);
  char* bytes = nullptr;
  const auto size = BIO_get_mem_data(bio, &bytes);
  std::string pem(bytes, static_cast<size_t>(size));
  BIO_free(bio);
  return pem;
}

AuthKey TestKey::ToAuthKey(std::string id) const {
  auto key = PublicKey::FromPem(algorithm_, PublicPem());
  CHECK(key.ok());
  return {.id = std::move(id), .created = absl::FromUnixSeconds(kTestSeconds), .public_key = *std::move(key)};
}

std::string SignToken(const TestKey& key, std::string_view header, std::string_view claims) {
  const std::string text = SignedText(header, claims);
  return text + "." + Base64UrlOf(key.Sign(text));
}

std::string SignTokenByHmac(std::string_view secret, std::string_view header, std::string_view claims) {
  const std::string text = SignedText(header, claims);
  unsigned char code[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
       reinterpret_cast<const unsigned char*>(text.data()), text.size(), code, &size);
  return text + "." + Base64UrlOf({reinterpret_cast<const char*>(code), size});
}

std::string HeaderOf(const TestKey& key, std::string_view id) {
  return fmt::format(R"({{"alg":"{}","kid":"{}","typ":"JWT"}})", NameOfAlgorithm(key.algorithm()), id);
}

std::string ClaimsOf(std::string_view email) {
  return fmt::format(
      R"({{"iss":"{0}","sub":"{0}","aud":"https://bigtable.googleapis.com/","iat":{1},"exp":{2}}})", email,
      kTestSeconds, kTestSeconds + 3600);
}

}  // namespace sonde
