// What an entity of a series is known by in memory: 128 bits of its text, keyed with a secret of this process.
//
// A hash that two entities shared would let the second one pass for known, and hide its points.  64 bits are too few for
// that among millions, and without the secret, a sender could look for such texts.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/hash.h"
#include "base/random.h"

namespace sonde::series {

struct EntityHash {
  uint64_t high = 0;
  uint64_t low = 0;

  bool operator==(const EntityHash&) const = default;
  template <typename H>
  friend H AbslHashValue(H state, const EntityHash& hash) {
    return H::combine(std::move(state), hash.low);
  }
};

class EntityHasher {
 public:
  EntityHasher() {
    SystemRandom random;
    for (uint64_t& word : secret_) word = random.Next();
  }
  EntityHash Of(std::string_view text) const {
    const XXH128_hash_t hash =
        XXH3_128bits_withSecret(text.data(), text.size(), secret_.data(), sizeof(secret_));
    return {hash.high64, hash.low64};
  }

 private:
  static_assert(XXH3_SECRET_SIZE_MIN <= 192);
  std::array<uint64_t, 192 / sizeof(uint64_t)> secret_ = {};
};

}  // namespace sonde::series
