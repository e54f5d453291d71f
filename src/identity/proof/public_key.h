// Public keys, and whether a signature of a token was made with the private one.
//
// Threads: all const functions may be called at once.
// Source: RFC 7518 (RS256, ES256), RFC 8037 (EdDSA).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

struct evp_pkey_st;  // OpenSSL's EVP_PKEY

namespace sonde {

enum class KeyAlgorithm : uint8_t {
  kRs256,  // RSA, PKCS #1 v1.5, with SHA-256
  kEs256,  // ECDSA over P-256 with SHA-256
  kEdDsa   // Ed25519
};

// As a token's `alg` spells it: RS256.
std::string_view NameOfAlgorithm(KeyAlgorithm algorithm);
std::optional<KeyAlgorithm> AlgorithmOfName(std::string_view name);

constexpr int kRsaBitsMin = 2048;
constexpr int kRsaBitsMax = 8192;

class PublicKey {
 public:
  // Reads one block `PUBLIC KEY`.  INVALID_ARGUMENT: the text is none, or the key does not fit the algorithm: an RSA key of
  // kRsaBitsMin to kRsaBitsMax, one of P-256, one of Ed25519.
  static absl::StatusOr<std::shared_ptr<const PublicKey>> FromPem(KeyAlgorithm algorithm,
                                                                  std::string_view pem);

  // `signature` as JWS has it: for ES256 two numbers of 32 bytes, not DER.  False for any other bytes.
  bool Verifies(std::string_view signed_text, std::string_view signature) const;

  KeyAlgorithm algorithm() const { return algorithm_; }
  // The key in OpenSSL's own spelling: equal for equal keys.
  const std::string& pem() const { return pem_; }

 private:
  struct Deleter {
    void operator()(evp_pkey_st* key) const;
  };
  using Handle = std::unique_ptr<evp_pkey_st, Deleter>;

  PublicKey(KeyAlgorithm algorithm, Handle key, std::string pem)
      : algorithm_(algorithm), key_(std::move(key)), pem_(std::move(pem)) {}

  KeyAlgorithm algorithm_;
  Handle key_;
  std::string pem_;
};

}  // namespace sonde
