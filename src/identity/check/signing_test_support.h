// Keys, and tokens signed with them, as a client has them: for tests.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "identity/config/auth_config.h"
#include "identity/proof/public_key.h"

struct evp_pkey_st;

namespace sonde {

// The tests' time: 2026-11-25T08:00:00Z.
constexpr int64_t kTestSeconds = 1'795'593'600;

class TestKey {
 public:
  explicit TestKey(KeyAlgorithm algorithm, int rsa_bits = kRsaBitsMin);

  // In the form of JWS.
  std::string Sign(std::string_view text) const;
  std::string PublicPem() const;
  AuthKey ToAuthKey(std::string id) const;
  KeyAlgorithm algorithm() const { return algorithm_; }

 private:
  struct Deleter {
    void operator()(evp_pkey_st* key) const;
  };
  KeyAlgorithm algorithm_;
  std::unique_ptr<evp_pkey_st, Deleter> key_;
};

// base64url of `header` and `claims` with the signature behind.
std::string SignToken(const TestKey& key, std::string_view header, std::string_view claims);
// Likewise, with HMAC-SHA-256.
std::string SignTokenByHmac(std::string_view secret, std::string_view header, std::string_view claims);

// {"alg":ALG,"kid":ID,"typ":"JWT"}
std::string HeaderOf(const TestKey& key, std::string_view id);
// What Python's client claims at kTestSeconds.
std::string ClaimsOf(std::string_view email);

}  // namespace sonde
