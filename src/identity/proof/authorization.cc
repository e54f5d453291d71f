#include "identity/proof/authorization.h"

#include <fmt/format.h>

#include "absl/strings/match.h"
#include "identity/proof/base64_text.h"
#include "identity/proof/digest.h"

namespace sonde {
namespace {

bool IsScheme(std::string_view text, absl::string_view scheme) {
  return absl::EqualsIgnoreCase({text.data(), text.size()}, scheme);
}

absl::Status DecodeBasic(std::string_view value, Authorization* authorization) {
  std::optional<std::string> decoded = BytesOfBase64(value);
  const size_t colon = decoded.has_value() ? decoded->find(':') : std::string::npos;
  if (colon == std::string::npos) {
    return absl::InvalidArgumentError("'authorization: Basic' is not base64 of user:password");
  }
  authorization->scheme = AuthorizationScheme::kBasic;
  authorization->decoded = *std::move(decoded);
  authorization->token = std::string_view(authorization->decoded).substr(colon + 1);
  return absl::OkStatus();
}

}  // namespace

Authorization::~Authorization() { Wipe(&decoded); }

absl::Status ParseAuthorization(std::string_view header, Authorization* authorization) {
  if (header.size() > kAuthorizationBytesMax) {
    return absl::InvalidArgumentError(
        fmt::format("'authorization' has {} bytes; allowed are {}", header.size(), kAuthorizationBytesMax));
  }
  const size_t space = header.find(' ');
  const std::string_view scheme = header.substr(0, space);
  const std::string_view value = space == std::string_view::npos ? "" : header.substr(space + 1);
  if (IsScheme(scheme, "Basic")) return DecodeBasic(value, authorization);
  if (IsScheme(scheme, "Bearer")) {
    authorization->scheme = AuthorizationScheme::kBearer;
  } else if (IsScheme(scheme, "Token")) {
    authorization->scheme = AuthorizationScheme::kToken;
  } else {
    return absl::InvalidArgumentError("'authorization' is none of Bearer, Token, Basic");
  }
  if (value.empty()) return absl::InvalidArgumentError("'authorization' has no token");
  authorization->token = value;
  return absl::OkStatus();
}

}  // namespace sonde
