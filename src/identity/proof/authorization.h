// The value of a header `authorization`, taken apart.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace sonde {

constexpr size_t kAuthorizationBytesMax = 8192;

enum class AuthorizationScheme : uint8_t {
  kBearer,  // gRPC's clients, curl: a signed token, or a static one
  kToken,   // Influx: a static token
  kBasic    // Prometheus, Grafana: a static token as the password; the user's name is not looked at
};

struct Authorization {
  AuthorizationScheme scheme = AuthorizationScheme::kBearer;
  std::string_view token;  // of the header, or of `decoded`
  std::string decoded;     // a secret: user:password, for kBasic
  Authorization() = default;
  Authorization(const Authorization&) = delete;
  Authorization& operator=(const Authorization&) = delete;
  ~Authorization();
};

// Fills *authorization, whose views hold as long as `header` and it.  INVALID_ARGUMENT, with no part of the header: larger than
// kAuthorizationBytesMax, another scheme, no token, Basic that is not base64 of user:password.
absl::Status ParseAuthorization(std::string_view header, Authorization* authorization);

}  // namespace sonde
