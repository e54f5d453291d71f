// Whether a token that its client signed proves who he is: by a key of the configuration, and by what its claims say.
//
// Source: admin-security-operations.md, 7.3; RFC 8725.
#pragma once

#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "identity/config/auth_config.h"

namespace sonde {

constexpr absl::Duration kTokenLeeway = absl::Seconds(60);  // how far two clocks may differ

// The keys of a configuration by their ids.  It holds pointers into the configuration.
struct AccountKey {
  const AuthAccount* account;
  const PublicKey* key;
};
using AccountKeys = absl::flat_hash_map<std::string_view, AccountKey>;

struct ProvenToken {
  const AuthAccount* account;
  absl::Time until;  // the token is refused from then on
};

// INVALID_ARGUMENT, with the cause, in which there is no part of the token but its printable key id: what ParseSignedToken
// refuses; an account of Google's without accept_google_accounts; a key id that is not known; `alg` is not the key's; the
// signature; `iss` or `sub` is not the account of the key; `iat`, `exp` or `nbf`; `aud`, or `scope` without one or beside an empty one.
absl::StatusOr<ProvenToken> CheckSignedToken(std::string_view token, const AuthConfig& config,
                                             const AccountKeys& keys, absl::Time now);

}  // namespace sonde
