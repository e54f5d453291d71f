// Sessions of the web page: a browser that has shown a static token once is known by a secret in its cookie.
//
// Sessions keep the SHA-256 of the secret and of the token alone, and nothing is kept on disk.  A session ends after kLife, at its logout, or
// with the server.  Whether its token still proves somebody is asked with each request (Authenticator::AuthenticateToken).
//
// Threads: all functions may be called at once.
// Source: admin-security-operations.md, 7.5.
#pragma once

#include <cstddef>
#include <cstring>
#include <list>
#include <optional>
#include <string>
#include <string_view>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "identity/proof/digest.h"

namespace sonde {

struct WebSession {
  std::string token_id;
  Sha256Digest token_sha256{};
  absl::Time until;
};

class WebSessions {
 public:
  static constexpr absl::Duration kLife = absl::Hours(12);
  // The session that began first makes room for a new one; of one token, likewise.
  static constexpr size_t kSessionsMax = 10'000;
  static constexpr size_t kSessionsOfATokenMax = 20;
  // Letters, digits, - and _: 256 random bits.
  static constexpr size_t kSecretBytes = 43;

  // Begins a session of this token, which was verified.  Returns the session's secret.  Cost: in proportion to the sessions.
  std::string Begin(std::string_view token_id, const Sha256Digest& token_sha256, absl::Time now);
  // Nothing: there is no such session, or it has ended.
  std::optional<WebSession> Find(std::string_view secret, absl::Time now) const;
  // Ends a session; one that is not there has ended already.
  void End(std::string_view secret);
  size_t size() const;

 private:
  struct Entry {
    Sha256Digest secret_sha256{};
    WebSession session;
  };
  struct DigestHash {
    size_t operator()(const Sha256Digest& digest) const {
      size_t hash;
      std::memcpy(&hash, digest.data(), sizeof(hash));
      return hash;
    }
  };
  using Entries = std::list<Entry>;

  Entries::iterator Drop(Entries::iterator at) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  mutable absl::Mutex mutex_;
  Entries entries_ ABSL_GUARDED_BY(mutex_);  // in the order of their beginnings
  absl::flat_hash_map<Sha256Digest, Entries::iterator, DigestHash> by_secret_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sonde
