#include "identity/check/token_cache.h"

#include <gtest/gtest.h>

#include <string>

namespace sonde {
namespace {

const absl::Time kStart = absl::FromUnixSeconds(1'000'000);

std::shared_ptr<const Principal> UntilSeconds(int seconds) {
  return std::make_shared<const Principal>(
      Principal{.member = "m", .until = kStart + absl::Seconds(seconds)});
}

TEST(TokenCache, HoldsNoMoreThanItsBound) {
  TokenCache cache(160);
  for (int i = 0; i < 5'000; ++i) cache.Insert(Sha256(std::to_string(i)), UntilSeconds(10));
  EXPECT_EQ(cache.size(), 160);
}

TEST(TokenCache, KeepsWhatIsUsed) {
  TokenCache cache(TokenCache::kShards * 2);
  const Sha256Digest used = Sha256("used");
  const auto principal = UntilSeconds(10);
  cache.Insert(used, principal);
  for (int i = 0; i < 5'000; ++i) {
    cache.Insert(Sha256(std::to_string(i)), UntilSeconds(10));
    ASSERT_EQ(cache.Find(used, kStart), principal) << i;
  }
}

TEST(TokenCache, ForgetsWhatIsPast) {
  TokenCache cache;
  cache.Insert(Sha256("a"), UntilSeconds(10));
  EXPECT_NE(cache.Find(Sha256("a"), kStart + absl::Seconds(9)), nullptr);
  EXPECT_EQ(cache.Find(Sha256("b"), kStart), nullptr);
  EXPECT_EQ(cache.Find(Sha256("a"), kStart + absl::Seconds(10)), nullptr);
  EXPECT_EQ(cache.size(), 0);
}

}  // namespace
}  // namespace sonde
