#include "identity/check/file_authenticator.h"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "identity/check/certificate_member.h"
#include "identity/check/signed_token_check.h"
#include "identity/check/token_cache.h"
#include "identity/config/auth_file.h"
#include "identity/proof/authorization.h"
#include "identity/proof/signed_token.h"
#include "identity/proof/static_token.h"

namespace sonde {

// A configuration with what is found in it, and the tokens that were verified by it: they go when it goes, also those of calls that
// still verify while it is replaced.
class AuthGeneration {
 public:
  explicit AuthGeneration(AuthConfig config)
      : config_(std::make_shared<const AuthConfig>(std::move(config))),
        certificates_(MembersByCertificate(*config_)) {
    for (const AuthAccount& account : config_->accounts) {
      for (const AuthKey& key : account.keys) keys_[key.id] = {&account, key.public_key.get()};
    }
    for (const AuthToken& token : config_->tokens) tokens_[token.id] = &token;
    for (const AuthGroup& group : config_->groups) {
      for (const std::string& member : group.members) groups_[member].push_back("group:" + group.name);
    }
  }

  const std::shared_ptr<const AuthConfig>& config() const { return config_; }

  // INVALID_ARGUMENT, with the cause.
  absl::StatusOr<std::shared_ptr<const Principal>> Prove(const Credentials& credentials, absl::Time now) {
    if (credentials.authorization.empty()) {
      if (credentials.certificate != nullptr) return ProveCertificate(*credentials.certificate);
      return absl::InvalidArgumentError("the call has neither 'authorization' nor a client's certificate");
    }
    Authorization authorization;
    if (absl::Status status = ParseAuthorization(credentials.authorization, &authorization); !status.ok())
      return status;
    const bool may_be_signed = authorization.scheme == AuthorizationScheme::kBearer;
    if (may_be_signed && !authorization.token.starts_with(kStaticTokenPrefix)) {
      return ProveSigned(authorization.token, now);
    }
    return ProveStatic(authorization.token, now);
  }

  // INVALID_ARGUMENT, with the cause.
  absl::StatusOr<std::shared_ptr<const Principal>> ProveToken(std::string_view id, const Sha256Digest& digest,
                                                              absl::Time now) const {
    const auto found = tokens_.find(id);
    // An id that is not known costs as much as a wrong secret.
    const Sha256Digest expected = found == tokens_.end() ? Sha256Digest{} : found->second->sha256;
    const bool is_equal = EqualInConstantTime(digest, expected);
    if (found == tokens_.end())
      return absl::InvalidArgumentError(fmt::format("there is no token with the id {}", id));
    const AuthToken& token = *found->second;
    if (!is_equal) return absl::InvalidArgumentError(fmt::format("the secret of token {} is wrong", id));
    if (token.expires.has_value() && now >= *token.expires) {
      return absl::InvalidArgumentError(fmt::format("token {} has expired", id));
    }
    return MakePrincipal(token.member, Proof::kToken, token.expires.value_or(absl::InfiniteFuture()));
  }

 private:
  std::shared_ptr<const Principal> MakePrincipal(std::string member, Proof proof, absl::Time until) const {
    Principal principal{.member = std::move(member), .groups = {}, .proof = proof, .until = until};
    if (const auto found = groups_.find(principal.member); found != groups_.end())
      principal.groups = found->second;
    return std::make_shared<const Principal>(std::move(principal));
  }

  absl::StatusOr<std::shared_ptr<const Principal>> ProveSigned(std::string_view token, absl::Time now) {
    // Before its digest is made, so that nobody has megabytes digested.
    if (token.size() > kSignedTokenBytesMax) {
      return absl::InvalidArgumentError(
          fmt::format("the token has {} bytes; allowed are {}", token.size(), kSignedTokenBytesMax));
    }
    const Sha256Digest digest = Sha256(token);
    if (std::shared_ptr<const Principal> known = cache_.Find(digest, now)) return known;
    const absl::StatusOr<ProvenToken> proven = CheckSignedToken(token, *config_, keys_, now);
    if (!proven.ok()) return proven.status();
    std::shared_ptr<const Principal> principal =
        MakePrincipal(proven->account->Member(), Proof::kKey, proven->until);
    cache_.Insert(digest, principal);
    return principal;
  }

