// New keys of accounts, as files in the format of Google's service-account keys, which all official clients read.
//
// Threads: all functions may be called at once.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "identity/proof/public_key.h"

namespace sonde {

struct NewServiceKey {
  std::string id;                               // 40 of 0-9 a-f, as Google's private_key_id
  std::shared_ptr<const PublicKey> public_key;  // RS256, which is what the clients sign with
  std::string file;  // a secret: the JSON text of the key file, which alone has the private key
};

// Makes an RSA key of 2048 bits: some 100 ms.  `project`: which project clients take if nobody tells them one.  The file's
// `token_uri` is an address that nobody has: no client asks it, as each signs its own tokens.
// INTERNAL: OpenSSL cannot make a key.
absl::StatusOr<NewServiceKey> MakeServiceKey(std::string_view email, std::string_view project);

}  // namespace sonde
