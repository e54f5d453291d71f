// A token that its client signed (JWT in the compact form of JWS), taken apart.  Nothing here is proven: signed_token_check.h
// looks at the signature and at what the claims say.
//
// Source: RFC 7515, RFC 7519, RFC 8725.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace sonde {

constexpr size_t kSignedTokenBytesMax = 4096;

// The audiences that the official clients sign for, which think that they talk to Google.
constexpr std::string_view kDataAudience = "https://bigtable.googleapis.com/";
constexpr std::string_view kAdminAudience = "https://bigtableadmin.googleapis.com/";

// Accounts whose keys are Google's.
constexpr std::string_view kGoogleAccountSuffix = ".gserviceaccount.com";

// The longest time from `iat` to `exp` that Google and Sonde take.
constexpr absl::Duration kTokenLifetimeMax = absl::Hours(1);

struct SignedToken {
  std::string_view signed_text;  // the header and the claims as they came; holds as long as the token
  std::string signature;
  std::string algorithm;  // what the header says; the key's own algorithm is what counts
  std::string key_id;
  // The claims.  Times are seconds since 1970.
  std::optional<std::string> issuer, subject, scope;
  std::optional<std::vector<std::string>> audiences;
  std::optional<int64_t> issued_seconds, expires_seconds, not_before_seconds;
};

// INVALID_ARGUMENT, with the cause and no part of the token: larger than kSignedTokenBytesMax; not three parts in the one
// spelling of base64url; a header or claims that FlatJson refuses; no `alg` or `kid`; any `crit`, as no extension is known; a
// `typ` other than JWT; a claim above of another type (a time is a whole number).
absl::StatusOr<SignedToken> ParseSignedToken(std::string_view token);

}  // namespace sonde