  absl::StatusOr<std::shared_ptr<const Principal>> ProveStatic(std::string_view text, absl::Time now) const {
    const std::optional<std::string_view> id = IdOfStaticToken(text);
    if (!id.has_value()) return absl::InvalidArgumentError("the token has not the form sonde_ID_SECRET");
    return ProveToken(*id, Sha256(text), now);
  }

  absl::StatusOr<std::shared_ptr<const Principal>> ProveCertificate(
      const PeerCertificate& certificate) const {
    absl::StatusOr<std::string> member = MemberOfCertificate(certificate, certificates_);
    if (!member.ok()) return member.status();
    return MakePrincipal(*std::move(member), Proof::kCertificate, absl::InfiniteFuture());
  }

  const std::shared_ptr<const AuthConfig> config_;
  AccountKeys keys_;  // this and tokens_ point into *config_
  absl::flat_hash_map<std::string_view, const AuthToken*> tokens_;
  absl::flat_hash_map<std::string, std::vector<std::string>> groups_;  // by member
  const CertificateMembers certificates_;
  TokenCache cache_;
};

FileAuthenticator::FileAuthenticator(std::string path, AuthConfig config)
    : path_(std::move(path)), generation_(std::make_shared<AuthGeneration>(std::move(config))) {}

FileAuthenticator::~FileAuthenticator() = default;

absl::StatusOr<std::unique_ptr<FileAuthenticator>> FileAuthenticator::Create(std::string path) {
  absl::StatusOr<AuthConfig> config = ReadAuthFile(path);
  if (!config.ok()) return config.status();
  return std::unique_ptr<FileAuthenticator>(new FileAuthenticator(std::move(path), *std::move(config)));
}

std::unique_ptr<FileAuthenticator> FileAuthenticator::Create(AuthConfig config) {
  return std::unique_ptr<FileAuthenticator>(new FileAuthenticator("", std::move(config)));
}

absl::Status FileAuthenticator::Reload() {
  if (path_.empty()) return absl::FailedPreconditionError("there is no authentication file to read again");
  absl::StatusOr<AuthConfig> config = ReadAuthFile(path_);
  if (!config.ok()) return config.status();
  Replace(*std::move(config));
  return absl::OkStatus();
}

void FileAuthenticator::Replace(AuthConfig config) {
  auto next = std::make_shared<AuthGeneration>(std::move(config));
  const absl::MutexLock lock(&mutex_);
  generation_.swap(next);
}

std::shared_ptr<AuthGeneration> FileAuthenticator::generation() const {
  const absl::ReaderMutexLock lock(&mutex_);
  return generation_;
}

std::shared_ptr<const AuthConfig> FileAuthenticator::config() const { return generation()->config(); }

absl::StatusOr<std::shared_ptr<const Principal>> FileAuthenticator::Authenticate(
    const Credentials& credentials, absl::Time now, std::string* cause) {
  absl::StatusOr<std::shared_ptr<const Principal>> principal = generation()->Prove(credentials, now);
  if (principal.ok()) return principal;
  if (cause != nullptr) *cause = std::string(principal.status().message());
  return absl::UnauthenticatedError(kBadCredentials);
}

absl::StatusOr<std::shared_ptr<const Principal>> FileAuthenticator::AuthenticateToken(
    std::string_view token_id, std::string_view token_sha256, absl::Time now, std::string* cause) {
  Sha256Digest digest{};
  absl::Status why = absl::InvalidArgumentError("a SHA-256 has 32 bytes");
  if (token_sha256.size() == digest.size()) {
    std::memcpy(digest.data(), token_sha256.data(), digest.size());
    absl::StatusOr<std::shared_ptr<const Principal>> principal =
        generation()->ProveToken(token_id, digest, now);
    if (principal.ok()) return principal;
    why = principal.status();
  }
  if (cause != nullptr) *cause = std::string(why.message());
  return absl::UnauthenticatedError(kBadCredentials);
}

}  // namespace sonde
