#include "identity/proof/signed_token.h"

#include <fmt/format.h>

#include <algorithm>

#include "absl/strings/match.h"
#include "identity/proof/base64_text.h"
#include "identity/proof/flat_json.h"

namespace sonde {
namespace {

absl::Status BadToken(std::string cause) { return absl::InvalidArgumentError(std::move(cause)); }

absl::Status Told(std::string_view part, const absl::Status& status) {
  return BadToken(fmt::format("the {} of the token: {}", part, std::string(status.message())));
}

// Reads the member into *value.  False: it is there, and not of this type.
template <typename Value>
bool ReadMember(const FlatJson& json, std::string_view name, std::optional<Value>* value) {
  const FlatJsonValue* const member = json.Find(name);
  if (member == nullptr) return true;
  const Value* const right = std::get_if<Value>(member);
  if (right == nullptr) return false;
  *value = *right;
  return true;
}

absl::Status ReadHeader(const FlatJson& header, SignedToken* token) {
  if (header.Find("crit") != nullptr) {
    return BadToken("the header of the token has 'crit', and no extension is known");
  }
  std::optional<std::string> algorithm, key_id, type;
  if (!ReadMember(header, "alg", &algorithm) || !algorithm.has_value()) {
    return BadToken("the header of the token has no 'alg' that is a text");
  }
  if (!ReadMember(header, "kid", &key_id) || !key_id.has_value()) {
    return BadToken("the header of the token has no 'kid' that is a text");
  }
  if (!ReadMember(header, "typ", &type) || (type.has_value() && !absl::EqualsIgnoreCase(*type, "JWT"))) {
    return BadToken("the header of the token has a 'typ' other than JWT");
  }
  token->algorithm = *std::move(algorithm);
  token->key_id = *std::move(key_id);
  return absl::OkStatus();
}

absl::Status ReadClaims(const FlatJson& claims, SignedToken* token) {
  for (const auto& [name, value] : {std::pair{"iss", &token->issuer}, std::pair{"sub", &token->subject},
                                    std::pair{"scope", &token->scope}}) {
    if (!ReadMember(claims, name, value)) {
      return BadToken(fmt::format("the claim '{}' of the token is no text", name));
    }
  }
  for (const auto& [name, value] :
       {std::pair{"iat", &token->issued_seconds}, std::pair{"exp", &token->expires_seconds},
        std::pair{"nbf", &token->not_before_seconds}}) {
    if (!ReadMember(claims, name, value)) {
      return BadToken(fmt::format("the claim '{}' of the token is no whole number of seconds", name));
    }
  }
  std::optional<std::string> audience;
  if (ReadMember(claims, "aud", &audience)) {
    if (audience.has_value()) token->audiences = {*std::move(audience)};
  } else if (!ReadMember(claims, "aud", &token->audiences)) {
    return BadToken("the claim 'aud' of the token is neither a text nor a list of texts");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<SignedToken> ParseSignedToken(std::string_view token) {
  if (token.size() > kSignedTokenBytesMax) {
    return BadToken(
        fmt::format("the token has {} bytes; allowed are {}", token.size(), kSignedTokenBytesMax));
  }
  if (std::count(token.begin(), token.end(), '.') != 2) return BadToken("the token has not three parts");
  const size_t first = token.find('.'), second = token.rfind('.');
  const auto header_text = BytesOfBase64Url(token.substr(0, first));
  const auto claims_text = BytesOfBase64Url(token.substr(first + 1, second - first - 1));
  auto signature = BytesOfBase64Url(token.substr(second + 1));
  if (!header_text.has_value() || !claims_text.has_value() || !signature.has_value()) {
    return BadToken("a part of the token is not base64url, or not in its one spelling");
  }
  SignedToken result{.signed_text = token.substr(0, second), .signature = *std::move(signature)};
  const absl::StatusOr<FlatJson> header = FlatJson::Read(*header_text);
  if (!header.ok()) return Told("header", header.status());
  const absl::StatusOr<FlatJson> claims = FlatJson::Read(*claims_text);
  if (!claims.ok()) return Told("claims", claims.status());
  if (absl::Status status = ReadHeader(*header, &result); !status.ok()) return status;
  if (absl::Status status = ReadClaims(*claims, &result); !status.ok()) return status;
  return result;
}

}  // namespace sonde
