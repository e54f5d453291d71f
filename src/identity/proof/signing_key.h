// The private key of an account, as a client has it in a key file of Google's format, and the tokens that are signed with it.
//
// Ownership: a SigningKey holds its key on its own, and wipes it when it goes.
// Threads: all const functions may be called at once.
// Cost: a signature of RSA with 2048 bits takes some 500 us.
// Source: RFC 7515, RFC 7519; https://google.aip.dev/auth/4111 (self-signed tokens).
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

struct evp_pkey_st;  // OpenSSL's EVP_PKEY

namespace sonde {

class SigningKey {
 public:
  // Reads the text of a key file: a JSON object with type, client_email, private_key_id, private_key (PKCS #8 in PEM, RSA).
  // UNIMPLEMENTED: the file is of another type than service_account, which the message names.  INVALID_ARGUMENT: the text is no such
  // file; the message names the member that is wrong, and has no part of its value.
  static absl::StatusOr<std::shared_ptr<const SigningKey>> FromKeyFile(std::string_view text);

  const std::string& email() const { return email_; }
  const std::string& id() const { return id_; }

  // A token (RS256) that proves the account to `audience` from `now` on, for kTokenLifetimeMax (signed_token.h).  It is a secret.
  // INTERNAL: OpenSSL cannot sign.
  absl::StatusOr<std::string> SignToken(std::string_view audience, absl::Time now) const;

 private:
  struct Deleter {
    void operator()(evp_pkey_st* key) const;
  };
  using Handle = std::unique_ptr<evp_pkey_st, Deleter>;

  SigningKey(std::string email, std::string id, Handle key)
      : email_(std::move(email)), id_(std::move(id)), key_(std::move(key)) {}

  const std::string email_;
  const std::string id_;
  const Handle key_;
};

}  // namespace sonde
