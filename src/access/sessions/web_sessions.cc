#include "access/sessions/web_sessions.h"

#include <algorithm>
#include <utility>

#include "identity/proof/base64_text.h"

namespace sonde {
namespace {

constexpr size_t kRandomBytes = 32;

}  // namespace

WebSessions::Entries::iterator WebSessions::Drop(Entries::iterator at) {
  by_secret_.erase(at->secret_sha256);
  return entries_.erase(at);
}

std::string WebSessions::Begin(std::string_view token_id, const Sha256Digest& token_sha256, absl::Time now) {
  std::string secret = Base64UrlOf(RandomBytes(kRandomBytes));
  Entry entry{
      .secret_sha256 = Sha256(secret),
      .session = {.token_id = std::string(token_id), .token_sha256 = token_sha256, .until = now + kLife}};
  const absl::MutexLock lock(&mutex_);
  size_t of_this_token = 0;
  for (auto at = entries_.begin(); at != entries_.end();) {
    if (at->session.until <= now) {
      at = Drop(at);
      continue;
    }
    of_this_token += at->session.token_id == token_id ? 1 : 0;
    ++at;
  }
  if (of_this_token >= kSessionsOfATokenMax) {
    Drop(std::find_if(entries_.begin(), entries_.end(),
                      [&](const Entry& one) { return one.session.token_id == token_id; }));
  } else if (entries_.size() >= kSessionsMax) {
    Drop(entries_.begin());
  }
  entries_.push_back(std::move(entry));
  by_secret_[entries_.back().secret_sha256] = std::prev(entries_.end());
  return secret;
}

std::optional<WebSession> WebSessions::Find(std::string_view secret, absl::Time now) const {
  if (secret.size() != kSecretBytes) return std::nullopt;
  const Sha256Digest digest = Sha256(secret);
  const absl::MutexLock lock(&mutex_);
  const auto found = by_secret_.find(digest);
  if (found == by_secret_.end() || found->second->session.until <= now) return std::nullopt;
  return found->second->session;
}

void WebSessions::End(std::string_view secret) {
  const Sha256Digest digest = Sha256(secret);
  const absl::MutexLock lock(&mutex_);
  if (const auto found = by_secret_.find(digest); found != by_secret_.end()) Drop(found->second);
}

size_t WebSessions::size() const {
  const absl::MutexLock lock(&mutex_);
  return entries_.size();
}

}  // namespace sonde
