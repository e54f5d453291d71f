// Signed tokens that were verified, so that a signature is checked once and not a call.
//
// It knows a token by its SHA-256 and holds kTokenCacheMax; of more, those go that were not used for longest, in the shard of
// the new one.
//
// Threads: all functions may be called at once.
#pragma once

#include <array>
#include <cstddef>
#include <cstring>
#include <list>
#include <memory>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "identity/principal.h"
#include "identity/proof/digest.h"

namespace sonde {

constexpr size_t kTokenCacheMax = 10'000;

class TokenCache {
 public:
  // `tokens_max`: at least kShards.
  explicit TokenCache(size_t tokens_max = kTokenCacheMax) : shard_tokens_max_(tokens_max / kShards) {}

  // Null: the token is not known, or its `until` is past, which also removes it.
  std::shared_ptr<const Principal> Find(const Sha256Digest& token, absl::Time now);
  void Insert(const Sha256Digest& token, std::shared_ptr<const Principal> principal);
  size_t size() const;

  static constexpr size_t kShards = 16;

 private:
  // A part of a digest is as good as any hash.
  struct DigestHash {
    size_t operator()(const Sha256Digest& digest) const {
      size_t hash;
      std::memcpy(&hash, digest.data(), sizeof(hash));
      return hash;
    }
  };
  using Entries = std::list<std::pair<Sha256Digest, std::shared_ptr<const Principal>>>;
  struct Shard {
    mutable absl::Mutex mutex;
    Entries entries ABSL_GUARDED_BY(mutex);  // the one used last is in front
    absl::flat_hash_map<Sha256Digest, Entries::iterator, DigestHash> by_token ABSL_GUARDED_BY(mutex);
  };

  Shard& ShardOf(const Sha256Digest& token) { return shards_[token.back() % kShards]; }

  const size_t shard_tokens_max_;
  std::array<Shard, kShards> shards_;
};

}  // namespace sonde
