#include "identity/check/signed_token_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "base/bytes.h"
#include "identity/config/member_names.h"
#include "identity/proof/signed_token.h"

namespace sonde {
namespace {

// Scopes for which Google would let the token use Bigtable.
constexpr std::string_view kScopes[] = {"https://www.googleapis.com/auth/cloud-platform",
                                        "https://www.googleapis.com/auth/cloud-platform.read-only",
                                        "https://www.googleapis.com/auth/bigtable.data",
                                        "https://www.googleapis.com/auth/bigtable.data.readonly",
                                        "https://www.googleapis.com/auth/bigtable.admin",
                                        "https://www.googleapis.com/auth/bigtable.admin.cluster",
                                        "https://www.googleapis.com/auth/bigtable.admin.instance",
                                        "https://www.googleapis.com/auth/bigtable.admin.table",
                                        "https://www.googleapis.com/auth/cloud-bigtable.data",
                                        "https://www.googleapis.com/auth/cloud-bigtable.data.readonly",
                                        "https://www.googleapis.com/auth/cloud-bigtable.admin",
                                        "https://www.googleapis.com/auth/cloud-bigtable.admin.cluster",
                                        "https://www.googleapis.com/auth/cloud-bigtable.admin.table"};

constexpr size_t kShownIdBytes = 64;

// A time is Unix seconds of a little more than the years 1970 to 9999, so that no sum overflows.
constexpr int64_t kSecondsMax = 300'000'000'000;

absl::Status Refused(std::string cause) { return absl::InvalidArgumentError(std::move(cause)); }

bool IsTime(std::optional<int64_t> seconds) {
  return seconds.has_value() && *seconds >= 0 && *seconds <= kSecondsMax;
}

absl::Status CheckTimes(const SignedToken& token, absl::Time now) {
  if (!IsTime(token.issued_seconds)) return Refused("the token has no 'iat' that is a time");
  if (!IsTime(token.expires_seconds)) return Refused("the token has no 'exp' that is a time");
  const absl::Time issued = absl::FromUnixSeconds(*token.issued_seconds);
  const absl::Time expires = absl::FromUnixSeconds(*token.expires_seconds);
  if (expires <= issued || expires - issued > kTokenLifetimeMax) {
    return Refused(fmt::format("the token is for {} s; allowed are 1 to {}",
                               *token.expires_seconds - *token.issued_seconds,
                               absl::ToInt64Seconds(kTokenLifetimeMax)));
  }
  if (issued > now + kTokenLeeway)
    return Refused("the token was issued in the future: do the clocks differ?");
  if (now >= expires + kTokenLeeway) return Refused("the token has expired");
  if (token.not_before_seconds.has_value()) {
    if (!IsTime(token.not_before_seconds)) return Refused("the token has an 'nbf' that is no time");
    if (absl::FromUnixSeconds(*token.not_before_seconds) > now + kTokenLeeway) {
      return Refused("the token is not valid yet");
    }
  }
  return absl::OkStatus();
}

// Go's client writes an empty `aud` beside its scope.
bool HasAudience(const SignedToken& token) {
  return token.audiences.has_value() && *token.audiences != std::vector<std::string>{""};
}

// `aud` decides where there is one: a token for somebody else is not let in because of its scope.
absl::Status CheckAudience(const SignedToken& token, const AuthConfig& config) {
  if (HasAudience(token)) {
    const auto is_ours = [&](const std::string& audience) {
      return audience == kDataAudience || audience == kAdminAudience ||
             std::find(config.audiences.begin(), config.audiences.end(), audience) != config.audiences.end();
    };
    if (std::any_of(token.audiences->begin(), token.audiences->end(), is_ours)) return absl::OkStatus();
    return Refused("the token is for another audience");
  }
  if (!token.scope.has_value()) return Refused("the token has neither 'aud' nor 'scope'");
  for (const absl::string_view scope : absl::StrSplit(*token.scope, ' ')) {
    const std::string_view name(scope.data(), scope.size());
    if (std::find(std::begin(kScopes), std::end(kScopes), name) != std::end(kScopes)) return absl::OkStatus();
  }
  return Refused("the token has no scope of Bigtable's or of cloud-platform");
}

}  // namespace

absl::StatusOr<ProvenToken> CheckSignedToken(std::string_view text, const AuthConfig& config,
                                             const AccountKeys& keys, absl::Time now) {
  const absl::StatusOr<SignedToken> token = ParseSignedToken(text);
  if (!token.ok()) return token.status();
  if (!config.accept_google_accounts && token->issuer.has_value() &&
      token->issuer->ends_with(kGoogleAccountSuffix)) {
    return Refused(
        "the token is signed with a key of Google's.  Never use one against a server that is not Google's");
  }
  const auto found = keys.find(token->key_id);
  if (found == keys.end()) {
    return Refused(
        fmt::format("no account has a key with the id '{}'", Printable(token->key_id, kShownIdBytes)));
  }
  const auto& [account, key] = found->second;
  if (token->algorithm != NameOfAlgorithm(key->algorithm())) {
    return Refused(fmt::format("the token says alg '{}', but key {} is for {}",
                               Printable(token->algorithm, kShownIdBytes), token->key_id,
                               NameOfAlgorithm(key->algorithm())));
  }
  if (!key->Verifies(token->signed_text, token->signature)) {
    return Refused(fmt::format("the signature of the token was not made with key {}", token->key_id));
  }
  if (token->issuer != account->email || token->subject != account->email) {
    return Refused(
        fmt::format("'iss' and 'sub' of the token must both be {}, whose key signed it", account->email));
  }
  if (absl::Status status = CheckTimes(*token, now); !status.ok()) return status;
  if (absl::Status status = CheckAudience(*token, config); !status.ok()) return status;
  return ProvenToken{account, absl::FromUnixSeconds(*token->expires_seconds) + kTokenLeeway};
}

}  // namespace sonde
