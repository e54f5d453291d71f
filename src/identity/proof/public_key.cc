#include "identity/proof/public_key.h"

#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <array>
#include <utility>

namespace sonde {
namespace {

constexpr size_t kPemBytesMax = 8192;
constexpr size_t kEcNumberBytes = 32;

constexpr std::array kAlgorithmNames = {std::pair{KeyAlgorithm::kRs256, std::string_view("RS256")},
                                        std::pair{KeyAlgorithm::kEs256, std::string_view("ES256")},
                                        std::pair{KeyAlgorithm::kEdDsa, std::string_view("EdDSA")}};

struct BioDeleter {
  void operator()(BIO* bio) const { BIO_free(bio); }
};
using BioHandle = std::unique_ptr<BIO, BioDeleter>;

struct DigestContextDeleter {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};

struct EcSignatureDeleter {
  void operator()(ECDSA_SIG* signature) const { ECDSA_SIG_free(signature); }
};

const unsigned char* Unsigned(std::string_view bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

// Empty: the key fits.
std::string WhyUnfit(KeyAlgorithm algorithm, const EVP_PKEY* key) {
  switch (algorithm) {
    case KeyAlgorithm::kRs256: {
      if (EVP_PKEY_get_base_id(key) != EVP_PKEY_RSA) return "RS256 takes an RSA key, which this is not";
      const int bits = EVP_PKEY_get_bits(key);
      if (bits >= kRsaBitsMin && bits <= kRsaBitsMax) return "";
      return fmt::format("RS256 takes an RSA key of {} to {} bits; this one has {}", kRsaBitsMin, kRsaBitsMax,
                         bits);
    }
    case KeyAlgorithm::kEs256: {
      char curve[32] = {};
      size_t size = 0;
      if (EVP_PKEY_get_base_id(key) == EVP_PKEY_EC &&
          EVP_PKEY_get_group_name(key, curve, sizeof(curve), &size) == 1 &&
          std::string_view(curve) == "prime256v1") {
        return "";
      }
      return "ES256 takes a key of the curve P-256, which this is not";
    }
    case KeyAlgorithm::kEdDsa:
      return EVP_PKEY_get_base_id(key) == EVP_PKEY_ED25519 ? ""
                                                           : "EdDSA takes an Ed25519 key, which this is not";
  }
  return "an algorithm that is not known";
}

std::string PemOf(EVP_PKEY* key) {
  const BioHandle bio(BIO_new(BIO_s_mem()));
  if (bio == nullptr || PEM_write_bio_PUBKEY(bio.get(), key) != 1) return "";
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &bytes);  // NOLINT(google-runtime-int): OpenSSL's
  return {bytes, static_cast<size_t>(size)};
}

// JWS has two numbers of one length one after the other; OpenSSL wants DER.  Empty: `signature` is not that.
std::string DerOfEcSignature(std::string_view signature) {
  if (signature.size() != 2 * kEcNumberBytes) return "";
  const std::unique_ptr<ECDSA_SIG, EcSignatureDeleter> numbers(ECDSA_SIG_new());
  BIGNUM* const r = BN_bin2bn(Unsigned(signature), kEcNumberBytes, nullptr);
  BIGNUM* const s = BN_bin2bn(Unsigned(signature) + kEcNumberBytes, kEcNumberBytes, nullptr);
  if (numbers == nullptr || r == nullptr || s == nullptr || ECDSA_SIG_set0(numbers.get(), r, s) != 1) {
    BN_free(r);
    BN_free(s);
    return "";
  }
  unsigned char* bytes = nullptr;
  const int size = i2d_ECDSA_SIG(numbers.get(), &bytes);
  if (size <= 0) return "";
  std::string der(reinterpret_cast<const char*>(bytes), static_cast<size_t>(size));
  OPENSSL_free(bytes);
  return der;
}

}  // namespace

std::string_view NameOfAlgorithm(KeyAlgorithm algorithm) {
  for (const auto& [known, name] : kAlgorithmNames) {
    if (known == algorithm) return name;
  }
  return "";
}

std::optional<KeyAlgorithm> AlgorithmOfName(std::string_view name) {
  for (const auto& [algorithm, known] : kAlgorithmNames) {
    if (known == name) return algorithm;
  }
  return std::nullopt;
}

void PublicKey::Deleter::operator()(evp_pkey_st* key) const { EVP_PKEY_free(key); }

absl::StatusOr<std::shared_ptr<const PublicKey>> PublicKey::FromPem(KeyAlgorithm algorithm,
                                                                    std::string_view pem) {
  if (pem.size() > kPemBytesMax) {
    return absl::InvalidArgumentError(
        fmt::format("the key has {} bytes; allowed are {}", pem.size(), kPemBytesMax));
  }
  const BioHandle bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  Handle key(bio == nullptr ? nullptr : PEM_read_bio_PUBKEY(bio.get(), nullptr, nullptr, nullptr));
  ERR_clear_error();
  if (key == nullptr) {
    return absl::InvalidArgumentError("the text is no public key in PEM form (-----BEGIN PUBLIC KEY-----)");
  }
  if (std::string why = WhyUnfit(algorithm, key.get()); !why.empty()) {
    return absl::InvalidArgumentError(why);
  }
  std::string spelling = PemOf(key.get());
  if (spelling.empty()) return absl::InvalidArgumentError("OpenSSL cannot write the key again");
  return std::shared_ptr<const PublicKey>(new PublicKey(algorithm, std::move(key), std::move(spelling)));
}

bool PublicKey::Verifies(std::string_view signed_text, std::string_view signature) const {
  std::string der;
  if (algorithm_ == KeyAlgorithm::kEs256) {
    der = DerOfEcSignature(signature);
    if (der.empty()) return false;
    signature = der;
  }
  const std::unique_ptr<EVP_MD_CTX, DigestContextDeleter> context(EVP_MD_CTX_new());
  const EVP_MD* const digest = algorithm_ == KeyAlgorithm::kEdDsa ? nullptr : EVP_sha256();
  const bool verifies = context != nullptr &&
                        EVP_DigestVerifyInit(context.get(), nullptr, digest, nullptr, key_.get()) == 1 &&
                        EVP_DigestVerify(context.get(), Unsigned(signature), signature.size(),
                                         Unsigned(signed_text), signed_text.size()) == 1;
  ERR_clear_error();  // else the next user of OpenSSL on this thread would find a refused signature's
  return verifies;
}

}  // namespace sonde
